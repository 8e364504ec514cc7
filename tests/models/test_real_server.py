"""The built-in kinds beside the server that they were made of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

import kubewright.models
from kubewright.generate import load_documents
from kubewright.generate.built_in import generate_built_in
from kubewright.model import GroupVersionKind, Object, decode, encode, info_of
from kubewright.models import built_in_kinds, resolve
from kubewright.testing.access import ClusterAccess
from kubewright.testing.rest import Rest

pytestmark = pytest.mark.control_plane

OBJECTS = Path(__file__).with_name("testdata") / "objects.yaml"


@pytest.fixture
def rest(control_plane: ClusterAccess) -> Iterator[Rest]:
    with contextlib.closing(control_plane.rest()) as client:
        yield client


def the_class(gvk: GroupVersionKind) -> type[Object]:
    found = resolve(gvk)
    assert found is not None
    return found


def test_the_modules_in_the_repository_are_what_the_server_gives(rest: Rest) -> None:
    version = rest.get("/version")["gitVersion"]
    if not version.startswith("v1.37."):
        pytest.skip(f"the models are those of Kubernetes 1.37, and the server is {version}")

    def fetch(path: str) -> bytes:
        found = rest.get(path)
        if path == "/openapi/v3":
            # Those of other tests come and go.
            found["paths"] = {name: each for name, each in found["paths"].items() if "example.com" not in name}
        return orjson.dumps(found)

    documents = load_documents("https://server", fetch=fetch)
    folder = Path(kubewright.models.__file__).parent
    differing = [
        name
        for name, text in generate_built_in(documents).items()
        if (folder / name).read_text(encoding="utf-8") != text
    ]
    assert differing == [], "make them again: see kubewright.models"


def write_back_changes_nothing(rest: Rest, live: dict[str, Any], gvk: GroupVersionKind) -> None:
    """Read `live` into its class and write it back, as a dry run that refuses unknown fields."""
    cls = the_class(gvk)
    info, meta = info_of(cls), live["metadata"]
    namespace = f"/namespaces/{meta['namespace']}" if info.namespaced else ""
    path = f"{info.gvr.base_path}{namespace}/{info.plural}/{meta['name']}?dryRun=All&fieldValidation=Strict"
    back = rest.request("PUT", path, orjson.loads(encode(decode(cls, orjson.dumps(live)))))
    assert back["metadata"]["resourceVersion"] == meta["resourceVersion"]
    assert back["metadata"].get("generation") == meta.get("generation")


OBJECT_DOCUMENTS = list(yaml.safe_load_all(OBJECTS.read_text()))


@pytest.mark.parametrize("manifest", OBJECT_DOCUMENTS, ids=[each["kind"] for each in OBJECT_DOCUMENTS])
def test_a_created_object_written_back_is_no_change(rest: Rest, namespace: str, manifest: dict[str, Any]) -> None:
    gvk = GroupVersionKind.of(manifest["apiVersion"], manifest["kind"])
    info = info_of(the_class(gvk))
    body = orjson.loads(encode(decode(the_class(gvk), orjson.dumps(manifest))))
    path = f"{info.gvr.base_path}/namespaces/{namespace}/{info.plural}?fieldValidation=Strict"
    write_back_changes_nothing(rest, rest.request("POST", path, body), gvk)


@pytest.mark.parametrize("kind", ["FlowSchema", "PriorityLevelConfiguration", "ClusterRole", "ClusterRoleBinding"])
def test_an_object_of_the_server_itself_written_back_is_no_change(rest: Rest, kind: str) -> None:
    (gvk,) = [each for each in built_in_kinds() if each.kind == kind]
    info = info_of(the_class(gvk))
    items = rest.get(f"{info.gvr.base_path}/{info.plural}")["items"]
    assert items
    for live in items[:5]:
        write_back_changes_nothing(rest, live, gvk)
