"""Namespaces and what is in them: nothing is created where there is no namespace, or where it is going away.

The rules of the NamespaceLifecycle admission plugin, which no server runs without. Catalogs without namespaces have no
such rule.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import Named, StatusError, forbidden, not_found
from .call import Call, resource_key

__all__ = ["IMMORTAL", "check_deletion", "check_namespace"]

IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})
_NAMESPACES: Final = resource_key("", "namespaces")


class _Namespaces:
    group, plural, kind = "", "namespaces", "Namespace"


_TYPE: Final[Named] = _Namespaces()


def check_namespace(call: Call, meta: dict[str, Any]) -> None:
    """Raises StatusError: the namespace of a new object is not there, or takes nothing new."""
    namespace = call.namespace
    if not namespace or call.backend.catalog.find("", "v1", "namespaces") is None:
        return
    found = call.backend.store.get(_NAMESPACES, namespace)
    if found is None:
        raise not_found(_TYPE, namespace)
    if (found.object.get("status") or {}).get("phase") == "Terminating":
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        name = call.route.name or meta.get("name") or meta.get("generateName") or "Unknown"
        raise forbidden(call.kind, name, why, causes=[cause])


def check_deletion(call: Call, name: str) -> None:
    """Raises StatusError: a namespace that no server is without."""
    if call.kind.plural == "namespaces" and not call.kind.group and name in IMMORTAL:
        raise _immortal(call, name)


def _immortal(call: Call, name: str) -> StatusError:
    return forbidden(call.kind, name, "this namespace may not be deleted")
