"""The scale subresource of a custom resource: a view of three paths of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import StatusError

__all__ = ["CustomScale"]

_SHOWN: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class CustomScale:
    """Scale of autoscaling/v1, by the paths of the definition."""

    def __init__(self, paths: Mapping[str, Any]) -> None:
        self._spec = _steps(paths.get("specReplicasPath"))
        self._status = _steps(paths.get("statusReplicasPath"))
        self._selector = _steps(paths.get("labelSelectorPath"))

    def read(self, obj: dict[str, Any]) -> dict[str, Any]:
        meta = obj["metadata"]
        replicas = _at(obj, self._spec)
        if replicas is None:
            raise self._missing(meta["name"])
        status: dict[str, Any] = {"replicas": _at(obj, self._status) or 0}
        selector = _at(obj, self._selector) if self._selector else None
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
        here = obj
        for step in self._spec[:-1]:
            below = here.get(step)
            if not isinstance(below, dict):
                below = here[step] = {}
            here = below
        here[self._spec[-1]] = replicas
        return obj

    def _missing(self, name: str) -> StatusError:
        path = "." + ".".join(self._spec)
        said = f"the spec replicas field {path!r} does not exist".replace("'", '"')
        return StatusError(500, "InternalError", f"Internal error occurred: {said}", {"causes": [{"message": said}]})


def _steps(path: Any) -> tuple[str, ...]:
    return tuple(str(path).removeprefix(".").split(".")) if path else ()


def _at(obj: dict[str, Any], steps: tuple[str, ...]) -> Any:
    value: Any = obj
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value
