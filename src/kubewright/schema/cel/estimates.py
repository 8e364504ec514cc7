"""The static cost of single functions: extensions by overload, Kubernetes' functions by name.

Rule: cel-go ext/lists.go, ext/sets.go; apiserver/pkg/cel/library/cost.go. A change here changes which CRDs a server is
said to accept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from .costs import CREATE_LIST, REGEX_FACTOR, STRING_FACTOR
from .nodes import Literal, Node
from .sizes import LARGEST, UNKNOWN, Range, fixed
from .types import Type

__all__ = ["Estimate", "Part", "estimate_call"]

_FORMAT_SIZE: Final = 64
_REGEX_SIZE: Final = 128
_ONE: Final = fixed(1)


class Estimate(NamedTuple):
    """A cost, and the size of the result where it is known."""

    cost: Range
    size: Range | None = None


class Part(NamedTuple):
    """A receiver or argument."""

    path: tuple[str, ...]
    type: Type
    known: Range | None
    node: Node | None
    size_of: Callable[[tuple[str, ...]], Range | None]

    @property
    def size(self) -> Range:
        known = self.known
        if known is None and self.path:
            known = self.size_of(self.path)
        return UNKNOWN if known is None else known

    def items(self) -> Part | None:
        """What the first parameter of the type is: the items of a list, the keys of a map."""
        if not self.type.params:
            return None
        return Part((*self.path, "@items") if self.path else (), self.type.params[0], None, None, self.size_of)

    def literal(self, otherwise: int) -> int:
        value = self.node.value if isinstance(self.node, Literal) else None
        return max(value, 0) if value.__class__ is int else otherwise


def estimate_call(function: str, overload: str, target: Part | None, args: list[Part]) -> Estimate | None:
    """The cost of a call without its arguments; None for what the core knows."""
    found = _of_overload(overload, target, args)
    if found is not None:
        return found
    if function in _CONSTANT:
        return Estimate(fixed(_CONSTANT[function]))
    if function == "_==_":
        return _equality(args)
    special = _BY_FUNCTION.get(function)
    return None if special is None else special(overload, target, args)


# -- extensions -------------------------------------------------------------------------------------------------------


def _allocating(factor: float, size: Range) -> Estimate:
    return Estimate(size.scaled(factor).plus(_ONE).plus(fixed(CREATE_LIST)), size)


def _of_overload(overload: str, target: Part | None, args: list[Part]) -> Estimate | None:
    match overload:
        case "list_sets_contains_list" | "list_sets_intersects_list":
            return Estimate(args[0].size.times(args[1].size).scaled(1).plus(_ONE))
        case "list_sets_equivalent_list":
            return Estimate(args[0].size.times(args[1].size).scaled(2).plus(_ONE))
        case "lists_range":
            return _allocating(1, fixed(args[0].literal(LARGEST)))
    if target is None:
        return None
    match overload:
        case "list_slice":
            return _allocating(1, fixed((args[1].literal(target.size.high) - args[0].literal(0)) & LARGEST))
        case "list_reverse":
            return _allocating(1, target.size)
        case "list_flatten":
            return _allocating(1, target.size)
        case "list_flatten_int":
            return _allocating(float(args[0].literal(LARGEST)), target.size)
        case "list_distinct":
            return _allocating(2, target.size.times(target.size))
    if overload.startswith("list_") and overload.endswith(("_sort", "_sortByAssociatedKeys")):
        sorted_by = args[0] if args else target
        factor = 2 + STRING_FACTOR if overload.split("_")[1] in ("string", "bytes") else 2.0
        return _allocating(factor, sorted_by.size.times(sorted_by.size))
    return None


# -- Kubernetes -------------------------------------------------------------------------------------------------------

_ACCESSORS: Final = (
    *("serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason"),
    *("error", "errored", "masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
    *("isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger", "asApproximateFloat"),
    *("isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch", "getScheme", "getHostname"),
    *("getHost", "getPort", "getEscapedPath", "getQuery"),
)
_CONSTANT: Final = {**dict.fromkeys(_ACCESSORS, 1), "check": 350_000}

Special = Callable[[str, Part | None, list[Part]], Estimate | None]


def _selector(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
    if len(args) != 1:
        return None
    length = args[0].size
    requirements = length.scaled(0.5).scaled(50)
    return Estimate(fixed(CREATE_LIST).plus(length.scaled(STRING_FACTOR)).plus(requirements))


def _search(function: str) -> Special:
    def run(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
        if target is None:
            return None
        each = _ONE
        items = target.items()
        if items is not None:
            if items.type.kind in ("string", "bytes"):
                each = each.plus(items.size.scaled(STRING_FACTOR))
        elif function != "includes":
            return Estimate(target.size.scaled(STRING_FACTOR))
        return Estimate(target.size.times(each))

    return run


def _of_first(factor: float, keep_size: bool) -> Special:
    def run(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
        if not args:
            return None
        return Estimate(args[0].size.scaled(factor), args[0].size if keep_size else None)

    return run


def _of_target(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
    return None if target is None else Estimate(target.size.scaled(STRING_FACTOR), target.size)


def _replace(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.size, args[0].size, args[1].size
    if old.low == 0:
        most, kept_most = min(size.high + 1, LARGEST), size.high
    elif new.high <= old.low:
        most, kept_most = 0, size.high
    else:
        most, kept_most = math.ceil(float(size.high) / float(old.low)), 0
    if old.high == 0:
        least, kept_least = min(size.low + 1, LARGEST), size.low
    elif old.high <= new.low:
        least, kept_least = 0, size.low
    else:
        least, kept_least = math.ceil(float(size.low) / float(old.high)), 0
    result = Range(least, most).times(new).plus(Range(kept_least, kept_most))
    return Estimate(size.scaled(2 * STRING_FACTOR), result)


def _split(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
    if target is None:
        return None
    most = target.size.high
    if len(args) > 1 and isinstance(args[1].node, Literal) and args[1].node.value.__class__ is int:
        most = args[1].node.value & LARGEST
    return Estimate(target.size.scaled(2 * STRING_FACTOR), Range(0, most))


def _join(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
    if target is None:
        return None
    items = target.items()
    size = fixed(0) if items is None else target.size.times(items.size)
    if args:
        between = Range(max(target.size.low - 1, 0), max(target.size.high - 1, 0))
        size = size.plus(args[0].size.times(between))
    return Estimate(size.scaled(STRING_FACTOR), size)


def _find(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
    if target is None or not args:
        return None
    text = target.size.plus(_ONE).scaled(STRING_FACTOR)
    return Estimate(text.times(args[0].size.scaled(REGEX_FACTOR)), Range(0, target.size.high))


def _ip(overload: str, target: Part | None, args: list[Part]) -> Estimate | None:
    if overload == "cidr_ip":
        return Estimate(_ONE)
    return Estimate(args[0].size.scaled(STRING_FACTOR)) if args else None


_IP_SIZE: Final = Range(4, 16)


def _contains_ip(overload: str, target: Part | None, args: list[Part]) -> Estimate | None:
    cost = _IP_SIZE.plus(_IP_SIZE).scaled(STRING_FACTOR)
    if overload == "cidr_contains_ip_string":
        cost = cost.plus(args[0].size.scaled(STRING_FACTOR))
    return Estimate(cost)


def _contains_cidr(overload: str, target: Part | None, args: list[Part]) -> Estimate | None:
    cost = _IP_SIZE.plus(_IP_SIZE).scaled(STRING_FACTOR).plus(_IP_SIZE.scaled(STRING_FACTOR)).plus(_ONE)
    if overload == "cidr_contains_cidr_string":
        cost = cost.plus(args[0].size.scaled(STRING_FACTOR))
    return Estimate(cost)


def _validate(_: str, target: Part | None, args: list[Part]) -> Estimate | None:
    if not args:
        return None
    return Estimate(args[0].size.scaled(STRING_FACTOR).scaled(_REGEX_SIZE * REGEX_FACTOR))


def _equality(args: list[Part]) -> Estimate | None:
    if len(args) != 2 or args[0].type != args[1].type:
        return None
    name = args[0].type.name
    if name in ("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver") or name.startswith(
        "kubernetes.authorization."
    ):
        return Estimate(_ONE)
    if name == "kubernetes.NamedFormat":
        return Estimate(Range(1, _FORMAT_SIZE).scaled(STRING_FACTOR))
    if name == "kubernetes.URL":
        most = args[1].known.high if args[1].known is not None else 1
        return Estimate(Range(1, most).scaled(STRING_FACTOR))
    return None


_BY_FUNCTION: Final[dict[str, Special]] = {
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **{name: _search(name) for name in ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes")},
    "url": _of_first(STRING_FACTOR, True),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _of_target),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _of_first(STRING_FACTOR, False)
    ),
    "ip": _ip,
    "ip.isCanonical": _of_first(2 * STRING_FACTOR, False),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
}
