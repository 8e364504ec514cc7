"""Who owns which field: managed fields and server-side apply. Pure."""

__all__ = ["FieldManagers", "FieldTypes", "Replicas", "from_scale", "to_scale"]

from .manager import FieldManagers
from .scaling import Replicas, from_scale, to_scale
from .types import FieldTypes
