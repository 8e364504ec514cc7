"""Which objects of a kind one list-and-watch covers, and what becomes of them: a namespace, selectors, a transform.

A kind is watched whole, by one scope, or in several namespaces, by one scope each; a scope for all namespaces beside
named ones covers every other namespace (controller-runtime's rule for the key `""` next to named ones). No object is in
two scopes of a kind. Pure values; which scopes a kind has is decided in `options`.
"""

from __future__ import annotations

from msgspec import Struct

from kubewright.model.fieldselector import FieldRequirement, FieldSelector
from kubewright.model.selector import Selector

from .entry import Entry, labels_of
from .fields import field_of
from .transform import Transform

__all__ = ["EVERYTHING", "OutsideCache", "Scope"]


class OutsideCache(LookupError):
    """A read of what the cache was told not to hold, so that it cannot say whether that exists.

    Attributes: `kind` (`configmaps`), `what` was asked for, `rule` that keeps it out, `cure`.
    """

    def __init__(self, kind: str, what: str, rule: str, cure: str) -> None:
        super().__init__(kind, what, rule, cure)
        self.kind, self.what, self.rule, self.cure = kind, what, rule, cure

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}: {self.rule}; {self.cure}"


class Scope(Struct, frozen=True):
    """One part of a kind.

    Attributes:
        namespace: the one that it covers; `""`: all, but for `excluded` (and the only scope of a cluster-scoped kind).
        labels, fields: what the server selects by; None: everything.
        transform: what is kept of each object.
        resync_seconds: how often handlers are told all objects again; None: never.
    """

    namespace: str = ""
    excluded: frozenset[str] = frozenset()
    labels: Selector | None = None
    fields: FieldSelector | None = None
    transform: Transform | None = None
    resync_seconds: float | None = None

    def covers(self, namespace: str) -> bool:
        """Whether objects of a namespace (`""` for cluster-scoped ones) are in it, as far as that decides."""
        return namespace == self.namespace if self.namespace else namespace not in self.excluded

    @property
    def is_whole(self) -> bool:
        """Whether it covers every namespace."""
        return not self.namespace and not self.excluded

    @property
    def label_selector(self) -> str:
        """For the server; `""` for everything."""
        return str(self.labels) if self.labels else ""

    @property
    def field_selector(self) -> str:
        """For the server, with the namespaces that others cover left out; `""` for everything."""
        others = FieldSelector(FieldRequirement("metadata.namespace", "!=", each) for each in self.excluded)
        return str(others & self.fields if self.fields is not None else others)

    def selects(self, entry: Entry) -> bool:
        """Whether the server would show that state to the watch of this scope."""
        if self.labels and not self.labels.matches(labels_of(entry.data)):
            return False
        if not self.fields:
            return True
        return self.fields.matches({each.field: field_of(entry.data, each.field) for each in self.fields.requirements})

    def shuts_out(self, namespace: str, name: str) -> str:
        """The part of `fields` that no object of that name fulfils; `""`: it may be there."""
        known = {"metadata.name": name, "metadata.namespace": namespace}
        for each in self.fields.requirements if self.fields is not None else ():
            if each.field in known and (known[each.field] == each.value) is not (each.operator == "="):
                return str(each)
        return ""


EVERYTHING = Scope()
