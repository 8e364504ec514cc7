"""What a server asks of names, labels and the rest of metadata, of objects and of resources embedded in them.

The rules and texts are those of `apimachinery/pkg/api/validation` and `.../api/validate/content`. Metadata has been
through `objectmeta.read_meta`: types are right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from .fielderrors import FieldError, child, forbidden, index, invalid, key, required, too_long
from .gotext import GoStruct
from .objectmeta import MetaError, read_meta

if TYPE_CHECKING:
    from .node import Node

__all__ = [
    "dns_label",
    "dns_subdomain",
    "embedded_errors",
    "label_value",
    "meta_errors",
    "old_dns_label",
    "path_segment",
    "qualified_name",
    "resource_errors",
    "update_errors",
]

Rule = Callable[[str], list[str]]

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_OLD_LABEL: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = f"({_KEY})?"
_SUBDOMAIN_SAID: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character"
)
_LABEL_SAID: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character"
)
_OLD_LABEL_SAID: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_KEY_SAID: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_VALUE_SAID: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character"
)
_OWNER_FIELDS: Final = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_LONGEST_LABEL: Final = 63
_LONGEST_SUBDOMAIN: Final = 253
_MOST_ANNOTATIONS: Final = 256 * 1024


def _regex(said: str, regex: str, *examples: str) -> str:
    shown = " or ".join(f"'{each}', " for each in examples)
    return f"{said} (e.g. {shown}regex used for validation is '{regex}')"


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _no_more(most: int, what: str = "characters") -> str:
    # Two generations of the same rules count the same bytes and call them differently.
    return f"must be no more than {most} {what}"


def dns_subdomain(name: str) -> list[str]:
    """What keeps a text from being a DNS subdomain (RFC 1123)."""
    return _subdomain(name, "characters")


def _subdomain(name: str, counted: str) -> list[str]:
    problems = [_no_more(_LONGEST_SUBDOMAIN, counted)] if _bytes(name) > _LONGEST_SUBDOMAIN else []
    if re.fullmatch(_SUBDOMAIN, name) is None:
        problems.append(_regex(_SUBDOMAIN_SAID, _SUBDOMAIN, "example.com"))
    return problems


def dns_label(name: str) -> list[str]:
    """What keeps a text from being a DNS label (RFC 1123)."""
    problems = [_no_more(_LONGEST_LABEL)] if _bytes(name) > _LONGEST_LABEL else []
    if re.fullmatch(_LABEL, name) is None:
        dotted = re.fullmatch(_SUBDOMAIN, name) is not None
        problems.append("must not contain dots" if dotted else _regex(_LABEL_SAID, _LABEL, "my-name", "123-abc"))
    return problems


def old_dns_label(name: str) -> list[str]:
    """What keeps a text from being a DNS label that starts with a letter (RFC 1035)."""
    problems = [_no_more(_LONGEST_LABEL)] if _bytes(name) > _LONGEST_LABEL else []
    if re.fullmatch(_OLD_LABEL, name) is None:
        problems.append(_regex(_OLD_LABEL_SAID, _OLD_LABEL, "my-name", "abc-123"))
    return problems


def qualified_name(name: str) -> list[str]:
    """What keeps a text from being the key of a label or annotation."""
    parts = name.split("/")
    said = _regex(_KEY_SAID, _KEY, "MyName", "my.name", "123-abc")
    if len(parts) > 2:
        return [f"a valid label key {said} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    problems = []
    if len(parts) > 1:
        if not parts[0]:
            problems.append("prefix part must be non-empty")
        problems += [f"prefix part {each}" for each in _subdomain(parts[0], "bytes")] if parts[0] else []
    base = parts[-1]
    if not base:
        problems.append("name part must be non-empty")
    elif _bytes(base) > _LONGEST_LABEL:
        problems.append(f"name part {_no_more(_LONGEST_LABEL, 'bytes')}")
    if re.fullmatch(_KEY, base) is None:
        problems.append(f"name part {said}")
    return problems


def label_value(value: str) -> list[str]:
    """What keeps a text from being the value of a label."""
    problems = [_no_more(_LONGEST_LABEL, "bytes")] if _bytes(value) > _LONGEST_LABEL else []
    if re.fullmatch(_VALUE, value) is None:
        problems.append(_regex(_VALUE_SAID, _VALUE, "MyValue", "my_value", "12345"))
    return problems


def path_segment(name: str) -> list[str]:
    """What keeps a text from being a part of a path, which is all that some names have to be."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{each}'" for each in "/%" if each in name]


def _prefix(rule: Rule, name: str) -> list[str]:
    """A name that gets a suffix may end with a dash. (The server cuts one character too many.)"""
    return rule(name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name)


def meta_errors(
    meta: dict[str, Any], path: str = "metadata", *, namespaced: bool, name_rule: Rule = dns_subdomain
) -> list[FieldError]:
    """Errors of metadata on creation."""
    errors: list[FieldError] = []
    base, name = meta.get("generateName", ""), meta.get("name", "")
    if base:
        problems = path_segment(base) if name_rule is path_segment else _prefix(name_rule, base)
        errors += [invalid(child(path, "generateName"), base, each) for each in problems]
    if not name:
        errors.append(required(child(path, "name"), "name or generateName is required"))
    else:
        errors += [invalid(child(path, "name"), name, each) for each in name_rule(name)]
    namespace = meta.get("namespace", "")
    where = child(path, "namespace")
    if namespaced:
        problems = dns_label(namespace) if namespace else []
        errors += [invalid(where, namespace, each) for each in problems] if namespace else [required(where)]
    elif namespace:
        errors.append(forbidden(where, "not allowed on this type"))
    if meta.get("generation", 0) < 0:
        errors.append(invalid(child(path, "generation"), meta["generation"], "must be greater than or equal to 0"))
    return [*errors, *_shared(meta, path), *_finalizers(meta.get("finalizers", []), child(path, "finalizers"))]


