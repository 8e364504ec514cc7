"""`Scheme`: which class an object of unknown kind is to be decoded as.

| given | wanted |
|---|---|
| `apiVersion` and `kind` of the data | the class that was registered for them |
| a kind that nobody registered | the class that the resolver knows (built-in kinds, imported when first needed) |
| neither | `NoKindRegistered` with the closest kinds, or an `Unstructured` where the caller asks for one |

There is no scheme of the process: whoever needs one makes one, and two may disagree. Code that knows the class needs no
scheme; `decode(Web, data)` does not ask one. The room of the built-in kinds is above this one, so that they come in as
a callable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
import orjson

from .codec import DecodeError, decode, decode_error
from .gvk import GroupVersionKind
from .meta import ListMeta
from .resource import Object, info_of
from .unstructured import Unstructured, unstructured

if TYPE_CHECKING:
    from .documents import Document

__all__ = ["DecodedList", "KindConflict", "NoKindRegistered", "Scheme"]


class NoKindRegistered(LookupError):
    """A scheme has no class for a kind. Attributes: `gvk`, and `near`, the kinds that may have been meant."""

    def __init__(self, gvk: GroupVersionKind, near: tuple[GroupVersionKind, ...] = ()) -> None:
        super().__init__(gvk, near)
        self.gvk, self.near = gvk, near

    def __str__(self) -> str:
        kind, version = _quoted(self.gvk.kind), _quoted(self.gvk.api_version)
        meant = " or ".join(f"{_quoted(each.kind)} of {_quoted(each.api_version)}" for each in self.near)
        cure = "register its class with Scheme.register, or decode with unstructured=True"
        hint = f"; did you mean {meant}? If not, {cure}" if meant else f"; {cure}"
        return f"no kind {kind} is registered for version {version}{hint}"


def _quoted(text: str) -> str:
    return f'"{text}"'


class KindConflict(ValueError):
    """Two classes say that they are the same kind. Attributes: `gvk`, `present`, `refused`."""

    def __init__(self, gvk: GroupVersionKind, present: type[Object], refused: type[Object]) -> None:
        super().__init__(gvk, present, refused)
        self.gvk, self.present, self.refused = gvk, present, refused

    def __str__(self) -> str:
        present, refused = (f"{each.__module__}.{each.__qualname__}" for each in (self.present, self.refused))
        return f"kind {self.gvk}: is registered as {present} and cannot be {refused}, too; use another Scheme for one"


class DecodedList(NamedTuple):
    """A list as a server returns it; each item is an object of its own class."""

    metadata: ListMeta
    items: list[Object]


class _TypeMeta(msgspec.Struct, rename="camel"):
    api_version: str | None = None
    kind: str | None = None


class _RawList(_TypeMeta, rename="camel"):
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | None = None


_ALIKE = 0.65
_TYPE_META = msgspec.json.Decoder(_TypeMeta)
_RAW_LIST = msgspec.json.Decoder(_RawList)


class Scheme:
    """Classes by kind.

    ```python
    scheme = Scheme(Web, resolver=models.resolve, known=models.built_in_kinds)
    web = scheme.decode(body)
    ```

    Args:
        classes: registered at once.
        resolver: asked for kinds that are not registered; returns None for those that it does not know.
        known: the kinds that the resolver knows, for the suggestions in errors. Called for an error only.

    Raises:
        KindConflict: two classes have the same kind.
        TypeError: a class has no kind.
    """

    def __init__(
        self,
        *classes: type[Object],
        resolver: Callable[[GroupVersionKind], type[Object] | None] | None = None,
        known: Callable[[], Iterable[GroupVersionKind]] | None = None,
    ) -> None:
        self._classes: dict[GroupVersionKind, type[Object]] = {}
        self._unstructured: dict[GroupVersionKind, type[Unstructured]] = {}
        self._resolver, self._known = resolver, known
        self.register(*classes)

    def register(self, *classes: type[Object]) -> None:
        """Add classes under the kinds that they say they are. One that is there already is no conflict with itself.

        A registered class goes before what the resolver says: that is how to use a class of one's own for a built-in
        kind.

        Raises:
            KindConflict: another class is registered for the kind; nothing was added.
            TypeError: a class has no kind; nothing was added.
        """
        added: dict[GroupVersionKind, type[Object]] = {}
        for cls in classes:
            gvk = info_of(cls).gvk
            present = self._classes.get(gvk) or added.get(gvk)
            if present is not None and present is not cls:
                raise KindConflict(gvk, present, cls)
            added[gvk] = cls
        self._classes.update(added)

    def find(self, gvk: GroupVersionKind) -> type[Object] | None:
        """The class of a kind, or None."""
        return self._classes.get(gvk) or (self._resolver(gvk) if self._resolver is not None else None)

    def class_of(self, gvk: GroupVersionKind) -> type[Object]:
        """The class of a kind. Raises NoKindRegistered."""
        found = self.find(gvk)
        if found is None:
            raise NoKindRegistered(gvk, _closest(gvk, self.kinds()))
        return found

    def kinds(self) -> list[GroupVersionKind]:
        """All kinds that are known, sorted."""
        return sorted({*self._classes, *(self._known() if self._known is not None else ())})

    def __contains__(self, gvk: object) -> bool:
        return isinstance(gvk, GroupVersionKind) and self.find(gvk) is not None

    def decode(self, data: bytes | dict[str, Any], *, unstructured: bool = False) -> Object:
        """An object of the class that its `apiVersion` and `kind` say.

        Args:
            unstructured: give an Unstructured for a kind that is not registered.

        Raises:
            NoKindRegistered: no class, and `unstructured` is not set.
            DecodeError: not an object, or not of its kind.
        """
        raw = data if isinstance(data, bytes) else orjson.dumps(data)
        return self._decode(raw, None, unstructured)

    def decode_list(self, data: bytes | dict[str, Any], *, unstructured: bool = False) -> DecodedList:
        """A list of any kind (`WebList`, or `List` with items of several kinds), item by item.

        Items of a typed list need no `apiVersion` and `kind`: they follow from those of the list.

        Raises:
            NoKindRegistered: an item has no class, and `unstructured` is not set.
            DecodeError: not a list, or an item is not of its kind.
        """
        raw = data if isinstance(data, bytes) else orjson.dumps(data)
        try:
            found = _RAW_LIST.decode(raw)
        except msgspec.DecodeError as error:
            raise decode_error("List", error) from None
        kind, implied = _item_kind(found)
        items: list[Object] = []
        for place, each in enumerate(found.items or ()):
            try:
                items.append(self._decode(bytes(each), implied, unstructured))
            except DecodeError as error:
                raise DecodeError(kind, f"$.items[{place}]{error.path[1:]}", error.rule) from None
        return DecodedList(found.metadata or ListMeta(), items)

    def decode_all(self, text: str | bytes, *, unstructured: bool = False) -> list[Object]:
        """All objects of a YAML or JSON text, in order: several documents, and lists taken apart.

        Raises:
            DocumentError: naming the document and the line: not YAML, a kind without a class, a value of a wrong type.
        """
        found: list[Object] = []
        from .documents import read_documents

        for document in read_documents(text):
            found.extend(self._decode_document(document, unstructured))
        return found

    def _decode_document(self, document: Document, unstructured: bool) -> Iterator[Object]:
        from .documents import DocumentError

        value, implied = document.value, None
        parts = [("$", value)]
        if isinstance(value, dict) and isinstance(value.get("items"), list) and str(value.get("kind")).endswith("List"):
            meta = _TypeMeta(api_version=value.get("apiVersion"), kind=value["kind"])
            implied = _item_kind(meta)[1]
            parts = [(f"$.items[{place}]", item) for place, item in enumerate(value["items"])]
        for where, part in parts:
            try:
                yield self._decode(orjson.dumps(part), implied, unstructured)
            except NoKindRegistered as error:
                raise DocumentError(document.number, document.line_of(f"{where}.kind"), str(error)) from error
            except DecodeError as error:
                line = document.line_of(where + error.path[1:])
                raise DocumentError(document.number, line, str(error)) from error

    def _decode(self, raw: bytes, implied: GroupVersionKind | None, as_unstructured: bool) -> Object:
        try:
            meta = _TYPE_META.decode(raw)
        except msgspec.DecodeError as error:
            raise decode_error("Object", error) from None
        gvk = _said(meta, implied)
        cls = self.find(gvk)
        if cls is None:
            if not as_unstructured:
                raise NoKindRegistered(gvk, _closest(gvk, self.kinds()))
            cls = self._unstructured.get(gvk)
            if cls is None:
                cls = self._unstructured[gvk] = unstructured(gvk.api_version, gvk.kind)
        return decode(cls, raw)


def _said(meta: _TypeMeta, implied: GroupVersionKind | None) -> GroupVersionKind:
    if implied is not None and not meta.kind and not meta.api_version:
        return implied
    for name, value, example in (("kind", meta.kind, "Pod"), ("apiVersion", meta.api_version, "v1")):
        if not value:
            raise DecodeError("Object", f"$.{name}", f"is missing; say which kind the object is, such as {example!r}")
    try:
        return GroupVersionKind.of(cast("str", meta.api_version), cast("str", meta.kind))
    except ValueError as error:
        raise DecodeError("Object", "$.apiVersion", str(error)) from None


def _item_kind(listed: _TypeMeta) -> tuple[str, GroupVersionKind | None]:
    """The kind of a list, and that of its items unless it is a plain `List`, whose items say theirs."""
    gvk = _said(listed, None)
    if not gvk.kind.endswith("List"):
        raise DecodeError(gvk.kind, "$.kind", "Expected a list; decode a single object with decode()")
    item = gvk.kind.removesuffix("List")
    return gvk.kind, gvk._replace(kind=item) if item else None


def _closest(gvk: GroupVersionKind, kinds: Iterable[GroupVersionKind], limit: int = 3) -> tuple[GroupVersionKind, ...]:
    """Kinds that may have been meant: the same name elsewhere, then similar ones in the group, then anywhere."""
    import difflib  # only where something is wrong

    wanted = gvk.kind.lower()
    candidates = list(kinds)
    likeness = {
        each.kind: difflib.SequenceMatcher(None, wanted, each.kind.lower()).ratio()
        for each in candidates
        if abs(len(each.kind) - len(wanted)) <= 5
    }
    near = [each for each in candidates if likeness.get(each.kind, 0.0) >= _ALIKE]

    def rank(each: GroupVersionKind) -> tuple[bool, bool, float]:
        return each.kind.lower() != wanted, each.group != gvk.group, -likeness[each.kind]

    return tuple(sorted(near, key=rank)[:limit])
