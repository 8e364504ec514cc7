"""The core kinds."""

from __future__ import annotations

from typing import Final

from kubewright.schema.structural.metarules import dns_label

from ..rules import Rules
from .pods import POD
from .services import SERVICE

__all__ = ["RULES"]

RULES: Final[dict[tuple[str, str], Rules]] = {
    ("v1", "Pod"): Rules(**POD),
    ("v1", "Service"): Rules(name_rule=dns_label, **SERVICE),
}