def update_errors(new: dict[str, Any], old: dict[str, Any], path: str = "metadata") -> list[FieldError]:
    """Errors of metadata on an update that says which object it means."""
    errors: list[FieldError] = []
    if old.get("deletionTimestamp") is not None:
        extra = sorted(set(new.get("finalizers", [])) - set(old.get("finalizers", [])))
        if extra:
            shown = ", ".join(f'"{each}"' for each in extra)
            said = "no new finalizers can be added if the object is being deleted, found new finalizers "
            errors.append(forbidden(child(path, "finalizers"), f"{said}[]string{{{shown}}}"))
    errors += [
        invalid(child(path, name), new.get(name, ""), "field is immutable")
        for name in ("name", "namespace")
        if new.get(name, "") != old.get(name, "")
    ]
    return [*errors, *_shared(new, path)]


def _shared(meta: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    labels = child(path, "labels")
    for name, value in meta.get("labels", {}).items():
        errors += [invalid(labels, name, each) for each in qualified_name(name)]
        errors += [invalid(labels, value, each) for each in label_value(value)]
    annotations = child(path, "annotations")
    found = meta.get("annotations", {})
    for name in found:
        errors += [invalid(annotations, name, each) for each in qualified_name(name.lower())]
    if sum(_bytes(name) + _bytes(value) for name, value in found.items()) > _MOST_ANNOTATIONS:
        errors.append(too_long(annotations, _MOST_ANNOTATIONS))
    return errors + _owners(meta.get("ownerReferences", []), child(path, "ownerReferences"))


def _owners(owners: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    first = ""
    for place, owner in enumerate(owners):
        here = index(path, place)
        version = owner["apiVersion"]
        if not version:
            errors.append(required(child(here, "apiVersion"), "must not be empty"))
        elif version.count("/") > 1 or version.endswith("/"):
            errors.append(invalid(child(here, "apiVersion"), version, "must be <group>/<version> or <version>"))
        errors += [
            required(child(here, each), "must not be empty") for each in ("kind", "name", "uid") if not owner[each]
        ]
        if (version, owner["kind"]) == ("v1", "Event"):
            errors.append(invalid(here, _shown(owner), "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            this = f"{owner['kind']}/{owner['name']}"
            if first:
                said = 'Only one reference can have Controller set to true. Found "true" in references for '
                errors.append(invalid(path, list(map(_shown, owners)), f"{said}{first} and {this}"))
            else:
                first = this
    return errors


def _shown(owner: dict[str, Any]) -> GoStruct:
    return GoStruct({name: owner[name] for name in _OWNER_FIELDS if name in owner})


def _finalizers(finalizers: list[str], path: str) -> list[FieldError]:
    errors = [invalid(path, each, problem) for each in finalizers for problem in qualified_name(each)]
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        said = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid(path, finalizers, said))
    return errors


def embedded_errors(node: Node | None, value: Any, path: str = "") -> list[FieldError]:
    """Errors of the resources embedded in an object: apiVersion and kind are there, metadata is valid."""
    if node is None or not node.has_embedded:
        return []
    errors: list[FieldError] = []
    if isinstance(value, list):
        for place, item in enumerate(value):
            errors += embedded_errors(node.items, item, index(path, place))
    elif isinstance(value, dict):
        if node.embedded:
            errors += resource_errors(value, path)
        for name, each in value.items():
            known = node.properties.get(name)
            errors += embedded_errors(
                known or node.additional, each, child(path, name) if known is not None else key(path, name)
            )
    return errors


def resource_errors(value: dict[str, Any], path: str) -> list[FieldError]:
    """Errors of one embedded resource: what it is, and its metadata."""
    errors = [required(child(path, name)) for name in ("apiVersion", "kind") if name not in value]
    version, kind = value.get("apiVersion"), value.get("kind")
    where = child(path, "apiVersion")
    if version == "":
        errors.append(invalid(where, version, "must not be empty"))
    elif isinstance(version, str) and version.count("/") > 1:
        errors.append(invalid(where, version, f"unexpected GroupVersion string: {version}"))
    where = child(path, "kind")
    if kind == "":
        errors.append(invalid(where, kind, "must not be empty"))
    elif isinstance(kind, str) and (problems := old_dns_label(kind.lower())):
        said = "may have mixed case, but should otherwise match: " + ",".join(problems)
        errors.append(invalid(where, kind, said))
    if value.get("metadata") is not None:
        errors += _embedded_meta(value["metadata"], child(path, "metadata"))
    return errors


def _embedded_meta(metadata: Any, path: str) -> list[FieldError]:
    try:
        meta, _ = read_meta(metadata)
    except MetaError as error:
        return [invalid(path, metadata, str(error))]
    namespaced = bool(meta.get("namespace"))
    named = meta if meta.get("name") else {**meta, "name": "fakename"}
    return meta_errors(named, path, namespaced=namespaced, name_rule=path_segment)
