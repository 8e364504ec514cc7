"""JSON patch (RFC 6902) as the server applies it: by `evanphx/json-patch` v4, with its liberties.

| RFC 6902 | here |
|---|---|
| `replace` needs a value to replace | in an object it may add one |
| an index is digits | may be negative: from the end; `+1` and `01` are numbers too |
| a path starts with a slash | what stands before the first slash is not looked at |
| `test` of a path that is not there fails | passes against null |
| `copy` of a member that is not there fails | copies null |

The text of a failed operation is in `PatchError.why` only; the server's answer does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from kubewright.schema.structural.gotext import kind_of
from kubewright.schema.structural.values import copied, is_too_deep, same

from .errors import bad_request, too_many_operations, unprocessable

__all__ = ["MAX_COPIED_BYTES", "MAX_OPERATIONS", "json_patch"]

MAX_OPERATIONS: Final = 10_000
MAX_COPIED_BYTES: Final = 3 * 1024 * 1024
"""What the copies of one patch may add up to, in bytes of JSON."""

_TOO_DEEP: Final = "exceeded max depth"
"""Of what values in values in the places of values add up to; no walk here would come to its end."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_FIELDS: Final = ("op", "path", "from")
_GO_NAMES: Final = {"boolean": "bool", "integer": "number"}


class _Failed(Exception):
    """An operation that does not fit the document."""


def json_patch(document: dict[str, Any], operations: Any, unknown: list[str] | None = None) -> Any:
    """The document with a JSON patch applied. It is whatever the patch makes of it, an object or not.

    Args:
        unknown: gets what strict decoding objects to, as `json patch unknown field "[0].note"`.

    Raises:
        PatchError: 400, not a list of operations; 413, more than `MAX_OPERATIONS`; 422, one does not apply.
    """
    _check(operations, unknown)
    if len(operations) > MAX_OPERATIONS:
        raise too_many_operations(len(operations), MAX_OPERATIONS)
    patcher = _Patcher(copied(document))
    for operation in operations:
        try:
            patcher.apply(operation or {})
        except _Failed as failed:
            raise unprocessable(str(failed)) from None
    if is_too_deep(patcher.document):
        raise unprocessable(_TOO_DEEP)
    return patcher.written(patcher.document)


def _check(operations: Any, unknown: list[str] | None) -> None:
    if not isinstance(operations, list):
        raise _undecodable(operations, "value of type []handlers.jsonPatchOp")
    for place, operation in enumerate(operations):
        if operation is not None and not isinstance(operation, dict):
            raise _undecodable(operation, "value of type handlers.jsonPatchOp")
        for name, value in (operation or {}).items():
            if name in _FIELDS and value is not None and not isinstance(value, str):
                raise _undecodable(value, f"struct field jsonPatchOp.{name} of type string")
            if unknown is not None and name not in _FIELDS and name != "value":
                unknown.append(f'json patch unknown field "[{place}].{name}"')


def _undecodable(value: Any, into: str) -> Exception:
    kind = kind_of(value)
    return bad_request(f"error decoding patch: json: cannot unmarshal {_GO_NAMES.get(kind, kind)} into Go {into}")


