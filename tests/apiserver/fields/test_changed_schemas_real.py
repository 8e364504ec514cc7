"""A list or map that becomes atomic or granular while managers own it: the embedded server follows as the real one."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from fidelity.doors import Door, RealDoor
from fidelity.embedded import EmbeddedDoor

from kubewright.testing import ClusterAccess

from .applying import CRD, comparable
from .test_apply_real import DEFINITIONS, ask, prepared

GROUP = "changed.example.com"


def _crd(*, is_atomic: bool) -> dict[str, Any]:
    crd = copy.deepcopy(CRD)
    crd["metadata"]["name"] = f"widgets.{GROUP}"
    crd["spec"]["group"] = GROUP
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    if is_atomic:
        spec["map"]["x-kubernetes-map-type"] = "atomic"
        spec["set"]["x-kubernetes-list-type"] = "atomic"
        del spec["byName"]["x-kubernetes-list-type"], spec["byName"]["x-kubernetes-list-map-keys"]
    return crd


def _spec(value: str, **more: Any) -> dict[str, Any]:
    return {"map": {"a": value}, "set": [value], "byName": [{"name": value, "kind": "A"}], **more}


async def _answers(door: Door, *, is_atomic_first: bool) -> list[Any]:
    found = []
    path = f"/apis/{GROUP}/v1/namespaces/default/widgets/x"

    async def write(how: str, manager: str, spec: dict[str, Any]) -> None:
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": spec}
        kind = "apply-patch+yaml" if how.startswith("apply") else "merge-patch+json"
        force = "&force=true" if how == "apply!" else ""
        answer = await ask(door, "PATCH", f"{path}?fieldManager={manager}{force}", body, f"application/{kind}")
        found.append(comparable(answer.status, answer.body, "none"))

    await prepared(door, _crd(is_atomic=is_atomic_first))
    try:
        await write("apply", "alice", _spec("1"))
        await write("apply", "bob", {"map": {"b": "1"}, "text": "x"})
        await write("apply!", "bob", {**_spec("1"), "map": {"b": "1"}})
        await write("merge", "carol", {"map": {"c": "1"}})
        await _change(door, is_atomic=not is_atomic_first)
        await write("merge", "carol", {"text": "y"})
        await write("apply", "bob", {"map": {"b": "2"}})
        await write("apply!", "alice", _spec("2", text="z"))
        await write("apply!", "bob", {"set": ["3"]})
        await _change(door, is_atomic=is_atomic_first)
        await write("apply", "alice", _spec("2"))
        await write("apply!", "carol", {"map": {"c": "3"}})
    finally:
        await _removed(door)
    return found


async def _removed(door: Door) -> None:
    """Delete the definition, and wait until it is gone: the next one has its name."""
    await ask(door, "DELETE", f"{DEFINITIONS}/widgets.{GROUP}", None)
    for _ in range(200):
        if (await ask(door, "GET", f"{DEFINITIONS}/widgets.{GROUP}", None)).status == 404:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the definition is still there")


async def _change(door: Door, *, is_atomic: bool) -> None:
    """Change the schema, and wait until an apply is read by it: of an atomic set duplicates are allowed."""
    schema = _crd(is_atomic=is_atomic)["spec"]
    answer = await ask(
        door, "PATCH", f"{DEFINITIONS}/widgets.{GROUP}", {"spec": schema}, "application/merge-patch+json"
    )
    assert answer.status == 200
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "y"}, "spec": {"set": ["a", "a"]}}
    path = f"/apis/{GROUP}/v1/namespaces/default/widgets/y?fieldManager=probe&dryRun=All"
    for _ in range(200):
        tried = await ask(door, "PATCH", path, body, "application/apply-patch+yaml")
        if (tried.status == 201) == is_atomic:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the schema has not changed")


@pytest.mark.control_plane
@pytest.mark.parametrize("is_atomic_first", [False, True])
def test_owners_follow_a_schema_that_changes_as_on_the_real_server(
    control_plane: ClusterAccess, is_atomic_first: bool
) -> None:
    async def main() -> None:
        real, ours = RealDoor(control_plane), EmbeddedDoor()
        try:
            expected = await _answers(real, is_atomic_first=is_atomic_first)
            assert await _answers(ours, is_atomic_first=is_atomic_first) == expected
        finally:
            await real.close()

    asyncio.run(main())
