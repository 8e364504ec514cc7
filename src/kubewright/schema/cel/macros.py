"""Macros to folds. A macro is known by its name, its number of arguments and whether it has a receiver.

Each fold carries the condition, step and result of cel-go's expansion: types and costs are those of the expansion.
New nodes stand where the macro's parenthesis stands.
"""

from __future__ import annotations

from collections.abc import Callable

from .nodes import Call, Fold, Ident, ListNode, Literal, MapNode, Node, Select

__all__ = ["ACCUMULATOR", "MacroError", "expand"]

ACCUMULATOR = "@result"
_FORBIDDEN = (ACCUMULATOR, "__result__")


class MacroError(Exception):
    """The arguments of a macro are wrong."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


def expand(offset: int, name: str, target: Node | None, args: list[Node]) -> Node | None:
    """The expansion of a call, or None where it is no macro."""
    if target is None:
        return _has(offset, args[0]) if name == "has" and len(args) == 1 else None
    macro = _MACROS.get((name, len(args)))
    return None if macro is None else macro(offset, target, args)


def _has(offset: int, arg: Node) -> Node:
    if not isinstance(arg, Select) or arg.test_only:
        raise MacroError(arg.offset, "invalid argument to has() macro")
    return Select(offset, arg.operand, arg.name, test_only=True)


def _simple_name(arg: Node, rule: str) -> str:
    if not isinstance(arg, Ident):
        raise MacroError(arg.offset, rule)
    if arg.name in _FORBIDDEN:
        raise MacroError(arg.offset, "iteration variable overwrites accumulator variable")
    return arg.name


class _Expansion:
    """One use of a macro: its variables and the rest of its arguments."""

    def __init__(self, offset: int, target: Node, args: list[Node], variables: int, rule: str) -> None:
        self.offset = offset
        self.target = target
        self.var = _simple_name(args[0], rule)
        self.var2 = _simple_name(args[1], rule) if variables == 2 else None
        if self.var == self.var2:
            raise MacroError(args[1].offset, f"duplicate variable name: {self.var}")
        self.rest = args[variables:]

    def accu(self) -> Node:
        return Ident(self.offset, ACCUMULATOR)

    def call(self, function: str, *args: Node) -> Node:
        return Call(self.offset, function, None, list(args))

    def literal(self, value: bool | int) -> Node:
        return Literal(self.offset, value)

    def fold(
        self,
        macro: str,
        init: Node,
        condition: Node,
        step: Node,
        result: Node,
        predicate: Node | None,
        transform: Node | None,
    ) -> Node:
        return Fold(
            self.offset, self.target, self.var, self.var2, ACCUMULATOR, init, condition, step, result, macro,
            (predicate, transform),
        )  # fmt: skip

    def all(self) -> Node:
        (predicate,) = self.rest
        condition = self.call("@not_strictly_false", self.accu())
        step = self.call("_&&_", self.accu(), predicate)
        return self.fold("all", self.literal(True), condition, step, self.accu(), predicate, None)

    def exists(self) -> Node:
        (predicate,) = self.rest
        condition = self.call("@not_strictly_false", self.call("!_", self.accu()))
        step = self.call("_||_", self.accu(), predicate)
        return self.fold("exists", self.literal(False), condition, step, self.accu(), predicate, None)

    def exists_one(self) -> Node:
        (predicate,) = self.rest
        one_more = self.call("_+_", self.accu(), self.literal(1))
        step = self.call("_?_:_", predicate, one_more, self.accu())
        result = self.call("_==_", self.accu(), self.literal(1))
        return self.fold("exists_one", self.literal(0), self.literal(True), step, result, predicate, None)

    def transform(self, macro: str) -> Node:
        predicate = self.rest[0] if len(self.rest) == 2 else None
        return self.collect(macro, predicate, self.rest[-1])

    def collect(self, macro: str, predicate: Node | None, value: Node) -> Node:
        if macro == "transform_map":
            init: Node = MapNode(self.offset, [])
            step = self.call("cel.@mapInsert", self.accu(), Ident(self.offset, self.var), value)
        elif macro == "transform_entry":
            init = MapNode(self.offset, [])
            step = self.call("cel.@mapInsert", self.accu(), value)
        else:
            init = ListNode(self.offset, [])
            step = self.call("_+_", self.accu(), ListNode(self.offset, [value]))
        if predicate is not None:
            step = self.call("_?_:_", predicate, step, self.accu())
        return self.fold(macro, init, self.literal(True), step, self.accu(), predicate, value)


def _one(offset: int, target: Node, args: list[Node]) -> _Expansion:
    return _Expansion(offset, target, args, 1, "argument must be a simple name")


def _two(offset: int, target: Node, args: list[Node]) -> _Expansion:
    return _Expansion(offset, target, args, 2, "argument must be a simple name")


def _map(offset: int, target: Node, args: list[Node]) -> Node:
    return _Expansion(offset, target, args, 1, "argument is not an identifier").transform("map")


def _filter(offset: int, target: Node, args: list[Node]) -> Node:
    expansion = _Expansion(offset, target, args, 1, "argument is not an identifier")
    return expansion.collect("filter", args[1], Ident(args[0].offset, expansion.var))


def _bind(offset: int, target: Node, args: list[Node], macro: str) -> Node:
    if not isinstance(args[0], Ident):
        raise MacroError(args[0].offset, f"{macro}() variable name must be a simple identifier")
    name = args[0].name
    value = Call(offset, "value", target, [])
    return Fold(
        offset, ListNode(offset, []), "#unused", None, name, value, Literal(offset, False), Ident(offset, name),
        args[1], "bind", (None, None),
    )  # fmt: skip


def _opt_map(offset: int, target: Node, args: list[Node]) -> Node:
    bound = Call(offset, "optional.of", None, [_bind(offset, target, args, "optMap")])
    has = Call(offset, "hasValue", target, [])
    return Call(offset, "_?_:_", None, [has, bound, Call(offset, "optional.none", None, [])])


def _opt_flat_map(offset: int, target: Node, args: list[Node]) -> Node:
    bound = _bind(offset, target, args, "optFlatMap")
    has = Call(offset, "hasValue", target, [])
    return Call(offset, "_?_:_", None, [has, bound, Call(offset, "optional.none", None, [])])


def _sort_by(offset: int, target: Node, args: list[Node]) -> Node:
    if not isinstance(target, ListNode | Select | Ident | Fold | Call):
        rule = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target.offset, rule)
    name = "@__sortBy_input__"
    keys = _map(offset, Ident(offset, name), args)
    sort = Call(offset, "@sortByAssociatedKeys", Ident(offset, name), [keys])
    return Fold(
        offset, ListNode(offset, []), "#unused", None, name, target, Literal(offset, False), Ident(offset, name), sort,
        "bind", (None, None),
    )  # fmt: skip


_MACROS: dict[tuple[str, int], Callable[[int, Node, list[Node]], Node]] = {
    ("all", 2): lambda *call: _one(*call).all(),
    ("exists", 2): lambda *call: _one(*call).exists(),
    ("exists_one", 2): lambda *call: _one(*call).exists_one(),
    ("existsOne", 2): lambda *call: _one(*call).exists_one(),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("all", 3): lambda *call: _two(*call).all(),
    ("exists", 3): lambda *call: _two(*call).exists(),
    ("exists_one", 3): lambda *call: _two(*call).exists_one(),
    ("existsOne", 3): lambda *call: _two(*call).exists_one(),
    ("transformList", 3): lambda *call: _two(*call).transform("transform_list"),
    ("transformList", 4): lambda *call: _two(*call).transform("transform_list"),
    ("transformMap", 3): lambda *call: _two(*call).transform("transform_map"),
    ("transformMap", 4): lambda *call: _two(*call).transform("transform_map"),
    ("transformMapEntry", 3): lambda *call: _two(*call).transform("transform_entry"),
    ("transformMapEntry", 4): lambda *call: _two(*call).transform("transform_entry"),
    ("sortBy", 2): _sort_by,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
}
