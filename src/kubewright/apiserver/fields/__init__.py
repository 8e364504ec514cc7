"""Who owns which field: managed fields and server-side apply. Pure."""

__all__ = ["FieldManagers", "FieldTypes"]

from .manager import FieldManagers
from .types import FieldTypes
