"""What an expression costs at most, from its tree and the largest sizes of its variables. The server's estimate.

Sizes are known of literals, of what is built from them, and of paths (`self`, `spec`, `@items`) that the caller knows;
the rest is unbounded. Rule: cel-go checker/cost.go; what single functions cost is in `estimates`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .costs import CREATE_LIST, CREATE_MAP, CREATE_OBJECT, IDENT, REGEX_FACTOR, STRING_FACTOR
from .estimates import Estimate, Part, estimate_call
from .macros import ACCUMULATOR
from .nodes import Call, Fold, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from .sizes import LARGEST, UNKNOWN, Range, fixed
from .types import Type

__all__ = ["estimate"]

Path = tuple[str, ...]
_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


class _Entries(NamedTuple):
    """The sizes of keys and values of a list or map."""

    kind: str
    key: Range
    value: Range

    def union(self, other: _Entries) -> _Entries:
        return _Entries(self.kind, self.key.union(other.key), self.value.union(other.value))


class _Local(NamedTuple):
    path: Path
    size: Range | None
    entries: _Entries | None


def estimate(node: Node, size_of: Callable[[Path], Range | None]) -> Range:
    """The least and the most that an evaluation costs.

    Args:
        node: a checked tree.
        size_of: the size of what a path leads to, None where it is not known.
    """
    return _Estimator(size_of).cost(node)


class _Estimator:
    def __init__(self, size_of: Callable[[Path], Range | None]) -> None:
        self.size_of = size_of
        self.paths: dict[int, Path] = {}
        self.sizes: dict[int, Range] = {}
        self.entries: dict[int, _Entries] = {}
        self.costs: dict[int, Range] = {}
        self.locals: dict[str, list[_Local]] = {}

    def cost(self, node: Node) -> Range:
        known = self.costs.get(id(node))
        if known is None:
            known = self.costs[id(node)] = self._cost(node)
        return known

    def _cost(self, node: Node) -> Range:
        match node:
            case Literal():
                return fixed(0)
            case Ident():
                local = self.local(node.name)
                self.paths[id(node)] = (node.name,) if local is None else local.path
                return fixed(IDENT)
            case Select():
                return self.select(node)
            case Call():
                return self.call(node)
            case ListNode():
                return self.list_literal(node)
            case MapNode():
                return self.map_literal(node)
            case Fold():
                return self.bind(node) if node.macro == "bind" else self.fold(node)
            case StructNode():
                total = fixed(CREATE_OBJECT)
                for _, _, value, _ in node.fields:
                    total = total.plus(self.cost(value))
                return total
        return fixed(0)

    def local(self, name: str) -> _Local | None:
        stack = self.locals.get(name)
        return stack[-1] if stack else None

    # -- sizes --------------------------------------------------------------------------------------------------------

    def path(self, node: Node) -> Path:
        if isinstance(node, Ident):
            local = self.local(node.name)
            if local is not None:
                return local.path
        return self.paths.get(id(node), ())

    def size(self, node: Node) -> Range | None:
        known = self.sizes.get(id(node))
        if known is not None:
            return known
        known = _literal_size(node)
        if known is not None:
            return known
        path = self.path(node)
        if path:
            known = self.size_of(path)
            if known is not None:
                self.sizes[id(node)] = known
                return known
        if _is_scalar(node.type):
            return fixed(1)
        local = self.local(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.size

    def size_or_unknown(self, node: Node) -> Range:
        size = self.size(node)
        return UNKNOWN if size is None else size

    def entry_sizes(self, node: Node) -> _Entries | None:
        known = self.entries.get(id(node))
        if known is None and isinstance(node, Ident):
            local = self.local(node.name)
            known = None if local is None else local.entries
        return known

    def part(self, node: Node) -> Part:
        path = self.path(node)
        if path and path[0] in (ACCUMULATOR, "__result__"):
            path = ()
        return Part(path, node.type, self.size(node), node, self.size_of)

    # -- nodes --------------------------------------------------------------------------------------------------------

    def select(self, node: Select) -> Range:
        if not node.name:
            self.paths[id(node)] = (getattr(node.operand, "name", ""),)
            return fixed(IDENT)
        total = self.cost(node.operand)
        if node.test_only:
            return total
        if node.operand.type.kind in ("map", "object", "param"):
            total = total.plus(fixed(IDENT))
        self.paths[id(node)] = (*self.path(node.operand), node.name)
        return total

    def call(self, node: Call) -> Range:
        if node.function == "dyn":
            (arg,) = node.args
            total = self.cost(arg).plus(fixed(1))
            self.copy_sizes(node, arg)
            return total
        costs = [self.cost(arg) for arg in node.args]
        if not node.overloads:
            return fixed(0)
        total = fixed(0) if node.target is None else self.cost(node.target)
        cost = Range(LARGEST, 0)
        result: Range | None = None
        for overload in node.overloads:
            found = self.overload(node, overload, costs)
            cost = cost.union(found.cost)
            if found.size is not None:
                result = found.size if result is None else result.union(found.size)
            if overload in ("index_list", "index_map") and node.args:
                entries = self.entry_sizes(node.args[0])
                result = None if entries is None else entries.value
                last = "@items" if overload == "index_list" else "@values"
                self.paths[id(node)] = (*self.path(node.args[0]), last)
            if result is None:
                result = self.size(node)
        if result is not None:
            self.sizes[id(node)] = result
        return total.plus(cost)

    def overload(self, node: Call, overload: str, costs: list[Range]) -> Estimate:
        args = node.args
        spent = fixed(0)
        for each in costs:
            spent = spent.plus(each)
        target = None if node.target is None else self.part(node.target)
        found = estimate_call(node.function, overload, target, [self.part(arg) for arg in args])
        if found is not None:
            return Estimate(found.cost.plus(spent), found.size)
        size = self.size_or_unknown
        match overload:
            case "string_format" if node.target is not None:
                return Estimate(size(node.target).scaled(STRING_FACTOR).plus(spent))
            case "string_to_bytes":
                sized = size(args[0])
                larger = Range(sized.low, sized.high * 4 & LARGEST)
                return Estimate(sized.scaled(STRING_FACTOR).plus(spent), larger)
            case "bytes_to_string":
                sized = size(args[0])
                return Estimate(sized.scaled(STRING_FACTOR).plus(spent), Range(sized.low // 4, sized.high))
            case "strings_quote":
                sized = size(args[0])
                larger = Range(sized.low + 2, sized.high * 2 + 2 & LARGEST)
                return Estimate(sized.scaled(STRING_FACTOR).plus(spent), larger)
            case "starts_with_string" | "ends_with_string":
                return Estimate(size(args[0]).scaled(STRING_FACTOR).plus(spent))
            case "in_list":
                return Estimate(size(args[1]).scaled(1).plus(spent))
            case "matches" | "matches_string":
                text, regex = (args[0], args[1]) if node.target is None else (node.target, args[0])
                text_cost = size(text).plus(fixed(1)).scaled(STRING_FACTOR)
                return Estimate(text_cost.times(size(regex).scaled(REGEX_FACTOR)).plus(spent))
            case "contains_string" if node.target is not None:
                text_cost = size(node.target).scaled(STRING_FACTOR)
                return Estimate(text_cost.times(size(args[0]).scaled(STRING_FACTOR)).plus(spent))
            case "logical_or" | "logical_and":
                return Estimate(Range(costs[0].low, costs[0].plus(costs[1]).high))
            case "conditional":
                return self.conditional(node, costs)
            case "add_string" | "add_bytes" | "add_list":
                return self.addition(node, overload, spent)
            case _ if overload in _COMPARING:
                return Estimate(self.comparison(args).plus(spent))
        return Estimate(fixed(1).plus(spent))

    def conditional(self, node: Call, costs: list[Range]) -> Estimate:
        _, yes, no = node.args
        entries, others = self.entry_sizes(yes), self.entry_sizes(no)
        if entries is not None and others is not None:
            self.entries[id(node)] = entries.union(others)
        sized = self.size_or_unknown(yes).union(self.size_or_unknown(no))
        return Estimate(costs[0].plus(costs[1].union(costs[2])), sized)

    def addition(self, node: Call, overload: str, spent: Range) -> Estimate:
        left, right = node.args
        sized = self.size_or_unknown(left).plus(self.size_or_unknown(right))
        entries, others = self.entry_sizes(left), self.entry_sizes(right)
        if entries is not None and others is not None:
            self.entries[id(node)] = entries.union(others)
        cost = fixed(1) if overload == "add_list" else sized.scaled(STRING_FACTOR)
        return Estimate(cost.plus(spent), sized)

    def comparison(self, args: list[Node]) -> Range:
        most = min(self.size_or_unknown(args[0]).high, self.size_or_unknown(args[1]).high)
        return Range(1 if most > 0 else 0, most).scaled(STRING_FACTOR)

    def list_literal(self, node: ListNode) -> Range:
        total = fixed(CREATE_LIST)
        item = Range(LARGEST if node.items else 0, 0)
        for each in node.items:
            total = total.plus(self.cost(each))
            item = item.union(self.size_or_unknown(each))
        self.entries[id(node)] = _Entries("list", fixed(1), item)
        return total

    def map_literal(self, node: MapNode) -> Range:
        total = fixed(CREATE_MAP)
        key = value = Range(LARGEST if node.entries else 0, 0)
        for entry in node.entries:
            total = total.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            key = key.union(self.size_or_unknown(entry.key))
            value = value.union(self.size_or_unknown(entry.value))
        self.entries[id(node)] = _Entries("map", key, value)
        return total

    def copy_sizes(self, to: Node, source: Node) -> None:
        size, entries = self.size(source), self.entry_sizes(source)
        if size is not None:
            self.sizes[id(to)] = size
        if entries is not None:
            self.entries[id(to)] = entries

    def bind(self, node: Fold) -> Range:
        total = self.cost(node.range).plus(self.cost(node.init))
        self.push(node.accu, _Local(self.path(node.init), self.size(node.init), self.entry_sizes(node.init)))
        total = total.plus(self.cost(node.result))
        self.locals[node.accu].pop()
        self.copy_sizes(node, node.result)
        return total

    def push(self, name: str, local: _Local) -> None:
        self.locals.setdefault(name, []).append(local)

    def fold(self, node: Fold) -> Range:
        total = self.cost(node.range).plus(self.cost(node.init))
        self.push(node.accu, _Local(self.path(node.init), self.size(node.init), self.entry_sizes(node.init)))
        entries = self.entry_sizes(node.range)
        kind = entries.kind if entries is not None else node.range.type.kind
        path = self.path(node.range)
        key = None if entries is None else entries.key
        value = None if entries is None else entries.value
        item = _Local((*path, "@items" if kind == "list" else "@values"), value, None)
        if node.var2 is not None:
            self.push(node.var, _Local((*path, "@indices" if kind == "list" else "@keys"), key, None))
            self.push(node.var2, item)
        else:
            self.push(node.var, item if kind == "list" else _Local((*path, "@keys"), key, None))
        each = self.cost(node.condition).plus(self.cost(node.step))
        self.locals[node.var].pop()
        if node.var2 is not None:
            self.locals[node.var2].pop()
        total = total.plus(self.cost(node.result))
        self.locals[node.accu].pop()
        count = self.size_or_unknown(node.range)
        total = total.plus(count.times(each))
        if isinstance(node.init, Literal):
            size = self.size(node.init)
            if size is not None:
                self.sizes[id(node)] = size
        elif isinstance(node.init, ListNode | MapNode):
            self.sizes[id(node)] = count
            made = self.entry_sizes(node.step)
            if made is not None:
                self.entries[id(node)] = made
        return total


_COMPARING = frozenset(
    {"equals", "not_equals"}
    | {
        f"{name}_{kind}"
        for name in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    }
)


def _literal_size(node: Node) -> Range | None:
    if isinstance(node, Literal):
        value: Any = node.value
        return fixed(len(value) if isinstance(value, str | bytes) else 1)
    if isinstance(node, ListNode):
        return fixed(len(node.items))
    if isinstance(node, MapNode):
        return fixed(len(node.entries))
    return None


def _is_scalar(type_: Type) -> bool:
    return type_.kind in _SCALARS or (type_.is_optional and _is_scalar(type_.params[0]))
