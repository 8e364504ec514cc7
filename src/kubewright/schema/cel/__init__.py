"""The Common Expression Language, as Kubernetes has it: checked, compiled to Python, with the server's costs."""

__all__ = [
    "CelError",
    "CompileError",
    "CostLimitExceeded",
    "Environment",
    "EvaluationError",
    "EvaluationStopped",
    "Interrupted",
    "Issue",
    "Program",
    "compile",
]

from .environment import Environment
from .errors import (
    CelError,
    CompileError,
    CostLimitExceeded,
    EvaluationError,
    EvaluationStopped,
    Interrupted,
    Issue,
)
from .program import Program, compile  # noqa: A004
