"""Which objects of a kind are asked for: by namespace, labels, indexes and fields, over what the cache and we know.

Owns how a list is answered without decoding what it does not want: the narrowest index gives the candidates, the others
and the labels sort them out, on keys and bytes. Field selectors are indexes made on the way: `=` looks up, `!=` sorts
out; `metadata.name` and `metadata.namespace` need none. Refuses to know types: it gives entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from kubewright.model import Key
from kubewright.model.fieldselector import FieldSelector
from kubewright.model.selector import Selector

from .entry import Entry, labels_of
from .index import FieldValues
from .informer import Informer
from .store import IndexFunction, Store

__all__ = ["Query", "Wanted"]


class Wanted(msgspec.Struct, frozen=True):
    """One index and the value to find by it."""

    name: str
    function: IndexFunction
    value: str


class Query:
    """What a list asks for.

    Args:
        namespace: None: of all.
        labels, fields: see `Selector.of` and `FieldSelector.of`; of fields, any path with `=` and `!=`.
        wanted: values of indexes; all have to be there.

    Raises:
        ValueError: `labels` or `fields` is no selector.
    """

    def __init__(
        self,
        namespace: str | None = None,
        labels: str | Mapping[str, str] | Selector | None = None,
        fields: str | Mapping[str, str] | FieldSelector | None = None,
        wanted: Sequence[Wanted] = (),
    ) -> None:
        self.namespace = namespace
        self._wanted = [*wanted]
        self._checks: list[Callable[[Entry], bool]] = []
        self._name: str | None = None
        for each in FieldSelector.of(fields).requirements if fields is not None else ():
            if each.field in ("metadata.name", "metadata.namespace"):
                self._by_name(each.field == "metadata.name", each.operator == "=", each.value)
            elif each.operator == "=":
                self._wanted.append(Wanted(f"field:{each.field}", FieldValues(each.field), each.value))
            else:
                self._checks.append(_other_than(FieldValues(each.field), each.value))
        if labels is not None and (selector := Selector.of(labels)):
            self._checks.append(_labelled(selector))

    def _by_name(self, is_name: bool, is_equal: bool, value: str) -> None:
        if is_equal and is_name:
            self._name = value
        elif is_equal and self.namespace is None:
            self.namespace = value
        self._checks.append(lambda entry: ((entry.name if is_name else entry.namespace) == value) is is_equal)

    def of(self, informer: Informer) -> Sequence[Entry]:
        """The entries, with what we wrote ourselves put over them, in no particular order."""
        found = self._candidates(informer.store)
        if len(informer.written):
            found = [*self._over(found, informer)]
        for check in self._checks:
            found = [entry for entry in found if check(entry)]
        return found

    def _candidates(self, store: Store) -> Sequence[Entry]:
        for each in self._wanted:
            store.add_index(each.name, each.function)
        if self._name is not None and self.namespace is not None:
            entry = store.get((self.namespace, self._name))
            return [] if entry is None else self._indexed(store, [entry], self._wanted)
        if not self._wanted:
            return store.list(self.namespace)
        first = min(self._wanted, key=lambda each: store.index_size(each.name, each.value))
        found = store.by_index(first.name, first.value, self.namespace)
        return self._indexed(store, found, [each for each in self._wanted if each is not first])

    def _indexed(self, store: Store, found: Sequence[Entry], wanted: Sequence[Wanted]) -> Sequence[Entry]:
        for each in wanted:
            found = [entry for entry in found if store.is_indexed(each.name, each.value, entry.key)]
        return found

    def _over(self, found: Sequence[Entry], informer: Informer) -> Iterator[Entry]:
        written: dict[Key, Entry | None] = {key: informer.written.newest(key) for key in informer.written}
        for entry in found:
            if entry.key not in written:
                yield entry
        for key, newest in written.items():
            if newest is None or (self.namespace is not None and key.namespace != self.namespace):
                continue
            if all(each.value in each.function(newest) for each in self._wanted):
                yield newest


def _other_than(values: FieldValues, value: str) -> Callable[[Entry], bool]:
    return lambda entry: value not in values(entry)


def _labelled(selector: Selector) -> Callable[[Entry], bool]:
    matches = selector.matches

    def check(entry: Entry) -> bool:
        try:
            return matches(labels_of(entry.data))
        except msgspec.DecodeError:
            return False  # labels that are no labels match no selector

    return check
