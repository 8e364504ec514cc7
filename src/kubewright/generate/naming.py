"""Names: from the wire's to Python's, always the same way.

| on the wire | in Python | rule |
|---|---|---|
| `clusterIP`, `openAPIV3Schema` | `cluster_ip`, `open_api_v3_schema` | an acronym is one word |
| `externalIPs`, `podCIDRs` | `external_ips`, `pod_cidrs` | so is its plural |
| `enableIPv6`, `oAuth2`, `gRPC` | `enable_ipv6`, `oauth2`, `grpc` | and `IPv4`, `IPv6`, `OAuth`, `gRPC`, `mTLS` |
| `x-kubernetes-validations` | `x_kubernetes_validations` | what no identifier can hold is an underscore |
| `from`, `continue` | `from_`, `continue_` | a keyword gets an underscore at its end, |
| `bool`, `list` | `bool_`, `list_` | so does a name that the annotations of the same class need, |
| `$ref` | `ref_` | and one that had a dollar sign |
| `2fa` | `field_2fa` | no name starts with a digit |

Where two fields of one object come to one name, as `fooBar` and `foo_bar`, the plain name goes to the one that needs no
renaming, then to the first; the other becomes `foo_bar_2`.

`needs_rename` asks msgspec itself, so that what is written in a module and what msgspec does cannot drift apart.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from functools import cache
from typing import Final

import msgspec

__all__ = [
    "can_be_field",
    "class_name",
    "distinct",
    "field_names",
    "module_path",
    "needs_rename",
    "snake_case",
    "version_module",
]

_PLURAL_ACRONYM: Final = re.compile(r"([A-Z]{2,})s(?=[A-Z_]|$)")
_ONE_WORD: Final = re.compile(r"IPv(?=[46])|[oO]Auth|gRPC|mTLS")
_VERSION: Final = re.compile(r"([A-Z])(V[0-9])")
_ACRONYM_END: Final = re.compile(r"([A-Z]+)([A-Z][a-z])")
_WORD_START: Final = re.compile(r"([a-z0-9])([A-Z])")
_NOT_A_LETTER: Final = re.compile(r"[^0-9A-Za-z]+")

_TAKEN: Final = frozenset({"bool", "bytes", "datetime", "dict", "field", "float", "int", "list", "str", "tuple"})
"""Names that the annotations and defaults of a generated class mean something by."""


def snake_case(wire: str) -> str:
    """The Python name of a wire field, without regard to the other fields of its object."""
    text = _NOT_A_LETTER.sub("_", wire)
    text = _ONE_WORD.sub(lambda match: match.group().capitalize(), text)
    text = _PLURAL_ACRONYM.sub(lambda match: match.group(1).capitalize() + "s", text)
    text = _VERSION.sub(r"\1_\2", text)
    text = _ACRONYM_END.sub(r"\1_\2", text)
    name = _WORD_START.sub(r"\1_\2", text).lower().strip("_")
    if not name or name[0].isdigit():
        name = f"field_{name}"
    if keyword.iskeyword(name) or name in _TAKEN or wire.startswith("$"):
        name += "_"
    return name


@cache
def needs_rename(name: str, wire: str) -> bool:
    """Whether a Model has to be told that `name` is `wire` in JSON."""
    made = msgspec.defstruct("Probe", [name], rename="camel")
    return made.__struct_encode_fields__ != (wire,)


def can_be_field(wire: str) -> bool:
    """Whether a Model can have a field of that name on the wire: msgspec takes no names that JSON has to escape."""
    return not any(letter in '"\\' or letter < " " for letter in wire)


def field_names(wires: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Wire name to Python name for the fields of one object, each distinct and none of `taken`. The order is kept."""
    wanted = {wire: snake_case(wire) for wire in wires}
    names: dict[str, str] = {}
    for wire in sorted(wanted, key=lambda wire: (needs_rename(wanted[wire], wire), wire)):
        names[wire] = distinct(wanted[wire], {*taken, *names.values()}, "_")
    return {wire: names[wire] for wire in wanted}


def distinct(name: str, taken: Iterable[str], separator: str = "") -> str:
    """`name`, or `name2`, `name3`, ... where it is taken."""
    used, number, found = set(taken), 1, name
    while found in used:
        number += 1
        found = f"{name}{separator}{number}"
    return found


def class_name(*parts: str) -> str:
    """One class name of several wire names: `("Web", "spec", "tls-config")` -> `WebSpecTlsConfig`."""
    words = [word for part in parts for word in _NOT_A_LETTER.split(part) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    if not name or name[0].isdigit() or keyword.iskeyword(name):
        name = f"Class{name}"
    return name


def module_path(groups: Iterable[str]) -> dict[str, str]:
    """API group to the name of its package: its first label, or as many as it takes to tell it from the others.

    `networking.k8s.io` -> `networking`, the core group -> `core`.
    """
    wanted = sorted(set(groups))
    labels = {group: [_identifier(label) for label in group.split(".")] if group else ["core"] for group in wanted}
    depth = dict.fromkeys(wanted, 1)
    while True:
        by_name: dict[str, list[str]] = {}
        for group in wanted:
            by_name.setdefault("_".join(labels[group][: depth[group]]), []).append(group)
        clashing = [g for same in by_name.values() if len(same) > 1 for g in same if depth[g] < len(labels[g])]
        if not clashing:
            return {
                group: f"{name}_{number}" if number > 1 else name
                for name, same in by_name.items()
                for number, group in enumerate(same, 1)
            }
        for group in clashing:
            depth[group] += 1


def version_module(version: str) -> str:
    """API version to the name of its module: itself, for versions as Kubernetes writes them."""
    return _identifier(version)


def _identifier(label: str) -> str:
    name = _NOT_A_LETTER.sub("_", label).lower()
    return f"group_{name}" if not name or name[0].isdigit() or keyword.iskeyword(name) else name
