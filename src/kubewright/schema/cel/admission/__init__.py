"""CEL of admission: match conditions, validating and mutating policies, and the check of a policy's types.

No I/O and no objects of Kubernetes: a policy is its `spec` as JSON data, a request is an `AdmissionRequest`, objects
are dicts. Who matches resources, reads parameters and acts on decisions is above.
"""

__all__ = [
    "AdmissionInputs",
    "AdmissionRequest",
    "AuditAnnotation",
    "Decision",
    "ExpressionWarning",
    "GroupVersionKind",
    "GroupVersionResource",
    "MatchConditions",
    "MatchResult",
    "MutatingPolicy",
    "Mutation",
    "PolicyError",
    "UserInfo",
    "ValidatingPolicy",
    "ValidationResult",
    "admission_environment",
    "check_types",
]

from .environment import admission_environment
from .expressions import PolicyError
from .matching import MatchConditions, MatchResult
from .mutating import MutatingPolicy, Mutation
from .request import AdmissionInputs, AdmissionRequest, GroupVersionKind, GroupVersionResource, UserInfo
from .typecheck import ExpressionWarning, check_types
from .validating import AuditAnnotation, Decision, ValidatingPolicy, ValidationResult
