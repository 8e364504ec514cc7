"""The roles and bindings that every cluster has from its start: `bootstrap.json`, recorded from a server (`make`).

Owns that they are there without a new server having to wait for them: their revisions are taken at once, the objects
are made when somebody first looks at one of the four kinds. A store that is kept (a journal, an earlier run) gets what
it lacks, as at the start of a real server (`reconciling`). Rules:
`kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy`.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson

from ..store import Objects, Store
from .rbac import GROUP

__all__ = ["BOOTSTRAP_PATH", "add_bootstrap_roles"]

BOOTSTRAP_PATH: Final = Path(__file__).with_name("bootstrap.json")
_COUNTS: Final = {"clusterroles": 73, "clusterrolebindings": 54, "roles": 7, "rolebindings": 7}
"""How many there are of each, so that the file is read when somebody asks."""


@lru_cache(maxsize=1)
def _recorded() -> dict[str, list[dict[str, Any]]]:
    """The objects by resource, each in the order of its keys. Shared: not to be changed."""
    found: dict[str, list[dict[str, Any]]] = orjson.loads(BOOTSTRAP_PATH.read_bytes())
    return found


def add_bootstrap_roles(store: Store, *, created: str, seed: int | None, are_aggregated: bool = False) -> None:
    """Put the roles and bindings of a new cluster into a store.

    Args:
        created: when, as metadata has it.
        seed: of their uids; None for real randomness.
        are_aggregated: aggregated roles have their rules, as if a controller manager had looked after them.
    """
    if store.journal is not None or any(f"{GROUP}/{plural}" in store.resources for plural in _COUNTS):
        for resource, key, obj in _all(created, seed, are_aggregated):
            _put(store, resource, key, obj)
        return
    for plural, count in _COUNTS.items():
        store.provide(f"{GROUP}/{plural}", count, _maker(plural, created, seed, are_aggregated))


def _put(store: Store, resource: str, key: str, obj: dict[str, Any]) -> None:
    """Let an object be in a store, with all that it has to have."""
    from .reconciling import reconciled  # only for what was kept

    found = store.get(resource, key)
    if found is not None and found.object.get("roleRef") != obj.get("roleRef"):
        store.delete(resource, key, found)
        found = None
    if found is None:
        store.create(resource, key, obj)
    elif (changed := reconciled(found.object, obj)) is not None:
        store.update(resource, key, changed, found)


def _maker(plural: str, created: str, seed: int | None, are_aggregated: bool) -> Objects:
    def made() -> Iterator[tuple[str, dict[str, Any]]]:
        return ((key, obj) for resource, key, obj in _of(plural, created, seed, are_aggregated))

    return made


def _all(created: str, seed: int | None, are_aggregated: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for plural in _COUNTS:
        yield from _of(plural, created, seed, are_aggregated)


def _of(plural: str, created: str, seed: int | None, are_aggregated: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    chance = random.Random(None if seed is None else f"{seed}/{plural}")  # noqa: S311 - uids, not secrets
    for obj in _filled_in() if are_aggregated and plural == "clusterroles" else _recorded()[plural]:
        meta: dict[str, Any] = obj["metadata"]
        new = {**meta, "uid": str(uuid.UUID(int=chance.getrandbits(128), version=4)), "creationTimestamp": created}
        new["managedFields"] = [{**each, "time": created} for each in meta["managedFields"]]
        key = f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else meta["name"]
        yield f"{GROUP}/{plural}", key, {**obj, "metadata": new}


@lru_cache(maxsize=1)
def _filled_in() -> list[dict[str, Any]]:
    """The ClusterRoles, those that are aggregated with their rules. `admin` has those of `edit`, and so on."""
    from .aggregation import MANAGER, aggregated

    roles = list(_recorded()["clusterroles"])
    entry: dict[str, Any] = {"manager": MANAGER, "operation": "Apply", "apiVersion": f"{GROUP}/v1"}
    entry |= {"fieldsType": "FieldsV1", "fieldsV1": {"f:rules": {}}}
    before: list[dict[str, Any]] = []
    while roles != before:
        before = list(roles)
        for place, role in enumerate(before):
            rules = aggregated(role, before)
            if rules is not None:
                managers = _recorded()["clusterroles"][place]["metadata"]["managedFields"]
                meta = {**role["metadata"], "managedFields": [entry, *managers]}
                roles[place] = {**role, "metadata": meta, "rules": rules}
    return roles
