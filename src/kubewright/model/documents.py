"""YAML text to JSON values, read as kubectl reads it, with the line of every part.

| YAML | here and in kubectl | PyYAML by itself |
|---|---|---|
| `yes`, `on`, `y` | true | true, true, "y" |
| `12:30`, `2026-01-01` | text | 750, a date |
| `1e3`, `1.0` | the numbers 1000, 1 | text, 1.0 |
| `8080: x` | the name "8080" | the number |
| a name twice in one mapping | an error | the last one wins |

Documents are separated by `---`; empty ones are skipped. JSON is read, too. What JSON has no form for (a tag, an
infinite number, a list as a name) is an error, as is everything that would never end: an anchor inside itself, or
anchors that multiply to more than a million parts.

No I/O: the caller has the text and knows what it is called. PyYAML is loaded when it is first needed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

__all__ = ["Document", "DocumentError", "read_documents"]

_MAX_PARTS: Final = 1_000_000
_PLAIN: Final = "!plain"
_STANDARD: Final = "tag:yaml.org,2002:"
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    spelling: value
    for value, words in ((True, ("y", "yes", "true", "on")), (False, ("n", "no", "false", "off")))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}
_INTEGER: Final = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[0-9][0-9_]*)", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_ENDLESS: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


class DocumentError(ValueError):
    """A text is not a stream of documents, or one of them is not what was expected.

    Attributes: `number` of the document and `line`, both from 1, and `rule`.
    """

    def __init__(self, number: int, line: int, rule: str) -> None:
        super().__init__(number, line, rule)
        self.number, self.line, self.rule = number, line, rule

    def __str__(self) -> str:
        return f"document {self.number}, line {self.line}: {self.rule}"


class Document(NamedTuple):
    """One document: its JSON value, its number and first line in the text, both from 1."""

    value: Any
    number: int
    line: int
    node: Any
    """The composed YAML, or None for JSON."""

    def line_of(self, path: str) -> int:
        """The line of the deepest part that a path such as `$.spec.ports[0].name` leads to."""
        node, line = self.node, self.line
        for match in _STEP.finditer(path):
            name, place = match.groups()
            children: Any = getattr(node, "value", None)
            if not isinstance(children, list):
                break
            if place is not None:
                node = children[int(place)] if int(place) < len(children) else None
            else:
                pairs = (pair for pair in children if isinstance(pair, tuple) and pair[0].value == name)
                key, node = next(pairs, (None, None))
                line = key.start_mark.line + 1 if key is not None else line
            if node is None:
                break
            line = node.start_mark.line + 1 if place is not None else line
        return line


def read_documents(text: str | bytes) -> Iterator[Document]:
    """The documents of a text that are not empty.

    Raises:
        DocumentError: with the document and the line.
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    if text.lstrip().startswith("{"):
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            pass  # a YAML mapping in braces, or one that says better what is wrong
        else:
            yield Document(value, 1, 1, None)
            return
    yield from _read_yaml(text)


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise DocumentError(1, line, "is not UTF-8; save the file as UTF-8") from None


def _read_yaml(text: str) -> Iterator[Document]:
    import yaml

    number = 1
    loader = _loader()(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            value = _Builder(number).document(node)
            if value is not None:
                yield Document(value, number, node.start_mark.line + 1, node)
            number += 1
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        rule = " ".join(part for part in (error.context, error.problem) if part)
        raise DocumentError(number, mark.line + 1 if mark else 1, f"is not YAML: {rule}") from None
    except yaml.YAMLError as error:
        raise DocumentError(number, 1, f"is not YAML: {' '.join(str(error).split())}") from None
    finally:
        loader.dispose()


@lru_cache(maxsize=1)
def _loader() -> Any:
    # Loading PyYAML takes longer than all the rest of the models.
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # What a plain scalar means is decided in `_plain`: all get one tag, which tells them from quoted ones.
    resolvers = {None: [(_PLAIN, re.compile(""))]}
    return type("Loader", (base,), {"yaml_implicit_resolvers": resolvers})


class _Builder:
    """Composed YAML to JSON values."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def document(self, node: Any) -> Any:
        if self._size(node) > _MAX_PARTS:
            raise self._error(node, "has anchors that multiply to more than a million parts; write it out")
        return self.value(node)

    def _size(self, node: Any) -> int:
        """How many parts a node has, those behind aliases each time: counted once, and not by writing them out."""
        if isinstance(node.value, str):
            return 1
        known = self._sizes.get(id(node))
        if known is None:
            self._sizes[id(node)] = 1  # of one inside itself, which `value` refuses
            inner = (part for item in node.value for part in (item if isinstance(item, tuple) else (item,)))
            known = self._sizes[id(node)] = 1 + sum(map(self._size, inner))
        return known

    def value(self, node: Any) -> Any:
        if isinstance(node.value, str):
            return self._scalar(node)
        if id(node) in self._open:
            raise self._error(node, "has an anchor inside itself; remove the alias")
        tag = node.tag.removeprefix(_STANDARD)
        if tag not in ("map", "seq"):
            raise self._error(node, f"has the tag {node.tag}, which JSON has no form for; remove it")
        self._open.add(id(node))
        try:
            return self._mapping(node) if tag == "map" else [self.value(item) for item in node.value]
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: Any) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, item in node.value:
            if key.tag == _PLAIN and key.value == "<<":
                merged = {**self._merged(item), **merged}
                continue
            name = self._name(key)
            if name in own:
                raise self._error(key, f"has {name!r} a second time; remove one")
            own[name] = self.value(item)
        return {**merged, **own}

    def _merged(self, node: Any) -> dict[str, Any]:
        value = self.value(node)
        merged: dict[str, Any] = {}
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                raise self._error(node, "merges something that is not a mapping; give << an alias of one")
            merged = {**each, **merged}
        return merged

    def _name(self, key: Any) -> str:
        value = self.value(key)
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None or isinstance(value, list | dict):
            raise self._error(key, "has a name that is not text; quote it")
        return str(value)

    def _scalar(self, node: Any) -> Any:
        text: str = node.value
        if node.tag in (_STANDARD + "str", "!"):
            return text
        if node.tag == _PLAIN:
            if _ENDLESS.fullmatch(text):
                raise self._error(node, f"has the number {text}, which JSON has no form for; quote it")
            return _plain(text)
        value = _plain(text)
        kinds: dict[str, Any] = {"int": int, "float": int | float, "bool": bool, "null": type(None)}
        wanted = kinds.get(node.tag.removeprefix(_STANDARD))
        if wanted is None or not isinstance(value, wanted):
            raise self._error(node, f"has the tag {node.tag} on {text!r}, which JSON has no form for; remove it")
        return value

    def _error(self, node: Any, rule: str) -> DocumentError:
        return DocumentError(self._number, node.start_mark.line + 1, rule)


def _plain(text: str) -> Any:
    """What an unquoted scalar means."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    bare = text.replace("_", "")
    if _FLOAT.fullmatch(bare) and not text.startswith("_"):
        number = float(bare)
        if math.isfinite(number):
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
    return text


def _integer(text: str) -> int | float | str:
    digits = text.lstrip("+-").replace("_", "").lower()
    try:
        if digits.startswith(("0b", "0x", "0o")):
            number = int(digits, 0)
        elif len(digits) > 1 and digits.startswith("0") and all(digit in "01234567" for digit in digits):
            number = int(digits, 8)
        else:
            number = int(digits)
    except ValueError:
        return text
    if text.startswith("-"):
        number = -number
    # Like Go: what fits into no integer of 64 bits is a floating-point number.
    return number if -(2**63) <= number < 2**64 else float(number)
