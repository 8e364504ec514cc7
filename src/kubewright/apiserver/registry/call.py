"""One request on its way through the registry: what is asked of what, by whom, and what is said along the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from ..catalog import ResourceType, Subresource
from ..representation import Representation
from ..request import Request, Response
from ..routes import Route
from ..strategy import Context, Strategy
from .backend import Admission, Attributes, Backend, Operation

__all__ = ["Call", "resource_key"]


def resource_key(group: str, plural: str) -> str:
    """Under which name a resource is in the store."""
    return f"{group}/{plural}"


class Call(Struct):
    """One request for a resource.

    `strategy` is that of the subresource where the request is for one with rules of its own.
    """

    backend: Backend
    request: Request
    kind: ResourceType
    route: Route
    verb: str
    representation: Representation
    subresource: Subresource | None = None
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    """What admission has to say in the audit event of the request."""

    @property
    def strategy(self) -> Strategy:
        if self.subresource is not None and self.subresource.strategy is not None:
            return self.subresource.strategy
        return self.kind.strategy

    @property
    def namespace(self) -> str:
        """Of the request; empty for what has none (a Namespace is in no namespace)."""
        return self.route.namespace if self.kind.namespaced else ""

    @property
    def resource(self) -> str:
        """The name of the collection in the store."""
        return resource_key(self.kind.storage.group, self.kind.storage.plural)

    def key(self, name: str) -> str:
        """Where an object of the request's namespace is in the store."""
        return f"{self.route.namespace}/{name}" if self.kind.namespaced else name

    def shown_key(self, name: str, *, is_dry_run: bool = False) -> str:
        """Where the real server has it, for messages that show it; a dry run does not know the prefix of the store."""
        storage = self.kind.storage
        folder = _FOLDERS.get((storage.group, storage.plural), storage.plural)
        parts = ["" if is_dry_run else self.backend.storage_prefix, folder]
        if self.kind.is_custom or storage.group in _GROUPED:
            parts.insert(1, storage.group)
        return "/".join([*parts, self.key(name)])

    def of(self, namespace: str, name: str) -> Call:
        """The same call for one object, with warnings of its own."""
        return replace(self, route=self.route._replace(namespace=namespace, name=name), warnings=[])

    @property
    def admission(self) -> Admission | None:
        """Who has a say in requests for the resource; None where nobody has."""
        found = self.backend.admission
        return found if found is not None and found.asks(self.kind) else None

    def warn(self, text: str) -> None:
        """Add a Warning header to the answer, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def context(self, name: str = "", *, is_dry_run: bool = False, options: Mapping[str, Any] | None = None) -> Context:
        """What strategies get to know."""
        backend = self.backend
        return Context(
            now=backend.now(),
            verb=self.verb,
            namespace=self.namespace,
            name=name or self.route.name,
            subresource=self.route.subresource,
            user=self.request.user,
            is_dry_run=is_dry_run,
            lookup=self._lookup,
            objects=self._objects,
            new_uid=backend.new_uid,
            new_suffix=backend.new_suffix,
            warn=self.warn,
            options=options or {},
        )

    def attributes(
        self,
        operation: Operation,
        name: str,
        obj: dict[str, Any] | None,
        old: dict[str, Any] | None,
        options: Mapping[str, Any],
        is_dry_run: bool,
    ) -> Attributes:
        """What admission gets to know."""
        kind, namespace = self.kind, self.route.namespace
        if kind.plural == "namespaces" and not kind.group:
            namespace = name  # a Namespace is in itself
        return Attributes(
            operation,
            kind,
            self.subresource,
            namespace,
            name,
            obj,
            old,
            options,
            is_dry_run,
            self.request.user,
            self.warn,
            self.annotate,
        )

    def annotate(self, name: str, value: str) -> None:
        """Note something for the audit event of the request; what is there stays."""
        self.annotations.setdefault(name, value)

    def _lookup(self, group: str, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        entry = self.backend.store.get(resource_key(group, plural), f"{namespace}/{name}" if namespace else name)
        return None if entry is None else entry.object

    def _objects(self, group: str, plural: str, namespace: str) -> Sequence[dict[str, Any]]:
        page = self.backend.store.collection(resource_key(group, plural)).page(f"{namespace}/" if namespace else "")
        return [each.object for each in page.entries]

    def answer(self, status: int, body: bytes, content_type: str | None = None) -> Response:
        """An answer with what was warned of."""
        headers = [("content-type", content_type or self.representation.content_type)]
        headers += [("warning", warning_header(each)) for each in self.warnings]
        return Response(status, body, headers)


_GROUPED = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
"""Groups of the real server whose storage keys have the group in them, besides custom resources."""


_FOLDERS = {
    ("", "replicationcontrollers"): "controllers",
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "services"): "services/specs",
    ("networking.k8s.io", "ingresses"): "ingress",
}
"""Kinds whose storage keys are older than their names (`kubeapiserver/default_storage_factory_builder.go`)."""


def warning_header(text: str) -> str:
    """A Warning header: code, no agent, the text quoted."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{escaped}"'
