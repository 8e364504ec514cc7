"""Discovery, OpenAPI, version and health of the embedded server."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from kubewright.apiserver import ApiServer, Request, Response, new_server

AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
SCHEMA = {
    "type": "object",
    "description": "A thing.",
    "properties": {"spec": {"type": "object", "properties": {"port": {"x-kubernetes-int-or-string": True}}}},
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {"status": {}},
            }
        ],
    },
}


def ask(server: ApiServer, method: str, target: str, **options: Any) -> Response:
    answer = asyncio.run(server.handle(Request.of(method, target, **options)))
    assert isinstance(answer, Response)
    return answer


def get(server: ApiServer, target: str, **options: Any) -> Any:
    answer = ask(server, "GET", target, **options)
    assert answer.status == 200, answer.body
    return answer.json


@pytest.fixture
def server() -> ApiServer:
    made = new_server(seed=1)
    assert ask(made, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=CRD).status == 201
    return made


def test_both_forms_of_discovery_tell_the_same(server: ApiServer) -> None:
    for root in ("/api", "/apis"):
        for group in get(server, root, headers=AGGREGATED)["items"]:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                path = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
                listed = {each["name"]: each for each in get(server, path)["resources"]}
                told = {each["resource"]: each for each in version["resources"]}
                for plural, each in told.items():
                    parts = {f"{plural}/{part['subresource']}": part for part in each.get("subresources", ())}
                    assert each["verbs"] == listed[plural]["verbs"]
                    assert {known for known in listed if known.startswith(f"{plural}/")} == set(parts)


def test_a_new_definition_is_discovered_at_once_behind_the_built_in_groups(server: ApiServer) -> None:
    items = get(server, "/apis", headers=AGGREGATED)["items"]
    assert items[-1]["metadata"]["name"] == "example.com"
    assert items[-1]["versions"][0]["resources"][0]["shortNames"] == ["th"]
    deleted = ask(server, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com")
    assert deleted.status == 200
    items = get(server, "/apis", headers=AGGREGATED)["items"]
    assert "example.com" not in [each["metadata"]["name"] for each in items]


def test_who_has_the_document_is_told_so(server: ApiServer) -> None:
    answer = ask(server, "GET", "/apis", headers=AGGREGATED)
    tag = dict(answer.headers)["etag"]
    assert ask(server, "GET", "/apis", headers={**AGGREGATED, "If-None-Match": tag}).status == 304


def test_every_document_of_the_index_is_there_and_its_references_too(server: ApiServer) -> None:
    for entry in get(server, "/openapi/v3")["paths"].values():
        document = get(server, entry["serverRelativeURL"])
        schemas = document["components"]["schemas"]
        for name in _references(document):
            assert name in schemas, (entry, name)
        operations = [each for path in document["paths"].values() for each in path.values() if isinstance(each, dict)]
        names = [each["operationId"] for each in operations]
        assert len(names) == len(set(names))


def test_the_document_of_a_custom_kind_has_its_schema_and_its_kind(server: ApiServer) -> None:
    schemas = get(server, "/openapi/v3/apis/example.com/v1")["components"]["schemas"]
    thing = schemas["com.example.v1.Thing"]
    assert thing["description"] == "A thing."
    assert thing["x-kubernetes-group-version-kind"] == [{"group": "example.com", "kind": "Thing", "version": "v1"}]
    assert thing["properties"]["spec"]["properties"]["port"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert list(thing["properties"]["metadata"]["allOf"][0]) == ["$ref"]


@pytest.mark.parametrize(
    ("document", "path", "kind"),
    [
        ("apis/apps/v1", "deployments/{name}/scale", ("autoscaling", "v1", "Scale")),
        ("apis/apps/v1", "deployments/{name}/status", ("apps", "v1", "Deployment")),
        ("api/v1", "pods/{name}/eviction", ("policy", "v1", "Eviction")),
        ("api/v1", "serviceaccounts/{name}/token", ("authentication.k8s.io", "v1", "TokenRequest")),
    ],
)
def test_an_operation_names_the_kind_of_what_is_there(
    document: str, path: str, kind: tuple[str, str, str], server: ApiServer
) -> None:
    item = get(server, f"/openapi/v3/{document}")["paths"][f"/{document}/namespaces/{{namespace}}/{path}"]
    for operation in (each for each in item.values() if isinstance(each, dict)):
        gvk = operation["x-kubernetes-group-version-kind"]
        assert (gvk["group"], gvk["version"], gvk["kind"]) == kind


def test_a_document_has_another_address_when_its_definition_has_changed(server: ApiServer) -> None:
    def address() -> str:
        return str(get(server, "/openapi/v3")["paths"]["apis/example.com/v1"]["serverRelativeURL"])

    before = address()
    assert address() == before
    target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com"
    patch = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/description", "value": "Another."}]
    headers = {"Content-Type": "application/json-patch+json"}

    assert ask(server, "PATCH", target, headers=headers, body=orjson.dumps(patch)).status == 200
    assert address() != before


def test_openapi_v2_has_all_that_is_served_and_follows_definitions(server: ApiServer) -> None:
    document = get(server, "/openapi/v2")
    path = "/apis/example.com/v1/namespaces/{namespace}/things/{name}"
    assert document["swagger"] == "2.0"
    assert "application/apply-patch+yaml" in document["paths"][path]["patch"]["consumes"]
    assert {"fieldValidation", "body"} <= {each["name"] for each in document["paths"][path]["patch"]["parameters"]}
    assert _references(document) <= set(document["definitions"])
    thing = document["definitions"]["com.example.v1.Thing"]["properties"]
    assert "anyOf" not in thing["spec"]["properties"]["port"]
    assert thing["metadata"]["$ref"] == "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com"
    assert ask(server, "DELETE", target).status == 200
    assert path not in get(server, "/openapi/v2")["paths"]


def test_openapi_v2_in_protobuf_has_nothing_in_it(server: ApiServer) -> None:
    kind = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    answer = ask(server, "GET", "/openapi/v2", headers={"Accept": kind})
    assert (answer.status, answer.body) == (200, b"")


def test_health_and_version_are_answered(server: ApiServer) -> None:
    for path in ("/healthz", "/livez", "/readyz", "/readyz/ping"):
        assert ask(server, "GET", path).body == b"ok"
    assert b"[+]ping ok" in ask(server, "GET", "/readyz?verbose").body
    assert get(server, "/version")["minor"] == "37"
    assert "/apis/example.com/v1" in get(server, "/")["paths"]


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"].rpartition("/")[2]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(_references, value.values()))
    return set().union(*map(_references, value)) if isinstance(value, list) else set()
