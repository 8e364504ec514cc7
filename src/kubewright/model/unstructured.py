"""Objects of kinds that have no class in this program.

`unstructured("example.com/v1", "Web")` is a class like any other: it can be got, listed, watched, owned and applied.
Metadata is typed as everywhere; the rest of the object is plain decoded JSON in `content`.
"""

from __future__ import annotations

from typing import Any

from .base import ModelMeta, field
from .gvk import GroupVersionKind
from .resource import Object, ResourceInfo, describe_as

__all__ = ["Unstructured", "unstructured"]


class Unstructured(Object, dict=True):
    """An object as decoded JSON: `obj["spec"]["replicas"]`. `content` is all but apiVersion, kind and metadata."""

    content: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.content[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.content[name] = value

    def __contains__(self, name: object) -> bool:
        return name in self.content

    def get(self, *path: str, default: Any = None) -> Any:
        """The value at a path of names, or `default` where a part of it is absent: `obj.get("status", "phase")`."""
        value: Any = self.content
        for name in path:
            if not isinstance(value, dict) or name not in value:
                return default
            value = value[name]
        return value


def unstructured(
    api_version: str, kind: str, *, plural: str = "", namespaced: bool = True, status: bool = True
) -> type[Unstructured]:
    """A class for objects of a kind that is known by name only.

    Args:
        plural: the name in URLs; when it is empty, the client asks the server's discovery for it and for the scope.

    Raises:
        ValueError: `api_version` is malformed.
    """
    gvk = GroupVersionKind.of(api_version, kind)
    made: type[Unstructured] = ModelMeta(kind, (Unstructured,), {"__module__": __name__})
    describe_as(
        made,
        ResourceInfo(
            group=gvk.group,
            version=gvk.version,
            kind=kind,
            plural=plural,
            namespaced=namespaced,
            singular=kind.lower(),
            list_kind=f"{kind}List",
            status=status,
        ),
    )
    return made
