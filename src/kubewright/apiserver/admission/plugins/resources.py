"""What the containers of a Pod ask for together: lists of resources as quantities by name.

Init containers run before the others, so the largest of them counts, beside those that go on as sidecars; what is said
for the Pod as a whole takes the place of the sums. Rules: component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from kubewright.model.quantity import Quantity

from .world import Object

__all__ = ["Amounts", "amounts", "pod_amounts", "sum_of"]

Amounts = dict[str, Quantity]
_OF_PODS: Final = ("cpu", "memory")


def amounts(found: Mapping[str, str] | None) -> Amounts:
    """A list of resources as it is written."""
    return {name: Quantity(value) for name, value in (found or {}).items()}


def sum_of(one: Amounts, other: Amounts) -> Amounts:
    """Both together."""
    return {name: one.get(name, _ZERO) + other.get(name, _ZERO) for name in {**one, **other}}


_ZERO: Final = Quantity(0)


def _most_of(one: Amounts, other: Amounts) -> Amounts:
    made = dict(one)
    for name, value in other.items():
        if name not in made or value > made[name]:
            made[name] = value
    return made


def pod_amounts(pod: Object, part: Literal["requests", "limits"], *, overhead: bool = False) -> Amounts:
    """The requests or limits of a Pod."""
    spec = pod["spec"]
    total = _total(spec.get("containers") or (), part)
    first: Amounts = {}
    sidecars: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = amounts((container.get("resources") or {}).get(part))
        if container.get("restartPolicy") == "Always":
            total, sidecars = sum_of(total, own), sum_of(sidecars, own)
            own = sidecars
        else:
            own = sum_of(own, sidecars)
        first = _most_of(first, own)
    total = _most_of(total, first)
    whole = amounts((spec.get("resources") or {}).get(part))
    total |= {name: whole[name] for name in _OF_PODS if name in whole}
    if overhead and (extra := amounts(spec.get("overhead"))):
        total = sum_of(total, {name: each for name, each in extra.items() if part == "requests" or name in total})
    return total


def _total(containers: Iterable[Object], part: str) -> Amounts:
    made: Amounts = {}
    for container in containers:
        made = sum_of(made, amounts((container.get("resources") or {}).get(part)))
    return made
