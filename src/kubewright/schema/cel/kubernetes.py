"""Kubernetes' environment, as of 1.37: which libraries are in it, and what their functions cost at run time.

Two environments: `stored()` has everything a server of this version runs; `new()` is what it lets into new objects,
which is what the version before could run too. Rule: apiserver/pkg/cel/environment/base.go, library/cost.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from .. import re2
from .clock import parse_duration, parse_timestamp
from .costs import RuntimeCost, ceil_tenth, regex_cost, size_of
from .effort import check_effort
from .environment import Environment, StructType
from .k8s_authz import AUTHZ, AUTHZ_SELECTORS
from .k8s_formats import FORMAT
from .k8s_lists import K8S_LISTS, REGEX, REGEX_PREPARE
from .k8s_mutation import JSON_PATCH, patch_struct
from .k8s_net import CIDR_LIBRARY, IP_LIBRARY
from .k8s_numbers import QUANTITY, SEMVER
from .k8s_urls import URLS
from .lists import LIST_COSTS, LISTS, SETS, TWO_VARIABLES
from .signatures import Library
from .stdlib import OPTIONALS, STANDARD
from .strings import STRINGS

__all__ = ["CHECK_COST", "MATCH_CONDITIONS_LIMIT", "PER_CALL_LIMIT", "PER_OBJECT_LIMIT", "new", "patching", "stored"]

Structs = Callable[[str], StructType | None]

#: Costs of one evaluation and of all evaluations for one object.
PER_CALL_LIMIT: Final = 1_000_000
PER_OBJECT_LIMIT: Final = 10_000_000
#: Of all match conditions of one webhook or policy.
MATCH_CONDITIONS_LIMIT: Final = 2_500_000
CHECK_COST: Final = 350_000


def _traversal(value: Any) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * 0.1)
    if isinstance(value, bytes):
        return int(len(value) * 0.1)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, dict):
        return sum(_traversal(key) + _traversal(each) for key, each in value.items())
    return 1


def _target(args: tuple[Any, ...], _: Any) -> int:
    check_effort(args[0])
    return _traversal(args[0])


def _once(args: tuple[Any, ...], _: Any) -> int:
    return ceil_tenth(size_of(args[0]))


def _twice(args: tuple[Any, ...], _: Any) -> int:
    return ceil_tenth(size_of(args[0]) * 2)


def _find(args: tuple[Any, ...], _: Any) -> int:
    return regex_cost(size_of(args[0]), size_of(args[1]))


def _contains_ip(args: tuple[Any, ...], _: Any) -> int:
    parse = ceil_tenth(size_of(args[1])) if isinstance(args[1], str) else 0
    return ceil_tenth(size_of(args[0]) * 2) + parse


def _contains_cidr(args: tuple[Any, ...], result: Any) -> int:
    return _contains_ip(args, result) + ceil_tenth(size_of(args[0])) + 1


def _validate(args: tuple[Any, ...], _: Any) -> int:
    return regex_cost(size_of(args[1]), args[0].regex_size)


def _selector(args: tuple[Any, ...], _: Any) -> int:
    length = size_of(args[1])
    return 10 + ceil_tenth(length) + math.ceil(length / 2) * 50


#: By function, for all its overloads in Kubernetes' libraries and the extensions.
_BY_FUNCTION: Final[dict[str, RuntimeCost]] = {
    "check": lambda _args, _: CHECK_COST,
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _target),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _once),
    **dict.fromkeys(("replace", "split"), _twice),
    "join": lambda _, result: ceil_tenth(size_of(result) * 2),
    "find": _find,
    "findAll": _find,
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "ip"), _once),
    "ip.isCanonical": _twice,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _once),
    "validate": _validate,
}
_COSTED: Final = (
    STRINGS,
    K8S_LISTS,
    REGEX,
    URLS,
    QUANTITY,
    IP_LIBRARY,
    CIDR_LIBRARY,
    FORMAT,
    SEMVER,
    AUTHZ,
    AUTHZ_SELECTORS,
)


def _costs() -> dict[str, RuntimeCost]:
    found = dict(LIST_COSTS)
    for library in _COSTED:
        for overload in library.overloads():
            cost = _BY_FUNCTION.get(overload.function)
            if cost is not None and overload.id != "cidr_ip":
                found[overload.id] = cost
    return found


def _literal(check: Callable[[str], Any], function: str) -> Callable[[str], None]:
    def run(text: str) -> None:
        try:
            check(text)
        except ValueError:
            raise ValueError(f"invalid {function} argument") from None

    return run


_LITERAL_CHECKS: Final = {
    "duration": _literal(parse_duration, "duration"),
    "timestamp": _literal(parse_timestamp, "timestamp"),
    "matches": _literal(re2.compile, "matches"),
}

#: In the order in which the server adds them: errors and results of several overloads follow it.
_LIBRARIES: Final = (
    STANDARD, URLS, REGEX, AUTHZ, OPTIONALS, QUANTITY, STRINGS, SETS, IP_LIBRARY, CIDR_LIBRARY, FORMAT,
    AUTHZ_SELECTORS, TWO_VARIABLES, SEMVER, LISTS,
)  # fmt: skip


def _environment(lists: Library, *more: Library, structs: Structs | None = None) -> Environment:
    return Environment(
        (*_LIBRARIES, lists, *more),
        costs=_costs(),
        literal_checks=_LITERAL_CHECKS,
        prepare=REGEX_PREPARE,
        structs=structs,
    )


@cache
def stored() -> Environment:
    """Everything that a server of this version can evaluate. Variables are to be added."""
    return _environment(K8S_LISTS)


@cache
def new() -> Environment:
    """What a server of this version lets into new objects: no `includes`, which is new in 1.37."""
    return _environment(_old_lists())


def _old_lists() -> Library:
    return Library(K8S_LISTS.name, [each for each in K8S_LISTS.functions if each[1] != ".includes"])


@cache
def patching(*, is_new: bool = False) -> Environment:
    """That of mutations: what `stored` or `new` has, `jsonpatch.escapeKey`, and the types of patches."""
    return _environment(_old_lists() if is_new else K8S_LISTS, JSON_PATCH, structs=patch_struct)
