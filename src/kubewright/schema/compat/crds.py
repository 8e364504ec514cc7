"""Two states of a CRD, or of folders of them: what an upgrade breaks.

CRDs belong together by their names. A version is compared with the version of the same name: that is what a client
asked for and gets. `served` and `storage` decide who notices that one is gone: clients of a served version, and the
objects that are stored in one that stores (or is still in `status.storedVersions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..checking.sources import read_sources
from ..structural.crdcheck import with_defaults
from ..structural.crdshape import shape_of, without_nulls
from ..structural.values import TooDeep, json_value, same
from .changes import APPLIERS, CLIENTS, READERS, STORED, WRITERS, Change, DiffReport
from .schemas import Site, compare_schemas

__all__ = ["DiffError", "diff", "diff_crds", "diff_files", "read_crds"]

Crd = Mapping[str, Any]

_API: Final = "apiextensions.k8s.io/v1"


class DiffError(ValueError):
    """What was given cannot be compared. The text has the file, the rule and the cure."""


def diff(old: Crd, new: Crd) -> DiffReport:
    """The changes from one state of a CRD to the next. Both are apiextensions.k8s.io/v1, as dictionaries.

    Raises:
        DiffError: one has not the shape of a CRD.
    """
    return DiffReport.of(_compare(_read(old), _read(new)))


def _read(crd: Crd) -> Crd:
    try:
        whole = json_value(dict(crd))
    except (TooDeep, TypeError) as error:
        raise DiffError(f"{_name(crd)}: {error}") from None
    broken = shape_of(whole).broken
    if broken:
        raise DiffError(f"{_name(crd)}: {broken[0]}; see: kubewright validate")
    made = with_defaults(without_nulls(whole))
    if not made.get("spec"):
        raise DiffError(f"{_name(crd)}: has no spec; see: kubewright validate")
    return made


def diff_crds(old: Iterable[Crd], new: Iterable[Crd]) -> DiffReport:
    """The changes of several CRDs. If there is one on each side, they are compared whatever their names."""
    before, after = list(old), list(new)
    if len(before) == len(after) == 1:
        return diff(before[0], after[0])
    changes: list[Change] = []
    known = {_name(crd): crd for crd in after}
    for crd in before:
        name = _name(crd)
        if name in known:
            changes += diff(crd, known[name]).changes
        else:
            how = "deleting a CRD deletes all objects of its kind, and requests for it are answered with 404"
            changes.append(Change(name, "crd-removed", "was removed", True, f"{CLIENTS}, {STORED}", how))
    names = {_name(crd) for crd in before}
    changes += [Change(_name(crd), "crd-added", "was added", False) for crd in after if _name(crd) not in names]
    return DiffReport.of(changes)


def diff_files(old: str | Path, new: str | Path) -> DiffReport:
    """The changes from the CRDs in one file or folder to those in another. Other objects in them do not matter.

    Raises:
        DiffError: something is not readable, there is no CRD, or one is not apiextensions.k8s.io/v1.
        OSError: a path is not there.
    """
    return diff_crds(read_crds(old), read_crds(new))


def read_crds(path: str | Path) -> list[Crd]:
    sources = read_sources([path])
    for problem in sources.problems:
        raise DiffError(f"{problem.file}:{problem.line}: {problem.rule}")
    found = [source for source in sources.objects if source.is_crd]
    for source in found:
        if source.value["apiVersion"] != _API:
            raise DiffError(
                f"{source.file}:{source.line_of('apiVersion')}: apiVersion is {source.value['apiVersion']!r} and has to"
                f" be {_API}; run: kubewright convert crd {source.file}"
            )
    if not found:
        raise DiffError(f"{path}: has no CustomResourceDefinition")
    return [source.value for source in found]


def _name(crd: Crd) -> str:
    metadata = crd.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


# -- one CRD ----------------------------------------------------------------------------------------------------------


def _compare(old: Crd, new: Crd) -> Iterator[Change]:
    name = _name(old)
    before, after = old["spec"], new["spec"]
    yield from _identity(name, _name(new), before, after)
    yield from _names(name, before.get("names") or {}, after.get("names") or {})
    status = old.get("status")
    versions = status.get("storedVersions") if isinstance(status, dict) else None
    stored = set(map(str, versions)) if isinstance(versions, list) else set()
    yield from _versions(name, before, after, stored)
    yield from _conversion(name, before.get("conversion") or {}, after.get("conversion") or {})


def _identity(name: str, other: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    if name != other:
        how = "it is another API: the old objects stay behind, and clients do not find the new ones"
        yield Change(name, "name-changed", f"became {other}", True, f"{CLIENTS}, {STORED}", how, old=name, new=other)
    for field in ("group", "scope"):
        if before.get(field) != after.get(field):
            what = f"{field} {before.get(field)} became {after.get(field)}"
            how = "the server refuses the change; paths of all objects would be others"
            yield Change(
                name, f"{field}-changed", what, True, CLIENTS, how, old=before.get(field), new=after.get(field)
            )
    if before.get("preserveUnknownFields") and not after.get("preserveUnknownFields"):
        how = "fields that no schema names are dropped on the next write"
        what = "unknown fields are no longer kept"
        yield Change(name, "unknown-fields-pruned", what, True, f"{WRITERS}, {STORED}", how)


def _names(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    said = {
        "kind": (CLIENTS, "objects with the old kind are refused; the server refuses the change as well"),
        "listKind": (CLIENTS, "typed clients do not recognise the answer to a list"),
        "plural": (CLIENTS, "paths of all objects are others; the server refuses the change"),
        "singular": ("people and scripts with kubectl", "the old name is not found"),
    }
    for field, (who, how) in said.items():
        old, new = before.get(field), after.get(field)
        if old != new:
            what = f"{field} {old} became {new}"
            yield Change(name, f"{field}-changed", what, True, who, how, old=old, new=new)
    for field, rule in (("shortNames", "short-name"), ("categories", "category")):
        old_names, new_names = list(before.get(field) or []), list(after.get(field) or [])
        for each in old_names:
            if each not in new_names:
                who, how = "people and scripts with kubectl", f"`kubectl get {each}` does not find them"
                yield Change(name, f"{rule}-removed", f"{rule} {each} was removed", True, who, how, old=each)
        for each in new_names:
            if each not in old_names:
                yield Change(name, f"{rule}-added", f"{rule} {each} was added", False, new=each)


# -- versions ---------------------------------------------------------------------------------------------------------


def _versions(name: str, before: Mapping[str, Any], after: Mapping[str, Any], stored: set[str]) -> Iterator[Change]:
    old = {str(each.get("name", "")): each for each in before.get("versions") or []}
    new = {str(each.get("name", "")): each for each in after.get("versions") or []}
    for version, each in old.items():
        if version in new:
            yield from _version(name, version, each, new[version])
        else:
            yield from _removed(name, version, each, version in stored)
    for version in new:
        if version not in old:
            yield Change(name, "version-added", "was added", False, version=version)
    storing = [next((v for v, each in versions.items() if each.get("storage")), "") for versions in (old, new)]
    if storing[0] != storing[1] and storing[0] in new:
        what = f"storage version {storing[0]} became {storing[1]}"
        yield Change(name, "storage-version-changed", what, False, old=storing[0], new=storing[1])


def _removed(name: str, version: str, each: Mapping[str, Any], is_stored: bool) -> Iterator[Change]:
    if each.get("storage") or is_stored:
        how = (
            "cannot be read any more; the server refuses the change until they are rewritten and the version is out of"
            " status.storedVersions"
        )
        what = "was removed while objects are stored in it"
        yield Change(name, "stored-version-removed", what, True, STORED, how, version)
    if each.get("served", True):
        how = "requests for it are answered with 404, and manifests of it are refused"
        yield Change(name, "served-version-removed", "was removed", True, CLIENTS, how, version)
    elif not (each.get("storage") or is_stored):
        yield Change(name, "version-removed", "was removed; it was neither served nor stored", False, version=version)


def _version(name: str, version: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    site = Site(name, version)
    if old.get("served") and not new.get("served"):
        how = "requests for it are answered with 404, and manifests of it are refused"
        yield Change(name, "version-unserved", "is no longer served", True, CLIENTS, how, version)
    elif new.get("served") and not old.get("served"):
        yield Change(name, "version-served", "is served", False, version=version)
    if new.get("deprecated") and not old.get("deprecated"):
        yield Change(name, "version-deprecated", "is deprecated", False, version=version)
    yield from _subresources(old.get("subresources") or {}, new.get("subresources") or {}, site)
    yield from _columns(old, new, site)
    yield from _selectable(old, new, site)
    schemas = [(each.get("schema") or {}).get("openAPIV3Schema") or {} for each in (old, new)]
    yield from compare_schemas(schemas[0], schemas[1], site)


def _subresources(old: Mapping[str, Any], new: Mapping[str, Any], site: Site) -> Iterator[Change]:
    had, has = old.get("status") is not None, new.get("status") is not None
    if had and not has:
        how = "writes to /status are answered with 404; a change of the status raises the generation"
        yield site.breaks("status-subresource-removed", "the status subresource was removed", CLIENTS, how)
    elif has and not had:
        how = "a status that is written with the object is dropped without a word; it has to go to /status"
        yield site.breaks("status-subresource-added", "the status subresource was added", CLIENTS, how)
    before, after = old.get("scale"), new.get("scale")
    who = "autoscalers and kubectl scale"
    if before is not None and after is None:
        yield site.breaks("scale-removed", "the scale subresource was removed", who, "requests to /scale get 404")
    elif before is None and after is not None:
        yield site.allows("scale-added", "the scale subresource was added")
    elif not same(before, after):
        how = "read and write other fields than before"
        yield site.breaks("scale-changed", "paths of the scale subresource changed", who, how, before, after)


def _columns(old: Mapping[str, Any], new: Mapping[str, Any], site: Site) -> Iterator[Change]:
    columns = [
        {str(each.get("name")): each for each in version.get("additionalPrinterColumns") or []}
        for version in (old, new)
    ]
    for name, each in columns[0].items():
        if name not in columns[1]:
            yield site.allows("column-removed", f"column {name} was removed", name, None)
        elif not same(each, columns[1][name]):
            yield site.allows("column-changed", f"column {name} changed", each, columns[1][name])
    for name in columns[1]:
        if name not in columns[0]:
            yield site.allows("column-added", f"column {name} was added", None, name)


def _selectable(old: Mapping[str, Any], new: Mapping[str, Any], site: Site) -> Iterator[Change]:
    before, after = (
        {str(each.get("jsonPath")) for each in version.get("selectableFields") or []} for version in (old, new)
    )
    for path in sorted(before - after):
        how = f"with the field selector {path.lstrip('.')} are answered with 400"
        what = f"selectable field {path} was removed"
        yield site.breaks("selectable-field-removed", what, "lists and watches", how, path, None)
    for path in sorted(after - before):
        yield site.allows("selectable-field-added", f"selectable field {path} was added", None, path)


def _conversion(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    old, new = (str(each.get("strategy") or "None") for each in (before, after))
    if old == new:
        return
    what = f"conversion {old} became {new}"
    if new == "None":
        who, how = f"{READERS}, {APPLIERS}", "objects in other versions keep their fields as they are stored"
        yield Change(name, "conversion-removed", what, True, who, how, old=old, new=new)
    else:
        yield Change(name, "conversion-added", what, False, old=old, new=new)
