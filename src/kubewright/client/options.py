"""What a call asks for beside its object: query strings and the body of a deletion.

Owns the wire form of the options in `k8s.io/apimachinery/pkg/apis/meta/v1` (`CreateOptions`, `UpdateOptions`,
`PatchOptions`, `DeleteOptions`, `ListOptions`) and of selectors. It knows neither paths nor
connections; everything is a pure function to text that is ready for the wire.

| option             | create, update | patch, apply | delete      |
|--------------------|----------------|--------------|-------------|
| `dry_run`          | query          | query        | body        |
| `field_manager`    | query          | query        | -           |
| `field_validation` | query          | query        | -           |
| `force`            | -              | query        | -           |

A deletion's options go into its body and nowhere else: the server reads the query only where there is no body.

A selector that does not say what its author meant selects too much, and `delete_all` would delete it: all of them are
read before they are sent, and one that cannot be read is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import msgspec

from ..model.fieldselector import FieldSelector
from ..model.selector import LabelSelector, Selector
from .paths import InvalidRequest

__all__ = [
    "Defaults",
    "FieldValidation",
    "Fields",
    "Labels",
    "ListQuery",
    "Propagation",
    "VersionMatch",
    "delete_body",
    "write_query",
]

FieldValidation: TypeAlias = Literal["Ignore", "Warn", "Strict"]
"""What the server does with fields that it does not know: drop them, warn (its default), or refuse the request."""

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]
"""Whether what an object owns is deleted after it, before it, or not at all."""

VersionMatch: TypeAlias = Literal["NotOlderThan", "Exact"]
"""How a `resource_version` of a list is meant."""

Labels: TypeAlias = str | Mapping[str, str] | LabelSelector | Selector
"""A label selector as text, as labels that all have to be equal, or as a value."""

Fields: TypeAlias = str | Mapping[str, str] | FieldSelector
"""A field selector as text, as fields that all have to be equal, or as a value."""


class Defaults(msgspec.Struct, frozen=True):
    """The options that a client gives to every write that does not say otherwise."""

    dry_run: bool = False
    field_manager: str | None = None
    field_validation: FieldValidation | None = None


def write_query(
    defaults: Defaults,
    dry_run: bool | None = None,
    field_manager: str | None = None,
    field_validation: FieldValidation | None = None,
) -> str:
    """The query of a write with its `?`, or `""`. None takes the default. Raises InvalidRequest."""
    parts = []
    if defaults.dry_run if dry_run is None else dry_run:
        parts.append("dryRun=All")
    manager = defaults.field_manager if field_manager is None else field_manager
    if manager:
        parts.append(f"fieldManager={quote(_checked_manager(manager), safe=':')}")
    validation = defaults.field_validation if field_validation is None else field_validation
    if validation:
        if validation not in ("Ignore", "Warn", "Strict"):
            raise InvalidRequest("field_validation", validation, "is not Ignore, Warn or Strict")
        parts.append(f"fieldValidation={validation}")
    return "?" + "&".join(parts) if parts else ""


def _checked_manager(manager: str) -> str:
    if len(manager.encode(errors="replace")) > 128 or not manager.isprintable():
        raise InvalidRequest("field_manager", manager, "is not printable text of at most 128 bytes")
    return manager


def delete_body(
    *,
    dry_run: bool,
    propagation: Propagation | None,
    uid: str | None,
    resource_version: str | None,
    grace_period_seconds: int | None,
) -> bytes | None:
    """The `DeleteOptions` of a deletion, or None where it has none. Raises InvalidRequest."""
    body: dict[str, Any] = {}
    if dry_run:
        body["dryRun"] = ["All"]
    if propagation is not None:
        if propagation not in ("Background", "Foreground", "Orphan"):
            raise InvalidRequest("propagation", propagation, "is not Background, Foreground or Orphan")
        body["propagationPolicy"] = propagation
    if grace_period_seconds is not None:
        if grace_period_seconds < 0:
            raise InvalidRequest("grace_period_seconds", grace_period_seconds, "is less than 0")
        body["gracePeriodSeconds"] = grace_period_seconds
    preconditions = {}
    for field, name, value in (("uid", "uid", uid), ("resource_version", "resourceVersion", resource_version)):
        if value is None:
            continue
        if not value:
            raise InvalidRequest(
                field, value, "is empty and would guard nothing", f"read the object, or leave {field} out"
            )
        preconditions[name] = value
    if preconditions:
        body["preconditions"] = preconditions
    if not body:
        return None
    return msgspec.json.encode({"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", **body})


class ListQuery(msgspec.Struct, frozen=True):
    """What a list, a watch or a deletion of a collection selects: `selection` is encoded and has no `?`."""

    selection: str = ""
    resource_version: str | None = None
    resource_version_match: VersionMatch | None = None

    @classmethod
    def of(
        cls,
        labels: Labels | None,
        fields: Fields | None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
    ) -> ListQuery:
        """Raises InvalidRequest."""
        parts = []
        if labels is not None and (text := _labels_text(labels)):
            parts.append(f"labelSelector={quote(text, safe='')}")
        if fields is not None and (text := _fields_text(fields)):
            parts.append(f"fieldSelector={quote(text, safe='')}")
        if resource_version_match is not None and resource_version is None:
            rule = "says how resource_version is meant, and there is none"
            raise InvalidRequest("resource_version_match", resource_version_match, rule, "give resource_version")
        if resource_version not in (None, "", "0") and resource_version_match is None:
            # Said aloud: unsaid, the server takes it for Exact in a list with pages and for NotOlderThan without.
            resource_version_match = "NotOlderThan"
        return cls("&".join(parts), resource_version, resource_version_match)

    def page(self, limit: int | None, continue_: str = "") -> str:
        """The query of one page of a list, with its `?`.

        A page after the first carries no version: its token does, and the server refuses both together.
        """
        parts = [self.selection] if self.selection else []
        if limit is not None:
            parts.append(f"limit={limit}")
        if continue_:
            parts.append(f"continue={quote(continue_, safe='')}")
        else:
            if self.resource_version is not None:
                parts.append(f"resourceVersion={quote(self.resource_version, safe='')}")
            if self.resource_version_match is not None:
                parts.append(f"resourceVersionMatch={self.resource_version_match}")
        return "?" + "&".join(parts) if parts else ""

    def watch(self, resource_version: str, timeout_seconds: int) -> str:
        """The query of a watch from a version on, with its `?`."""
        start = f"?{self.selection}&" if self.selection else "?"
        version = quote(resource_version, safe="")
        return f"{start}watch=true&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={timeout_seconds}"


def _labels_text(labels: Labels) -> str:
    try:
        return str(Selector.of(labels))
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidRequest("labels", labels, f"is not a label selector: {error}") from None


def _fields_text(fields: Fields) -> str:
    try:
        return str(FieldSelector.of(fields))
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidRequest("fields", fields, f"is not a field selector: {error}") from None
