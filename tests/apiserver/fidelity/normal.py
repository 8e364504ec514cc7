"""What of an answer counts: everything but what no two servers, or two runs of one, have in common.

Owns the normal form of a whole case (`normalised`). Where a value is arbitrary it becomes a symbol, and where its
identity or order matters so does the symbol: uids are numbered in order of appearance, resource versions of objects by
size (rv1 < rv2: which write came first), generated names keep their base. What the case itself sent stays as it is.

    <time> <microtime> <age>     moments                       <ip> <nodePort>     allocated by the server
    uid1 rv1 <base>?????         identities                    <rv> <continue>     positions of lists and bookmarks

managedFields become a list of lines, `alice Apply apps/v1 status: {"f:spec":...}`, sorted, as their own order follows
times; one without a time says so. Those of bindings and of requests for tokens, which are kept nowhere, are left out;
and so is storageVersionHash: it is not of the part of the server that is compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_IP = re.compile(r"10\.(0|96)\.\d{1,3}\.\d{1,3}")
_VERSION_TEXT = re.compile(r"resource ?version", re.IGNORECASE)
_NUMBER = re.compile(r"\b\d+\b")
_CURRENT = re.compile(r"(current: |too old resource version: \d+ \()(\d+)")
_HASH = re.compile(r"hash=[0-9A-F]+")
_PATCHED = re.compile(r'Invalid value: "\{\\"apiVersion\\":.*\}": ', re.DOTALL)
_GO_DIFF = re.compile(r"(pod updates may not change fields other than [^\n]*\n).*", re.DOTALL)
_AGE = re.compile(r"(\d+(\.\d+)?(ms|[smhdy]))+|<invalid>|<unknown>")
_AGE_COLUMNS = {"Age", "Last Seen", "First Seen", "Duration"}
_HEADERS = ("content-type", "warning", "retry-after", "allow", "location")
_OF_BOOKMARKS = ("apiVersion", "kind", "metadata", "columnDefinitions", "rows")
_MASKED = {"token": "<token>", "serverAddress": "<address>", "continue": "<continue>"}
_DROPPED = {"storageVersionHash"}

Exchange = dict[str, Any]
"""One answer: status, headers, body (parsed, or text), events (parsed) if it was a stream."""


def normalised(exchanges: Sequence[Exchange], *, names: Mapping[str, str], sent: str) -> list[Exchange]:
    """Return the answers of one case in normal form.

    `names` are the arbitrary names the case was given (of its namespace and groups) with what to show for them; `sent`
    is the text of the case, in which to look for what it sent itself.
    """
    symbols = _Symbols(exchanges, names, sent)
    return [_exchange(each, symbols) for each in exchanges]


def _exchange(exchange: Exchange, symbols: _Symbols) -> Exchange:
    result: Exchange = {"status": exchange["status"]}
    headers = exchange["headers"]
    for name in _HEADERS:
        if name in headers and not (name == "content-type" and headers[name] == "application/json"):
            result[name] = symbols.text(headers[name])
    if exchange.get("body") not in (None, ""):
        result["body"] = symbols.node(exchange["body"])
        if exchange.get("unordered"):
            _sort_causes(result["body"])
    if exchange.get("unordered") and "warning" in result:
        result["warning"] = ", 299".join(sorted(result["warning"].removeprefix("299").split(", 299")))
    if "events" in exchange:
        result["events"] = symbols.node(exchange["events"])
    return result


class _Symbols:
    def __init__(self, exchanges: Sequence[Exchange], names: Mapping[str, str], sent: str) -> None:
        self._sent = sent
        # The longest first: a name may be a part of another.
        self._names: dict[str, str] = dict(names)
        self._uids: dict[str, str] = {}
        versions: set[int] = set()
        for exchange in exchanges:
            for meta in _metadata([exchange.get("body"), exchange.get("events")]):
                if "uid" in meta and str(meta.get("resourceVersion", "")).isdigit():
                    versions.add(int(meta["resourceVersion"]))
                base, name = meta.get("generateName"), meta.get("name")
                if base and name and name.startswith(base) and len(name) == len(base) + 5 and name not in sent:
                    self._names[name] = base + "?????"
        self._versions = {str(version): f"rv{rank}" for rank, version in enumerate(sorted(versions), 1)}
        self._ordered = sorted(self._names, key=len, reverse=True)

    def text(self, text: str) -> str:
        for name in self._ordered:
            text = text.replace(name, self._names[name])
        text = _TIME.sub(self._time, text)
        text = _UUID.sub(self._uid, text)
        text = _IP.sub(self._unless_sent("<ip>"), text)
        text = _HASH.sub("hash=<hash>", text)
        # The whole object, in the order of Go's fields and with its managedFields.
        text = _PATCHED.sub('Invalid value: "<object>": ', text)
        text = _GO_DIFF.sub(r"\1<diff>", text)
        if _VERSION_TEXT.search(text):
            text = _CURRENT.sub(r"\1<rv>", text)
            text = _NUMBER.sub(lambda match: self._versions.get(match[0], match[0]), text)
        return text

    def node(self, node: Any, key: str = "") -> Any:
        if isinstance(node, str):
            return self._string(node, key)
        if isinstance(node, list):
            return self._managers(node) if key == "managedFields" else [self.node(each) for each in node]
        if not isinstance(node, dict):
            if key in ("nodePort", "healthCheckNodePort") and str(node) not in self._sent:
                return "<nodePort>"
            return node
        if node.get("type") == "BOOKMARK" and isinstance(marked := node.get("object"), dict):
            # Of built-in kinds with the empty fields that Go writes: noise.
            node = {**node, "object": {key: marked[key] for key in marked if key in _OF_BOOKMARKS}}
        if node.get("kind") in ("Binding", "TokenRequest") and isinstance(meta := node.get("metadata"), dict):
            node = {**node, "metadata": {key: meta[key] for key in meta if key != "managedFields"}}
        if node.get("kind") == "Table" and "rows" in node:
            node = {**node, "rows": _without_ages(node)}
        shown = {self.text(name): self.node(node[name], name) for name in sorted(node) if name not in _DROPPED}
        version = node.get("resourceVersion")
        if "uid" not in node and isinstance(version, str) and f'"{version}"' not in self._sent:
            # That of a list or bookmark is the server's of the moment, which by chance may be an object's.
            shown["resourceVersion"] = "<rv>"
        return shown

    def _managers(self, entries: Sequence[Any]) -> list[str]:
        lines = []
        for each in entries:
            named = [str(each.get(name, "")) for name in ("manager", "operation", "apiVersion", "subresource")]
            if "time" not in each:
                named.append("(no time)")
            said = json.dumps(each.get("fieldsV1"), separators=(",", ":"), ensure_ascii=False)
            lines.append(self.text(" ".join(filter(None, named)) + ": " + said))
        return sorted(lines)

    def _string(self, text: str, key: str) -> str:
        if key == "resourceVersion" and text:
            return self._versions.get(text, text if f'"{text}"' in self._sent else "<rv>")
        if key in _MASKED and (text or key == "serverAddress"):
            return _MASKED[key]
        return self.text(text)

    def _time(self, match: re.Match[str]) -> str:
        return match[0] if match[0] in self._sent else "<microtime>" if match[1] else "<time>"

    def _uid(self, match: re.Match[str]) -> str:
        if match[0] in self._sent:
            return match[0]
        return self._uids.setdefault(match[0], f"uid{len(self._uids) + 1}")

    def _unless_sent(self, symbol: str) -> Callable[[re.Match[str]], str]:
        return lambda match: match[0] if match[0] in self._sent else symbol


_UNDECLARED = "field not declared in schema"


def _sort_causes(body: Any) -> None:
    """Sort what the real server finds in the order of a Go map."""
    if isinstance(body, dict) and body.get("kind") == "SelfSubjectRulesReview":
        for rules in body["status"].values():
            if isinstance(rules, list):
                rules.sort(key=str)
    if not isinstance(body, dict) or body.get("kind") != "Status":
        return
    typed, _, wrong = body.get("message", "").partition("): ")
    if typed.startswith("failed to create typed patch object") and _UNDECLARED in wrong:
        # The first such field ends the look at its map, so whether others are told is chance.
        undeclared = [each.strip() for each in wrong.split("\n") if _UNDECLARED in each]
        body["message"] = f"{typed}): {min(undeclared)}"
    causes = body.get("details", {}).get("causes") or []
    causes.sort(key=lambda cause: (cause.get("field", ""), cause["message"]))
    head, _, rest = body.get("message", "").partition(" is invalid: [")
    text = f"{head} is invalid: [" + ", ".join(f"{cause.get('field')}: {cause['message']}" for cause in causes) + "]"
    if sorted(text) == sorted(body.get("message", "")) and rest:
        body["message"] = text


def _metadata(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for each in node:
            yield from _metadata(each)
    elif isinstance(node, dict):
        if isinstance(meta := node.get("metadata"), dict):
            yield meta
        for value in node.values():
            yield from _metadata(value)


def _without_ages(table: Mapping[str, Any]) -> list[Any]:
    # Only the first table of a watch has columns.
    columns = table.get("columnDefinitions")
    ages = {i for i, column in enumerate(columns) if column["name"] in _AGE_COLUMNS} if columns else None

    def shown(index: int, cell: Any) -> Any:
        is_age = (ages is None or index in ages) and isinstance(cell, str) and _AGE.fullmatch(cell)
        return "<age>" if is_age else cell

    return [
        {**row, "cells": [shown(index, cell) for index, cell in enumerate(row.get("cells") or [])]}
        for row in table.get("rows") or []
    ]


_PART = re.compile(r'\["([^"]+)"\]|\[(\*)\]|\[(\d+)\]|\[([^=\]]+)=([^\]]*)\]|([^.\[\]]+)')


def shown(body: Any, paths: Sequence[str]) -> Any:
    """Return only the parts of `body` at `paths` ("spec.type", "items[*].metadata", 'metadata.labels["a.b"]')."""
    return {path: _at(body, _parts(path)) for path in paths}


def at(body: Any, path: str) -> Any:
    """Return the value at `path`, None if there is none."""
    return _at(body, _parts(path))


def _parts(path: str) -> list[str | tuple[str, str]]:
    parts: list[str | tuple[str, str]] = []
    for match in _PART.finditer(path):
        if match[4] is not None:
            parts.append((match[4], match[5]))
        else:
            parts.append(next(group for group in (match[1], match[2], match[3], match[6]) if group is not None))
    return parts


def _at(node: Any, parts: Sequence[str | tuple[str, str]]) -> Any:
    if not parts:
        return node
    part, rest = parts[0], parts[1:]
    if isinstance(part, tuple):
        found = [each for each in node or () if isinstance(each, dict) and str(each.get(part[0])) == part[1]]
        return _at(found[0], rest) if found else None
    if part == "*":
        return [_at(each, rest) for each in node or ()]
    if isinstance(node, list):
        return _at(node[int(part)], rest) if part.isdigit() and int(part) < len(node) else None
    return _at(node.get(part), rest) if isinstance(node, dict) else None
