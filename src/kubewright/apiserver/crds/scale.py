"""The scale subresource of a custom resource: a view of three paths of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubewright.schema.structural.gotext import quoted

from ..errors import StatusError, bad_request
from .paths import at, steps_of

__all__ = ["CustomScale"]

_NONE: Final = -(2**31)
"""Stands for replicas that are not there, while a Scale is written."""
_SHOWN: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class CustomScale:
    """Scale of autoscaling/v1, by the paths of the definition.

    Args:
        paths: of the version.
        all_paths: of all versions, by `apiVersion`; empty for one without a scale.
    """

    def __init__(self, paths: Mapping[str, Any], all_paths: Mapping[str, Mapping[str, Any]]) -> None:
        self.replicas = {
            version: tuple(f"f:{step}" for step in steps_of(each.get("specReplicasPath", ""))) or None
            for version, each in all_paths.items()
        }
        self._spec = steps_of(paths.get("specReplicasPath") or "")
        self._status = steps_of(paths.get("statusReplicasPath") or "")
        self._selector = steps_of(paths.get("labelSelectorPath") or "")

    def read(self, obj: dict[str, Any], *, is_write: bool = False) -> dict[str, Any]:
        meta = obj["metadata"]
        replicas = at(obj, self._spec)
        if replicas is None:
            if not is_write:
                raise self._missing()
            replicas = _NONE
        status: dict[str, Any] = {"replicas": at(obj, self._status) or 0}
        selector = at(obj, self._selector) if self._selector else None
        if selector:
            status["selector"] = selector
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {name: meta[name] for name in _SHOWN if name in meta},
            "spec": {"replicas": replicas} if replicas else {},
            "status": status,
        }

    def write(self, view: dict[str, Any], obj: dict[str, Any]) -> dict[str, Any]:
        # Whether it may be that many is asked when the object is validated.
        replicas = (view.get("spec") or {}).get("replicas") or 0
        if replicas == _NONE:
            raise bad_request(f"the spec replicas field {quoted(self._path)} cannot be empty")
        here = obj
        for step in self._spec[:-1]:
            below = here.get(step)
            if not isinstance(below, dict):
                below = here[step] = {}
            here = below
        here[self._spec[-1]] = replicas
        return obj

    @property
    def _path(self) -> str:
        return "." + ".".join(self._spec)

    def _missing(self) -> StatusError:
        said = f"the spec replicas field {quoted(self._path)} does not exist"
        return StatusError(500, "InternalError", f"Internal error occurred: {said}", {"causes": [{"message": said}]})
