"""The options of requests, read from their query (or body) and checked: lists, watches, writes, deletions.

Values in, values out; what is refused is refused with the real server's words. The rules are those of
`apimachinery/pkg/apis/meta/{v1,internalversion}/validation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from kubewright.model.fieldselector import FieldSelector
from kubewright.model.selector import Selector
from kubewright.schema.structural.fielderrors import FieldError, forbidden, invalid, not_supported, required, too_long
from kubewright.schema.structural.gotext import quoted

from .errors import bad_request, invalid_options
from .selecting import field_selector, label_selector

__all__ = ["DeleteOptions", "ListOptions", "WriteOptions", "delete_options", "list_options", "write_options"]

Query = Sequence[tuple[str, str]]

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UNSIGNED: Final = re.compile(r"[0-9]+", re.ASCII)
_LARGEST: Final = 2**63
_LONGEST_MANAGER: Final = 128
_POLICIES: Final = ("Foreground", "Background", "Orphan", "nil")


class ListOptions(Struct):
    """Of a list or watch. `revision` is `resourceVersion` as a number, 0 for none."""

    label_selector: Selector | None = None
    field_selector: FieldSelector | None = None
    watch: bool = False
    bookmarks: bool = False
    resource_version: str = ""
    match: str = ""
    timeout_seconds: int = 0
    limit: int = 0
    continue_token: str = ""
    send_initial_events: bool | None = None

    @property
    def revision(self) -> int:
        return int(self.resource_version or 0)


class WriteOptions(Struct):
    """Of a create, update or patch. `given_validation` is what the request said, `field_validation` what holds."""

    is_dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"
    given_validation: str = ""
    force: bool | None = None


class DeleteOptions(Struct):
    """Of a deletion. None for what was not said. `given` is the whole, for who wants to see it as it came."""

    is_dry_run: bool = False
    grace_seconds: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    orphan_dependents: bool | None = None
    propagation: str | None = None
    given: Mapping[str, Any] | None = None


def integer(text: str) -> int:
    """A number of a query. Raises StatusError as Go's parser says it."""
    if _INTEGER.fullmatch(text) is None:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    number = int(text)
    if not -_LARGEST <= number < _LARGEST:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    return number


def boolean(text: str) -> bool:
    """A truth value of a query: everything but `false` and `0` is true, the empty text too."""
    return text != "0" and text.lower() != "false"


def wants_watch(query: Sequence[tuple[str, str]]) -> bool:
    """Whether a query asks for a watch."""
    return bool(query) and any(name == "watch" and boolean(value) for name, value in query)


def revision(text: str) -> int:
    """A resource version. Raises ValueError with the storage's words."""
    if _UNSIGNED.fullmatch(text) is None:
        said = f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax"
        raise ValueError(f"resourceVersion: Invalid value: {quoted(text)}: {said}")
    return int(text)


def list_options(query: Query, *, is_watch: bool = False) -> ListOptions:
    """Read and checked, with what is filled in for watches that say nothing of how to start."""
    options = ListOptions(watch=is_watch)
    for name, value in reversed(dict(reversed(query)).items()):  # of a repeated name the first value counts
        match name:
            case "labelSelector":
                options.label_selector = label_selector(value) if value else None
            case "fieldSelector":
                options.field_selector = field_selector(value) if value else None
            case "watch":
                options.watch = is_watch or boolean(value)
            case "allowWatchBookmarks":
                options.bookmarks = boolean(value)
            case "resourceVersion":
                options.resource_version = value
            case "resourceVersionMatch":
                options.match = value
            case "timeoutSeconds":
                options.timeout_seconds = integer(value)
            case "limit":
                options.limit = integer(value)
            case "continue":
                options.continue_token = value
            case "sendInitialEvents":
                options.send_initial_events = boolean(value)
    says_nothing = options.send_initial_events is None and not options.match
    if options.watch and says_nothing and options.resource_version in ("", "0"):
        options.send_initial_events, options.match = True, "NotOlderThan"
    if errors := _watch_errors(options) if options.watch else _list_errors(options):
        raise invalid_options("ListOptions", errors)
    return options


