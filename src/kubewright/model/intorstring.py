"""`IntOrString`: a number of things, a percentage of them, or the name of a port (`apimachinery/pkg/util/intstr`).

It is a plain union: JSON tells the two apart, and so does `isinstance`. `resolve_percent` is what Deployments and
PodDisruptionBudgets do with it.
"""

from __future__ import annotations

import math
import re
from typing import Final, TypeAlias

__all__ = ["IntOrString", "resolve_percent"]

IntOrString: TypeAlias = int | str

_PERCENT: Final = r"([+-]?[0-9]{1,18})%"


def resolve_percent(value: IntOrString, total: int, round_up: bool) -> int:
    """How many of `total` are meant: `resolve_percent("25%", 3, round_up=True) == 1`. A number stands for itself.

    Deployments round `maxSurge` up and `maxUnavailable` down. As intstr.GetScaledValueFromIntOrPercent, neither the
    percentage nor the result is held between 0 and `total`.

    Raises:
        ValueError: a text that is not a percentage.
        TypeError: neither a number nor a text.
    """
    if type(value) is int:
        return value
    if type(value) is not str:
        raise TypeError(f"{value!r}: is neither a number nor a text; write 3 or '25%'")
    match = re.fullmatch(_PERCENT, value)
    if match is None:
        raise ValueError(f"{value!r}: is not a percentage; write a number such as 3, or a text such as '25%'")
    share = float(int(match.group(1))) * float(total) / 100
    return math.ceil(share) if round_up else math.floor(share)
