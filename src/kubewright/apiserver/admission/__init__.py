"""Admission: who has a say in writes after they are decoded. `AdmissionControl` puts it together."""

__all__ = ["AdmissionControl", "Plugin", "World"]

from .control import AdmissionControl
from .plugins import Plugin, World
