"""Admission: who has a say in writes after they are decoded. `AdmissionControl` puts it together."""

__all__ = ["AdmissionControl"]

from .control import AdmissionControl