def _list_errors(options: ListOptions) -> list[FieldError]:
    errors: list[FieldError] = []
    match = options.match
    where = "resourceVersionMatch"
    if match:
        if not options.resource_version:
            errors.append(forbidden(where, f"{where} is forbidden unless resourceVersion is provided"))
        if options.continue_token:
            errors.append(forbidden(where, f"{where} is forbidden when continue is provided"))
        if match not in ("Exact", "NotOlderThan"):
            errors.append(not_supported(where, match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and options.resource_version == "0":
            errors.append(forbidden(where, f'{where} "exact" is forbidden for resourceVersion "0"'))
    if options.send_initial_events is not None:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _watch_errors(options: ListOptions) -> list[FieldError]:
    errors: list[FieldError] = []
    match, asked = options.match, options.send_initial_events is not None
    where = "resourceVersionMatch"
    if asked and match != "NotOlderThan":
        errors.append(forbidden(where, f"sendInitialEvents requires setting {where} to NotOlderThan"))
    if match:
        if not asked:
            errors.append(forbidden(where, f"{where} is forbidden for watch unless sendInitialEvents is provided"))
        if match != "NotOlderThan":
            errors.append(not_supported(where, match, ("NotOlderThan",)))
        if options.continue_token:
            errors.append(forbidden(where, f"{where} is forbidden when continue is provided"))
    return errors


def write_options(query: Query, kind: str, *, is_apply: bool = False) -> WriteOptions:
    """Read and checked. `kind` names them in errors: CreateOptions, UpdateOptions, PatchOptions."""
    options = WriteOptions()
    if not query and not is_apply:
        return options
    dry_run: list[str] = []
    manager: str | None = None
    validation: str | None = None
    for name, value in query:
        match name:
            case "dryRun":
                dry_run.append(value)
            case "fieldManager":
                manager = value if manager is None else manager
            case "fieldValidation":
                validation = value if validation is None else validation
            case "force" if kind == "PatchOptions" and options.force is None:
                options.force = boolean(value)
    options.field_manager = manager or ""
    errors: list[FieldError] = []
    if kind == "PatchOptions":
        if is_apply and not options.field_manager:
            errors.append(required("fieldManager", "is required for apply patch"))
        elif not is_apply and options.force is not None:
            errors.append(forbidden("force", "may not be specified for non-apply patch"))
    errors += manager_errors(options.field_manager, "fieldManager")
    errors += _dry_run_errors(dry_run)
    if validation not in (None, "", "Ignore", "Warn", "Strict"):
        errors.append(not_supported("fieldValidation", validation, ("", "Ignore", "Strict", "Warn")))
    if errors:
        raise invalid_options(kind, errors)
    options.is_dry_run = bool(dry_run)
    options.given_validation, options.field_validation = validation or "", validation or "Warn"
    return options


def manager_errors(manager: str, path: str) -> list[FieldError]:
    """Errors of the name of a field manager."""
    errors = [too_long(path, _LONGEST_MANAGER)] if len(manager.encode()) > _LONGEST_MANAGER else []
    place = 0
    for character in manager:
        if not character.isprintable():
            said = f"invalid character U+{ord(character):04X} (at position {place})"
            errors.append(invalid(path, manager, said))
        place += len(character.encode())
    return errors


def _dry_run_errors(dry_run: Sequence[str]) -> list[FieldError]:
    if all(each == "All" for each in dry_run):
        return []
    return [not_supported("dryRun", list(dry_run), ("All",))]


def delete_options(query: Query, body: Mapping[str, Any] | None) -> DeleteOptions:
    """Of a body, or where there is none, of the query. Raises StatusError."""
    if body is None:
        body = _from_query(query)
    _check_types(body)
    options = DeleteOptions(given=body)
    errors: list[FieldError] = []
    options.grace_seconds, options.orphan_dependents = body.get("gracePeriodSeconds"), body.get("orphanDependents")
    options.propagation = body.get("propagationPolicy")
    preconditions = body.get("preconditions") or {}
    options.uid, options.resource_version = preconditions.get("uid"), preconditions.get("resourceVersion")
    dry_run = body.get("dryRun") or []
    policy = options.propagation
    if options.orphan_dependents is not None and policy is not None:
        said = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, said))
    if policy is not None and policy not in _POLICIES[:3]:
        errors.append(not_supported("propagationPolicy", policy, _POLICIES))
    errors += _dry_run_errors(dry_run)
    if errors:
        raise invalid_options("DeleteOptions", errors)
    options.is_dry_run = bool(dry_run)
    return options


def _from_query(query: Query) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in query:
        match name:
            case "gracePeriodSeconds":
                made[name] = integer(value)
            case "orphanDependents":
                made[name] = boolean(value)
            case "propagationPolicy":
                made[name] = value
            case "dryRun":
                made.setdefault(name, []).append(value)
    return made


_DELETE_FIELDS: Final[Mapping[str, tuple[type, str]]] = {
    "gracePeriodSeconds": (int, "int64"),
    "orphanDependents": (bool, "bool"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "preconditions": (dict, "v1.Preconditions"),
    "dryRun": (list, "[]string"),
}
_PRECONDITIONS: Final[Mapping[str, tuple[type, str]]] = {"uid": (str, "types.UID"), "resourceVersion": (str, "string")}


def _check_types(body: Mapping[str, Any]) -> None:
    """Raises StatusError: of the fields of a body, in its order, the first that is of another type."""
    for name, value in body.items():
        if name not in _DELETE_FIELDS:
            continue
        _check_type(value, *_DELETE_FIELDS[name], f"DeleteOptions.{name}")
        if name == "preconditions":
            for below, each in (value or {}).items():
                if below in _PRECONDITIONS:
                    _check_type(each, *_PRECONDITIONS[below], f"Preconditions.{name}.{below}")
        elif name == "dryRun":
            for each in value or ():
                _check_type(each, str, "string", f"DeleteOptions.{name}")


def _check_type(value: Any, wanted: type, called: str, field: str) -> None:
    if value is None or (isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))):
        return
    found = {str: "string", bool: "bool", list: "array", dict: "object"}.get(type(value), "number")
    raise bad_request(f"json: cannot unmarshal {found} into Go struct field {field} of type {called}")
