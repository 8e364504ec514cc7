"""What is wrong with one field, in the API server's words.

A `FieldError` has the facts (`reason`, `field`, `value`, `detail`) and says them as a server does: `body` is the text
of a cause in a Status, `str()` puts the field before it, and `summary` joins several as the message of an Invalid does.

The functions make the errors of `apimachinery/pkg/util/validation/field`. The empty path is the whole object, which a
server spells `<nil>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from .gotext import as_json, plain, quoted

__all__ = [
    "OMITTED",
    "FieldError",
    "child",
    "duplicate",
    "forbidden",
    "index",
    "invalid",
    "key",
    "not_found",
    "not_supported",
    "required",
    "summary",
    "too_long",
    "too_many",
    "type_invalid",
]

_SAID: Final = {
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueTypeInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueNotFound": "Not found",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
}
_SILENT: Final = frozenset({"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"})
"""Reasons whose text leaves the value out."""

_BLOCKING: Final = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)


class _Omitted:
    """Its own type, so that no value is mistaken for it."""


OMITTED: Final = _Omitted()
"""The value of an error whose text leaves it out, though others of its reason show theirs."""


class FieldError(msgspec.Struct, frozen=True):
    """One broken rule.

    `reason` is the machine-readable cause, such as `FieldValueInvalid`; `field` a dotted path such as
    `spec.ports[0].name`, or `<nil>` for the object itself; `value` what was found, where the text shows it.
    """

    reason: str
    field: str
    value: Any = ""
    detail: str = ""

    @property
    def body(self) -> str:
        """The error without its field."""
        said = _SAID[self.reason]
        if self.reason not in _SILENT and self.value is not OMITTED:
            said = f"{said}: {_shown(self.value)}"
        return f"{said}: {self.detail}" if self.detail else said

    @property
    def is_blocking(self) -> bool:
        """Whether a server evaluates no rules (CEL) beside this error."""
        return self.reason in _BLOCKING

    def as_cause(self) -> dict[str, str]:
        """The error as a cause of a Status: `reason`, `message` and `field`."""
        return {"reason": self.reason, "message": self.body, "field": self.field}

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool | int | float):
        return plain(value)
    return as_json(value)


def summary(errors: Iterable[FieldError | str]) -> str:
    """Errors in one text, each once, as Go's aggregate prints them: `a`, `[a, b]`; empty for none."""
    said = list(dict.fromkeys(map(str, errors)))
    return said[0] if len(said) == 1 else f"[{', '.join(said)}]" if said else ""


# -- paths ------------------------------------------------------------------------------------------------------------


def child(path: str, name: str) -> str:
    """The path of a field."""
    return f"{path}.{name}" if path else name


def index(path: str, position: int) -> str:
    """The path of an item."""
    return f"{path}[{position}]"


def key(path: str, name: str) -> str:
    """The path of a value of a map."""
    return f"{path}[{name}]"


# -- errors -----------------------------------------------------------------------------------------------------------


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """A value that breaks a rule."""
    return FieldError("FieldValueInvalid", path or "<nil>", value, detail)


def type_invalid(path: str, value: Any, detail: str) -> FieldError:
    """A value of a wrong type."""
    return FieldError("FieldValueTypeInvalid", path or "<nil>", value, detail)


def required(path: str, detail: str = "") -> FieldError:
    """A value that is missing."""
    return FieldError("FieldValueRequired", path or "<nil>", "", detail)


def forbidden(path: str, detail: str) -> FieldError:
    """A value that may not be there."""
    return FieldError("FieldValueForbidden", path or "<nil>", "", detail)


def duplicate(path: str, value: Any) -> FieldError:
    """A value that is there twice."""
    return FieldError("FieldValueDuplicate", path or "<nil>", value)


def not_found(path: str, value: Any, detail: str = "") -> FieldError:
    """A value that names nothing."""
    return FieldError("FieldValueNotFound", path or "<nil>", value, detail)


def not_supported(path: str, value: Any, supported: Sequence[str]) -> FieldError:
    """A value that is none of a list."""
    detail = "supported values: " + ", ".join(map(quoted, supported)) if supported else ""
    return FieldError("FieldValueNotSupported", path or "<nil>", value, detail)


def too_long(path: str, most: int) -> FieldError:
    """A text of more than `most`. The server says bytes also where it counts characters."""
    return FieldError(
        "FieldValueTooLong", path or "<nil>", "", f"may not be more than {most} byte{'' if most == 1 else 's'}"
    )


def too_many(path: str, actual: int, most: int) -> FieldError:
    """More than `most` items or names."""
    return FieldError(
        "FieldValueTooMany", path or "<nil>", actual, f"must have at most {most} item{'' if most == 1 else 's'}"
    )
