"""Reconcile loops: what a controller is, one pass over one object, and the loop around it."""

__all__ = [
    "BoundController",
    "Context",
    "ControllerSpec",
    "DeadlineExceeded",
    "FunctionController",
    "NotYours",
    "Result",
    "Retry",
    "SyncContext",
    "Terminal",
    "after",
    "bind",
    "controller",
    "done",
]

from .blocking import SyncContext
from .context import Context
from .describe import BoundController, ControllerSpec, FunctionController, bind, controller
from .outcome import Result, Retry, Terminal, after, done
from .reconciler import DeadlineExceeded
from .status import NotYours