class _Patcher:
    """One document that is being changed in place.

    It notes which objects Go takes apart: those it writes in the order of names, all others as they came. What is wrong
    with the document is found in that order, and only the first of it is said.
    """

    def __init__(self, document: Any) -> None:
        self.document = document
        self._copied_bytes = 0
        self._opened: dict[int, dict[str, Any]] = {}
        """By id. They are kept, as the ids of what is gone are given anew."""
        self._open(document)

    def apply(self, operation: dict[str, Any]) -> None:
        kind = operation.get("op")
        if kind == "add":
            self._add(_text(operation, "path"), copied(operation.get("value")))
        elif kind == "remove":
            self._remove(_text(operation, "path"))
        elif kind == "replace":
            self._replace(_text(operation, "path"), copied(operation.get("value")))
        elif kind == "move":
            self._add(_text(operation, "path"), self._remove(_text(operation, "from"), verb="move"), "move")
        elif kind == "copy":
            value = self._get(_text(operation, "from"), "copy")
            if is_too_deep(value):
                raise _Failed(_TOO_DEEP)
            path = _text(operation, "path")
            self._copied_bytes += _size(value)
            if self._copied_bytes > MAX_COPIED_BYTES:
                raise _Failed("Unable to complete the copy, the accumulated size increase of copy is too large")
            self._add(path, self.written(value), "copy")
        elif kind == "test":
            self._test(_text(operation, "path"), operation.get("value"))
        else:
            raise _Failed(f"Unexpected kind: {kind or 'unknown'}")

    def written(self, value: Any) -> Any:
        """A copy, as Go writes it."""
        if isinstance(value, dict):
            items = sorted(value.items()) if id(value) in self._opened else value.items()
            return {name: self.written(each) for name, each in items}
        return [self.written(each) for each in value] if isinstance(value, list) else value

    def _open(self, value: Any, *, deep: bool = False) -> None:
        if isinstance(value, dict):
            self._opened[id(value)] = value
        if deep and isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                self._open(each, deep=True)

    def _find(self, path: str, verb: str) -> tuple[Any, str]:
        """The object or list that holds the end of a path, and its name there."""
        parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
        holder = self.document if len(parts) > 1 else None
        for part in parts[1:-1]:
            try:
                holder = _member(holder, part)
            except _Failed:
                holder = None
            if not isinstance(holder, dict | list):
                break
            self._open(holder)
        if not isinstance(holder, dict | list):
            raise _Failed(
                f"{verb.removesuffix(' to')} operation does not apply: {_MISSING[verb].format(path)}: missing value"
            )
        return holder, parts[-1]

    def _get(self, path: str, verb: str) -> Any:
        return _member(*self._find(path, verb))

    def _add(self, path: str, value: Any, verb: str = "add") -> None:
        holder, name = self._find(path, verb if verb == "add" else f"{verb} to")
        if isinstance(holder, dict):
            holder[name] = value
        elif name == "-":
            holder.append(value)
        else:
            with _naming(verb, path):
                holder.insert(_index(name, len(holder) + 1), value)

    def _remove(self, path: str, *, verb: str = "remove") -> Any:
        holder, name = self._find(path, verb)
        with _naming(verb, path if verb == "remove" else name):
            if isinstance(holder, list):
                return holder.pop(_index(name, len(holder)))
            if name not in holder:
                raise _Failed(f"Unable to remove nonexistent key: {name}: missing value")
        return holder.pop(name)

    def _replace(self, path: str, value: Any) -> None:
        if path == "":
            if not isinstance(value, dict | list):
                raise _Failed("replace operation value must be object or array")
            self.document = value
            self._open(value)
            return
        holder, name = self._find(path, "replace")
        if isinstance(holder, list):
            holder[_index(name, len(holder))] = value
        else:
            holder[name] = value

    def _test(self, path: str, wanted: Any) -> None:
        found = self.document if path == "" else self._get(path, "test")
        if not same(found, wanted):
            raise _Failed(f"testing value {path} failed: test failed")
        self._open(found, deep=True)


_MISSING: Final = {
    "add": 'doc is missing path: "{}"',
    "remove": 'doc is missing path: "{}"',
    "replace": "doc is missing path: {}",
    "move": "doc is missing from path: {}",
    "move to": "doc is missing destination path: {}",
    "copy": "doc is missing from path: {}",
    "copy to": "doc is missing destination path: {}",
    "test": "is missing path: {}",
}


@contextmanager
def _naming(verb: str, path: str) -> Iterator[None]:
    """Say of what is wrong where it is."""
    try:
        yield
    except _Failed as error:
        raise _Failed(f"error in {verb} for path: '{path}': {error}") from None


def _text(operation: dict[str, Any], name: str) -> str:
    value = operation.get(name)
    if not isinstance(value, str):
        raise _Failed(f"operation missing {name} field: missing value")
    return value


def _member(holder: Any, name: str) -> Any:
    return holder[_index(name, len(holder))] if isinstance(holder, list) else holder.get(name)


def _index(name: str, size: int) -> int:
    if _NUMBER.fullmatch(name) is None:
        raise _Failed(f"value was not a proper array index: '{name}'")
    place = int(name)
    if not -size <= place < size:
        raise _Failed(f"Unable to access invalid index: {place}: invalid index referenced")
    return place + size if place < 0 else place


def _size(value: Any) -> int:
    """About the bytes of a value as JSON."""
    if isinstance(value, dict):
        return 2 + sum(len(name) + 4 + _size(each) for name, each in value.items())
    if isinstance(value, list):
        return 2 + sum(1 + _size(each) for each in value)
    return len(value) + 2 if isinstance(value, str) else 4
