"""A CRD as a document has it: kinds, versions, and a section for every object below them.

A section has a path (`spec.ports[]`), and an entry for each field: its type in words, what bounds it, its default. How
it looks is not known here (`markdown`, `html`). Objects that every reader of Kubernetes knows (a Pod's spec) are named
and linked, and not repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from ..node import Schema
from .samples import sample_of
from .words import bounds_of, type_of

__all__ = ["Entry", "KindOutline", "Section", "VersionOutline", "outline"]

_DOCS: Final = "https://kubernetes.io/docs/reference/kubernetes-api"
_POD: Final = f"{_DOCS}/workload-resources/pod-v1/"
_STORAGE: Final = f"{_DOCS}/config-and-storage-resources"
_KNOWN: Final = (
    (("containers", "initContainers", "volumes"), "PodSpec", f"{_POD}#PodSpec"),
    (("image", "command", "args", "volumeMounts", "livenessProbe"), "Container", f"{_POD}#Container"),
    (("httpGet", "tcpSocket", "periodSeconds", "failureThreshold"), "Probe", f"{_POD}#Probe"),
    (("nodeAffinity", "podAffinity", "podAntiAffinity"), "Affinity", f"{_POD}#PodSpec"),
    (("configMap", "emptyDir", "hostPath", "persistentVolumeClaim", "secret"), "Volume", f"{_STORAGE}/volume/"),
    (
        ("accessModes", "storageClassName", "volumeName"),
        "PersistentVolumeClaimSpec",
        f"{_STORAGE}/persistent-volume-claim-v1/#PersistentVolumeClaimSpec",
    ),
    (("matchExpressions", "matchLabels"), "LabelSelector", f"{_DOCS}/common-definitions/label-selector/"),
)
"""Fields by which an object is known, its name, and where it is described."""


class Entry(msgspec.Struct, frozen=True):
    """A field. `section` is the anchor of the section of its object; `link` an address elsewhere."""

    name: str
    type: str
    required: bool
    default: str | None
    description: str
    bounds: tuple[str, ...]
    rules: tuple[str, ...]
    section: str = ""
    link: str = ""
    example: str | None = None


class Section(msgspec.Struct, frozen=True):
    """An object: `path` from the root, and its fields in the order of names, required ones first."""

    path: str
    anchor: str
    description: str
    entries: tuple[Entry, ...]
    rules: tuple[str, ...]
    bounds: tuple[str, ...] = ()


class VersionOutline(msgspec.Struct, frozen=True):
    """A version of a kind. `notes` say what is special; `sample` is a small manifest, empty if none is valid."""

    name: str
    api_version: str
    anchor: str
    notes: tuple[str, ...]
    description: str
    sections: tuple[Section, ...]
    columns: tuple[tuple[str, str, str], ...]
    selectable: tuple[str, ...]
    sample: str


class KindOutline(msgspec.Struct, frozen=True):
    """A kind and its served versions, newest first."""

    kind: str
    group: str
    anchor: str
    facts: tuple[tuple[str, str], ...]
    versions: tuple[VersionOutline, ...]


def outline(crds: Iterable[Mapping[str, Any]]) -> list[KindOutline]:
    """What there is to say of some CRDs, by group and kind."""
    return [_kind(crd) for crd in sorted(crds, key=lambda crd: (crd["spec"]["group"], crd["spec"]["names"]["kind"]))]


def _kind(crd: Mapping[str, Any]) -> KindOutline:
    spec, names = crd["spec"], crd["spec"]["names"]
    facts = [("Group", spec["group"]), ("Scope", spec["scope"]), ("Plural", names["plural"])]
    for title, key in (("Short names", "shortNames"), ("Categories", "categories")):
        if names.get(key):
            facts.append((title, ", ".join(names[key])))
    anchor = f"{names['kind']}-{spec['group']}".lower().replace(".", "-")
    versions = [_version(crd, each, anchor) for each in spec["versions"] if each.get("served", True)]
    return KindOutline(names["kind"], spec["group"], anchor, tuple(facts), tuple(versions))


def _version(crd: Mapping[str, Any], version: Mapping[str, Any], above: str) -> VersionOutline:
    root = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    anchor = f"{above}-{version['name']}"
    columns = tuple(
        (each["name"], each["jsonPath"], each.get("description", ""))
        for each in version.get("additionalPrinterColumns") or ()
    )
    return VersionOutline(
        version["name"],
        f"{crd['spec']['group']}/{version['name']}",
        anchor,
        tuple(_notes(version)),
        root.get("description", ""),
        tuple(_sections(root, anchor)),
        columns,
        tuple(each["jsonPath"] for each in version.get("selectableFields") or ()),
        sample_of(crd, version["name"]),
    )


def _notes(version: Mapping[str, Any]) -> Iterator[str]:
    if version.get("storage"):
        yield "storage version"
    if version.get("deprecated"):
        warning = version.get("deprecationWarning")
        yield f"deprecated: {warning}" if warning else "deprecated"
    below = version.get("subresources") or {}
    if "status" in below:
        yield "status subresource"
    if "scale" in below:
        yield f"scale subresource ({below['scale']['specReplicasPath']})"


def _sections(root: Schema, above: str) -> Iterator[Section]:
    """Breadth last: a section is followed by those of its fields."""
    shown = {name: part for name, part in (root.get("properties") or {}).items() if name in ("spec", "status")}
    others = {
        name: part
        for name, part in (root.get("properties") or {}).items()
        if name not in ("apiVersion", "kind", "metadata", "spec", "status")
    }
    if others or _rules_of(root):
        yield from _section({**root, "properties": others}, "", f"{above}-top", above)
    for name, part in shown.items():
        yield from _section(part, name, f"{above}-{name}", above)


def _section(schema: Schema, path: str, anchor: str, version: str) -> Iterator[Section]:
    required = set(schema.get("required") or ())
    entries, below = [], []
    properties = schema.get("properties") or {}
    for name in sorted(properties, key=lambda each: (each not in required, each)):
        part = properties[name]
        inner, suffix = _object_in(part)
        field = f"{path}.{name}".lstrip(".")
        link, section, known = "", "", _known(inner) if inner is not None else None
        if known is not None:
            link = known[1]
        elif inner is not None:
            section = _anchor(version, f"{field}{suffix}")
            below.append((inner, f"{field}{suffix}", section))
        entries.append(_entry(name, part, name in required, section, link, known[0] if known else ""))
    description = _words(schema) if path else ""
    yield Section(path, anchor, description, tuple(entries), _rules_of(schema), bounds_of(schema))
    for inner, field, section in below:
        yield from _section(inner, field, section, version)


def _anchor(version: str, path: str) -> str:
    named = path.replace("[]", ".item").replace("{}", ".value")
    return f"{version}-{re.sub('[^a-z0-9]+', '-', named.lower())}"


def _entry(name: str, schema: Schema, required: bool, section: str, link: str, known: str) -> Entry:
    default = json.dumps(schema["default"], ensure_ascii=False, sort_keys=True) if "default" in schema else None
    example = json.dumps(schema["example"], ensure_ascii=False, sort_keys=True) if "example" in schema else None
    inner = schema.get("items") or schema.get("additionalProperties")
    rules = _rules_of(schema) if not section else ()
    if isinstance(inner, dict) and not section:
        rules += _rules_of(inner)
    return Entry(
        name,
        type_of(schema, known),
        required and default is None,
        default,
        _words(schema),
        bounds_of(schema),
        rules,
        section,
        link,
        example,
    )


def _words(schema: Schema) -> str:
    docs = schema.get("externalDocs") or {}
    more = " ".join(str(docs[key]) for key in ("description", "url") if docs.get(key))
    said = [str(schema.get("description", "")), f"More: {more}" if more else ""]
    return "\n\n".join(each for each in said if each)


def _object_in(schema: Schema) -> tuple[Schema | None, str]:
    """The object with fields of its own in a field: itself, or below lists and maps."""
    suffix = ""
    while True:
        if schema.get("properties"):
            return schema, suffix
        values = schema.get("additionalProperties")
        if isinstance(schema.get("items"), dict):
            schema, suffix = schema["items"], f"{suffix}[]"
        elif isinstance(values, dict):
            schema, suffix = values, f"{suffix}{{}}"
        else:
            return None, ""


def _known(schema: Schema) -> tuple[str, str] | None:
    names = set(schema.get("properties") or ())
    return next(((name, link) for fields, name, link in _KNOWN if names.issuperset(fields)), None)


def _rules_of(schema: Schema) -> tuple[str, ...]:
    found = []
    for rule in schema.get("x-kubernetes-validations") or ():
        if rule["rule"] == "self == oldSelf":
            found.append("cannot be changed once it is set")
        else:
            found.append(rule.get("message") or f"`{rule['rule']}`")
    return tuple(found)
