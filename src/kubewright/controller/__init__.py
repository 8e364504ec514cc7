"""Reconcile loops: what a controller is, what wakes it, one pass over one object, and the loop around it.

What only some controllers need is one level down, and in `kubewright` itself: predicates in
`kubewright.controller.predicates`, watches, sources and timers in `kubewright.controller.sources` and `watching`.
"""

__all__ = [
    "BoundController",
    "Cause",
    "Change",
    "Context",
    "ControllerSpec",
    "DeadlineExceeded",
    "FunctionController",
    "Lookup",
    "NotYours",
    "Predicate",
    "Result",
    "Retry",
    "SourceContext",
    "SyncContext",
    "Terminal",
    "after",
    "bind",
    "controller",
    "done",
    "every",
    "owned",
    "source",
    "watches",
]

from .blocking import SyncContext
from .cause import Cause
from .context import Context
from .describe import BoundController, ControllerSpec, FunctionController, bind, controller
from .lookup import Lookup
from .outcome import Result, Retry, Terminal, after, done
from .predicates import Change, Predicate
from .reconciler import DeadlineExceeded
from .sources import SourceContext, every
from .status import NotYours
from .watching import owned, source, watches
