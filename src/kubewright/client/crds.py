"""Installing CustomResourceDefinitions, and waiting until they really serve.

Owns the order of things: look at what is there, apply, wait. It does not write CRDs (`kubewright.schema` does), and
never removes one: with a CRD go all its objects.

"Established" is not the end of it. For about a second the server answers the collection of a new resource with 404, or
with 429 "storage is (re)initializing"; so the wait goes on until a list of each served version succeeds.

| found                                                             | then                                             |
|-------------------------------------------------------------------|--------------------------------------------------|
| no CRD of this name                                               | applied                                          |
| the same content                                                  | applied, which writes nothing                    |
| objects may be stored in a version that the new one does not have | `CrdConflict`, before anything is sent           |
| another scope, or kind                                            | `CrdConflict`, before anything is sent           |
| another storage version, the old one still there                  | a warning to the log, applied                    |
| versions that are served now and would not be any more            | a warning to the log, applied                    |
| one that is being deleted                                         | waited for                                       |
| another CRD of the group has one of its names                     | applied (the server finds out), `CrdConflict`    |
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model import Unstructured, from_dict, unstructured
from .discovery import KindNotServed
from .errors import ServiceUnavailable, TooManyRequests
from .paths import InvalidRequest

if TYPE_CHECKING:
    from .client import Client

__all__ = ["CrdConflict", "CrdNotReady", "CustomResourceDefinition", "install_crds"]

_LOG = logging.getLogger(__name__)

CustomResourceDefinition: type[Unstructured] = unstructured(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", plural="customresourcedefinitions", namespaced=False
)

_FIRST_PAUSE_SECONDS = 0.02
_MAX_PAUSE_SECONDS = 0.25


class CrdConflict(Exception):
    """A CRD cannot be installed beside what the server has. Attributes: `name`, `rule`, `cure`."""

    def __init__(self, name: str, rule: str, cure: str) -> None:
        super().__init__(name, rule, cure)
        self.name, self.rule, self.cure = name, rule, cure

    def __str__(self) -> str:
        return f"CRD {self.name}: {self.rule}; {self.cure}"


class CrdNotReady(Exception):
    """A CRD was applied and does not serve in time. Attributes: `name`, `timeout_seconds`, `last`: what was seen."""

    def __init__(self, name: str, timeout_seconds: float, last: str) -> None:
        super().__init__(name, timeout_seconds, last)
        self.name, self.timeout_seconds, self.last = name, timeout_seconds, last

    def __str__(self) -> str:
        return (
            f"CRD {self.name}: not ready within {self.timeout_seconds:g} s ({self.last}); is the API server overloaded?"
        )


async def install_crds(
    client: Client,
    crds: Sequence[Mapping[str, Any]],
    *,
    field_manager: str = "kubewright-crds",
    timeout_seconds: float = 30.0,
) -> None:
    """Apply CRDs and wait until each of their served versions answers a list.

    Args:
        crds: decoded `apiextensions.k8s.io/v1` manifests; they are not changed.
        field_manager: owns what is in them; fields that others own are taken over.
        timeout_seconds: for everything together.

    Cancellation: what has been applied stays.

    Raises:
        InvalidRequest: one of `crds` is not a CustomResourceDefinition; nothing was sent.
        CrdConflict: see the module; the CRDs before it in the sequence may have been applied.
        CrdNotReady: applied, and not serving yet.
        Invalid: the server refuses the CRD; `causes` has a line per field.
        ApiError, TransportError.
    """
    wanted = [_parsed(crd) for crd in crds]
    waits = {crd.metadata.name: "not applied yet" for crd in wanted}
    try:
        async with asyncio.timeout(timeout_seconds):
            all_applied = []
            for crd in wanted:
                found = await _found(client, crd.metadata.name, waits)
                if found is not None:
                    _compare(found, crd)
                applied = await client.apply(crd, field_manager=field_manager, force=True)
                _LOG.info("CRD %s: %s", crd.metadata.name, _difference(found, applied))
                all_applied.append(applied)
                waits[crd.metadata.name] = "not Established yet"
            # One after the other: the first to be waited for is mostly the last to need it.
            for applied in all_applied:
                await _until_serving(client, applied, waits)
    except TimeoutError:
        name, last = next(iter(waits.items()))
        raise CrdNotReady(name, timeout_seconds, last) from None
    finally:
        client.discovery.forget()


def _parsed(crd: Mapping[str, Any]) -> Unstructured:
    kind, version = crd.get("kind"), crd.get("apiVersion")
    if (version, kind) != ("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
        rule = "is not CustomResourceDefinition in apiextensions.k8s.io/v1"
        raise InvalidRequest("kind", f"{kind} in {version}", rule, "pass decoded CRD manifests")
    parsed = from_dict(CustomResourceDefinition, copy.deepcopy(dict(crd)))
    if not parsed.metadata.name:
        raise InvalidRequest("metadata.name", "", "is empty", "it is <plural>.<group>")
    return parsed


def _versions(crd: Unstructured) -> dict[str, Mapping[str, Any]]:
    return {version.get("name", ""): version for version in crd.get("spec", "versions", default=None) or []}


def _compare(found: Unstructured, wanted: Unstructured) -> None:
    """Raise CrdConflict where the server would refuse or objects could no longer be read; log what others may miss."""
    name = wanted.metadata.name
    for path in (("spec", "scope"), ("spec", "names", "kind")):
        old, new = found.get(*path), wanted.get(*path)
        if old != new:
            rule = f"{'.'.join(path)} is {old!r} on the server and {new!r} here, and cannot be changed"
            cure = f"use another group or kind, or delete the CRD with all its objects: kubectl delete crd {name}"
            raise CrdConflict(name, rule, cure)
    before, after = _versions(found), _versions(wanted)
    stored = found.get("status", "storedVersions", default=None) or []
    lost = [version for version in stored if version not in after]
    if lost:
        rule = (
            f"objects may be stored in {', '.join(lost)}, and only {', '.join(after) or 'no version'} is defined here"
        )
        cure = (
            f"keep {', '.join(lost)} in spec.versions (served: false will do), or migrate the objects and take it out "
            "of status.storedVersions; a newer operator may have installed this CRD"
        )
        raise CrdConflict(name, rule, cure)
    storage_before = next((version for version, said in before.items() if said.get("storage")), None)
    storage_after = next((version for version, said in after.items() if said.get("storage")), None)
    if storage_before != storage_after:
        text = "CRD %s: the storage version changes from %s to %s; objects are converted as they are written"
        _LOG.warning(text, name, storage_before, storage_after)
    gone = [v for v, said in before.items() if said.get("served") and not after.get(v, {}).get("served")]
    if gone:
        _LOG.warning("CRD %s: %s will no longer be served; clients that use it fail", name, ", ".join(gone))


def _difference(found: Unstructured | None, applied: Unstructured) -> str:
    if found is None:
        return "created"
    before, after = found.metadata, applied.metadata
    said = [(meta.generation, meta.labels, meta.annotations) for meta in (before, after)]
    return "unchanged" if said[0] == said[1] else "changed"


async def _found(client: Client, name: str, waits: dict[str, str]) -> Unstructured | None:
    """The CRD as it is; one that is being deleted is waited for, as whatever is applied to it goes with it."""
    while True:
        found = await client.find(CustomResourceDefinition, name)
        if found is None or found.metadata.deletion_timestamp is None:
            return found
        waits[name] = "an older one is still being deleted"
        await asyncio.sleep(_MAX_PAUSE_SECONDS)


async def _until_serving(client: Client, crd: Unstructured, waits: dict[str, str]) -> None:
    name = crd.metadata.name
    pause = _FIRST_PAUSE_SECONDS
    while not _established(crd):
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _MAX_PAUSE_SECONDS)
        crd = await client.get(CustomResourceDefinition, name)
    group, names = crd.get("spec", "group"), crd.get("spec", "names")
    served = [version for version, said in _versions(crd).items() if said.get("served")]
    for version in served:
        collection = unstructured(f"{group}/{version}", names["kind"], plural=names["plural"])
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                await client.list(collection, limit=1)
                break
            except (KindNotServed, TooManyRequests, ServiceUnavailable) as error:
                waits[name] = str(error)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _MAX_PAUSE_SECONDS)
    del waits[name]


def _established(crd: Unstructured) -> bool:
    """Raises CrdConflict: its names are taken."""
    conditions = {each.get("type"): each for each in crd.get("status", "conditions", default=None) or []}
    names = conditions.get("NamesAccepted", {})
    if names.get("status") == "False":
        rule = f"its names are not accepted: {names.get('message') or names.get('reason')}"
        raise CrdConflict(crd.metadata.name, rule, "choose another kind, plural or short name, or delete the other CRD")
    return bool(conditions.get("Established", {}).get("status") == "True")
