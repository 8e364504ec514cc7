"""Which objects of a collection a list or watch is about: by namespace, name, labels and fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubewright.model.fieldselector import FieldRequirement, FieldSelector
from kubewright.model.selector import Selector

from ..errors import bad_request
from ..options import ListOptions
from ..store import Entry
from ..strategy import Strategy
from .call import Call

__all__ = ["Selection", "selection"]

_NAME: Final = "metadata.name"
_NAMESPACE: Final = "metadata.namespace"


class Selection:
    """What is selected. `scope` is what keys start with (`namespace/`), or empty; `key` is the one key that can match,
    or empty; `is_everything`: nothing but the scope restricts it."""

    __slots__ = ("_fields", "_labels", "_strategy", "is_everything", "key", "scope")

    def __init__(
        self, strategy: Strategy, scope: str, key: str, labels: Selector | None, fields: FieldSelector | None
    ) -> None:
        self._strategy, self.scope, self.key = strategy, scope, key
        self._labels = labels if labels is not None and labels.requirements else None
        self._fields = fields if fields is not None and fields.requirements else None
        self.is_everything = self._labels is None and self._fields is None

    def covers(self, key: str) -> bool:
        """Whether a key is in scope."""
        return key == self.key if self.key else key.startswith(self.scope)

    def matches(self, entry: Entry) -> bool:
        """Whether an object, as it is served, is selected by its labels and fields. Its key is in scope."""
        if self.is_everything:
            return True
        meta: Mapping[str, Any] = entry.object.get("metadata") or {}
        if self._labels is not None and not self._labels.matches(meta.get("labels") or {}):
            return False
        if self._fields is None:
            return True
        fields = {_NAME: meta.get("name", ""), _NAMESPACE: meta.get("namespace", "")}
        if self._strategy.field_labels:
            fields |= self._strategy.fields(entry.object)
        return self._fields.matches(fields)


def selection(call: Call, options: ListOptions) -> Selection:
    """What a call selects. Raises StatusError: a field that the kind has no selector for."""
    kind, strategy, fields = call.kind, call.strategy, options.field_selector
    namespace, name = call.namespace, call.route.name
    if fields is not None:
        for each in fields.requirements:
            if each.field not in (_NAME, _NAMESPACE) and each.field not in strategy.field_labels:
                raise bad_request(strategy.field_label_error(each.field))
    exact = {each.field: each.value for each in fields.requirements if each.operator == "="} if fields else {}
    if name:
        if fields and exact.get(_NAME) != name:
            raise bad_request("fieldSelector metadata.name doesn't match requested name")
        fields = fields or FieldSelector((FieldRequirement(_NAME, "=", name),))
    name = name or exact.get(_NAME, "")
    if kind.namespaced:
        namespace = namespace or exact.get(_NAMESPACE, "")
        scope = f"{namespace}/" if namespace else ""
        key = f"{namespace}/{name}" if namespace and name else ""
    else:
        scope, key = "", name
    return Selection(strategy, scope, key, options.label_selector, fields)
