"""The verbs, for any resource type: what kinds share. Each module is one verb or one thing that verbs share."""

__all__ = ["Admission", "Attributes", "Backend", "Call", "FieldManager"]

from .backend import Admission, Attributes, Backend, FieldManager
from .call import Call
