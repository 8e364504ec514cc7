"""A checked tree to a Python function.

The function has the shape `program(variables, limit, more) -> (result, cost)`. Expressions become Python expressions
where Python means the same, and statements where errors are absorbed or a branch has a cost of its own:

- `&&`, `||`: one `try` for each term; the first error is raised only if no term decides.
- costs: what a straight piece of code costs is added up here and charged by one statement; only calls whose cost
  depends on sizes, and loops, compute at run time. The limit is checked in loops, before calls that may take long, and
  at the end: beyond it, `more(cost)` gives the next limit or raises. So an evaluation that can be interrupted has the
  same code as one that cannot.
- Python allows 20 nested loops and `try` blocks; before that a nested function takes over.

Constant literals are evaluated once, here, and cost nothing, as on the server.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Final

from .. import re2
from . import pyast as py
from .constants import constant_of, is_constant
from .costs import CREATE_LIST, CREATE_MAP, CREATE_OBJECT, IDENT, RuntimeCost
from .environment import Environment
from .errors import EvaluationError
from .nodes import Call, Fold, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from .pyast import assign, at_line, call, compare, const, function, if_, load, raise_, store, try_
from .runtime import GLOBALS, final
from .values import Misfit

__all__ = ["Generator", "Run", "generate"]

MAX_BLOCKS: Final = 12
Run = Callable[[Mapping[str, Any], int, Callable[[int], int]], tuple[Any, int]]


def generate(node: Node, env: Environment, costs: dict[str, RuntimeCost], *, is_sound: bool = True) -> Run:
    """The function of a checked tree.

    Args:
        is_sound: whether all values are of the types that the tree was checked with. Where data may have misfits
            (`values.Misfit`), every value that is read is looked at.

    Raises:
        EvaluationError: a constant part of it has no value.
    """
    generator = Generator(env, costs, is_sound)
    run = generator.program(node)
    return _limited(run) if generator.is_bounded else run


def _limited(run: Run) -> Run:
    def limited(variables: Mapping[str, Any], limit: int, more: Callable[[int], int]) -> tuple[Any, int]:
        with re2.limited():
            return run(variables, limit, more)

    return limited


class Block:
    """Statements in the making, and a cost that is not charged yet."""

    def __init__(self) -> None:
        self.statements: list[ast.stmt] = []
        self.pending = 0

    def close(self) -> list[ast.stmt]:
        if self.pending:
            self.statements.insert(0, py.AugAssign(store("cost"), py.ADD, const(self.pending)))
            self.pending = 0
        return self.statements


class Generator:
    def __init__(self, env: Environment, costs: dict[str, RuntimeCost], is_sound: bool = True) -> None:
        self.env = env
        self.costs = costs
        self.is_sound = is_sound
        #: Whether there are calls that search by patterns or walk through values, which are bounded together.
        self.is_bounded = False
        self.globals: dict[str, Any] = dict(GLOBALS)
        self.block = Block()
        self.count = 0
        self.nesting = 0
        self.scopes: list[dict[str, str]] = []
        self.variables: dict[str, str] = {}
        #: The key of each selection by its line in the generated code, from the second on.
        self.keys: list[str] = []
        #: Shared nodes (of macros that use their receiver twice) that have a value: its name, and that of its cost.
        self.shared: dict[int, tuple[str, str]] = {}

    # -- the function -------------------------------------------------------------------------------------------------

    def program(self, node: Node) -> Run:
        result = self.expr(node)
        self.block.statements.append(assign("result", result))
        body = self.block.close()
        loads = [
            assign(local, py.Subscript(load("variables"), const(name), py.LOAD))
            for name, local in self.variables.items()
        ]
        check = self.checkpoint(load("cost"))
        done = py.Return(py.Tuple([load("result"), load("cost")], py.LOAD))
        failed = raise_(call("final", load("error"), load("cost"), load("KEYS")))
        handler = py.ExceptHandler(load("Exception"), "error", [failed])
        whole = py.Try([*loads, *body, check, done], [handler], [], [])
        made = function("program", ("variables", "limit", "more"), [assign("cost", const(0)), whole])
        module = ast.Module([made], [])
        self.globals |= {"final": final, "KEYS": tuple(self.keys)}
        exec(compile(module, "<cel>", "exec"), self.globals)  # noqa: S102 - made of nodes; no text of users is in it
        run: Run = self.globals["program"]
        return run

    def name(self, prefix: str = "t") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def charge(self, cost: int) -> None:
        self.block.pending += cost

    def charge_call(self, cost: ast.expr) -> None:
        """The cost of a call that depends on its operands: 1 at once, which also a failing one costs, then the rest."""
        self.charge(1)
        self.charge_by(py.BinOp(cost, py.SUB, const(1)))

    def checkpoint(self, cost: ast.expr) -> ast.stmt:
        """Asks whether the evaluation may go on where `cost` is over the limit."""
        return if_(compare(cost, py.GT, load("limit")), [assign("limit", call("more", cost))])

    def charge_by(self, cost: ast.expr) -> None:
        self.block.statements.append(py.AugAssign(store("cost"), py.ADD, cost))

    def constant(self, value: Any) -> ast.expr:
        if value is None or value.__class__ in (bool, int, str, bytes):
            return const(value)
        name = self.name("k")
        self.globals[name] = value
        return load(name)

    def keep(self, value: ast.expr) -> ast.expr:
        """The value in a local, so that it can be read twice."""
        if isinstance(value, ast.Name | ast.Constant):
            return value
        name = self.name()
        self.block.statements.append(assign(name, value))
        return load(name)

    def inside(self, make: Callable[[], None], nested: bool = False) -> list[ast.stmt]:
        """The statements that `make` emits, as a block of their own."""
        outer, self.block = self.block, Block()
        self.nesting += nested
        make()
        self.nesting -= nested
        made, self.block = self.block.close(), outer
        return made

    def bounded(self, make: Callable[[], ast.expr]) -> ast.expr:
        """What `make` makes; in a function of its own where Python's limit of nested blocks is near."""
        if self.nesting < MAX_BLOCKS:
            return make()
        nesting, self.nesting = self.nesting, 0
        outer, self.block = self.block, Block()
        result = make()
        self.block.statements.append(py.Return(result))
        body, self.block = self.block.close(), outer
        self.nesting = nesting
        name = self.name("f")
        self.block.statements.append(function(name, (), [py.Nonlocal(["cost", "limit"]), *body]))
        return self.keep(call(name))

    def values(self, nodes: list[Node]) -> list[ast.expr]:
        """Several values, evaluated from left to right."""
        found: list[ast.expr] = []
        kept = 0
        for node in nodes:
            before = len(self.block.statements)
            value = self.expr(node)
            if len(self.block.statements) > before:
                # What stands before was not evaluated yet, but has to be before these statements.
                late = self.block.statements[before:]
                del self.block.statements[before:]
                found[kept:] = [self.keep(each) for each in found[kept:]]
                kept = len(found)
                self.block.statements.extend(late)
            found.append(value)
        return found

    # -- nodes --------------------------------------------------------------------------------------------------------

    def expr(self, node: Node) -> ast.expr:
        shared = self.shared.get(id(node))
        if shared is not None:
            self.charge_by(load(shared[1]))
            return load(shared[0])
        if is_constant(node):
            return self.constant(constant_of(node, self.env))
        match node:
            case Literal():
                return self.constant(node.value)
            case Ident():
                made = self.ident(node)
            case Select():
                made = self.select(node)
            case Call():
                from .calls import emit_call

                made = emit_call(self, node)
            case ListNode():
                made = self.list_literal(node)
            case MapNode():
                made = self.map_literal(node)
            case Fold():
                from .folds import emit_fold

                made = self.bounded(lambda: emit_fold(self, node))
            case StructNode():
                made = self.struct_literal(node)
            case _:
                raise EvaluationError(f"unknown node {node!r}")
        return made if self.is_sound else call("sound", made)

    def ident(self, node: Ident) -> ast.expr:
        name = node.name
        for scope in reversed(self.scopes):
            if name in scope:
                self.charge(IDENT)
                return load(scope[name])
        name = name.removeprefix(".")
        if name not in self.env.variables and name in self.env.constants:
            value = self.env.constants[name][1]
            if isinstance(value, Misfit):
                raise value.error()
            return self.constant(value)
        self.charge(IDENT)
        local = self.variables.get(name)
        if local is None:
            local = self.variables[name] = self.name("v")
        return load(local)

    def operand(self, node: Node) -> ast.expr:
        """The operand of a selection. One that is no attribute becomes one, which costs."""
        if not is_attribute(node) or is_constant(node):
            self.charge(IDENT)
        return self.expr(node)

    def select(self, node: Select) -> ast.expr:
        if not node.name:
            return self.ident(_as_ident(node))
        target = node.operand.type
        key = node.name
        if target.kind == "object":
            key = self.env.key(target.name, key)
        if node.test_only:
            operand = self.operand(node.operand)
            if not self.is_sound:
                return call("has_sound", operand, const(key))
            if target.kind in ("object", "map"):
                operand = self.keep(operand)
                there = compare(operand, py.IS_NOT, const(None))
                return py.BoolOp(py.AND, [there, compare(const(key), py.IN, operand)])
            return call("has_field", operand, const(key))
        operand = self.operand(node.operand)
        if target.is_optional:
            if target.params[0].kind == "object":
                key = self.env.key(target.params[0].name, key)
            kept = self.optional(call("select", operand, const(key)))
            self.charge_by(py.Attribute(kept, "present", py.LOAD))
            return kept
        self.charge(IDENT)
        if target.kind in ("object", "map"):
            return self.subscript(operand, key)
        return call("select", operand, const(key))

    def optional(self, value: ast.expr) -> ast.expr:
        """An optional part of an attribute, in a local."""
        return self.keep(value if self.is_sound else call("sound_optional", value))

    def subscript(self, operand: ast.expr, key: str) -> ast.expr:
        """A value of an object or a map. Of null there is none: which one was asked for is known by the line."""
        self.keys.append(key)
        return at_line(py.Subscript(operand, const(key), py.LOAD), len(self.keys) + 1)

    def list_literal(self, node: ListNode) -> ast.expr:
        items = self.values(node.items)
        self.charge(CREATE_LIST)
        if not node.optional:
            return py.List(items, py.LOAD)
        parts: list[ast.expr] = []
        for index, item in enumerate(items):
            if index not in node.optional:
                parts.append(item)
                continue
            optional = self.keep(item)
            present = py.Attribute(optional, "present", py.LOAD)
            one = py.List([py.Attribute(optional, "value", py.LOAD)], py.LOAD)
            parts.append(py.Starred(py.IfExp(present, one, py.List([], py.LOAD)), py.LOAD))
        return py.List(parts, py.LOAD)

    def map_literal(self, node: MapNode) -> ast.expr:
        name = self.name()
        self.charge(CREATE_MAP)
        self.block.statements.append(assign(name, py.Dict([], [])))
        for entry in node.entries:
            key, value = self.values([entry.key, entry.value])
            if entry.optional:
                optional = self.keep(value)
                put = py.Expr(call("put", load(name), key, py.Attribute(optional, "value", py.LOAD)))
                self.block.statements.append(if_(py.Attribute(optional, "present", py.LOAD), [put]))
            else:
                self.block.statements.append(py.Expr(call("put", load(name), key, value)))
        return load(name)

    def struct_literal(self, node: StructNode) -> ast.expr:
        struct = self.env.structs(node.name.removeprefix("."))
        if struct is None:
            raise EvaluationError(f"unknown type {node.name!r}")
        name = self.name()
        self.charge(CREATE_OBJECT)
        self.block.statements.append(assign(name, py.Dict([], [])))
        for _, field, value, optional in node.fields:
            made = self.expr(value)
            if optional:
                kept = self.keep(made)
                put = py.Expr(call("put", load(name), const(field), py.Attribute(kept, "value", py.LOAD)))
                self.block.statements.append(if_(py.Attribute(kept, "present", py.LOAD), [put]))
            else:
                self.block.statements.append(py.Expr(call("put", load(name), const(field), made)))
        return call(self.constant(struct.make), load(name))

    # -- logic --------------------------------------------------------------------------------------------------------

    def boolean(self, node: Node, value: ast.expr) -> ast.expr:
        return value if node.type.kind == "bool" else call("boolean", value)

    def logic(self, terms: list[Node], neutral: bool) -> ast.expr:
        """`&&` (neutral True) or `||` (neutral False) over all terms; errors are absorbed by a deciding term."""
        result, error = self.name(), self.name("e")
        self.block.statements.append(assign(result, const(neutral)))
        self.block.statements.append(assign(error, const(None)))
        for number, term in enumerate(terms):

            def one(term: Node = term) -> None:
                self.block.statements.append(assign(result, self.boolean(term, self.expr(term))))

            body = self.inside(one, nested=True)
            undecided = load(result) if neutral else py.UnaryOp(py.NOT, load(result))
            step = [try_(body, error, assign(result, const(neutral)))]
            self.block.statements.extend(step if number == 0 else [if_(undecided, step)])
        pending = load(result) if neutral else py.UnaryOp(py.NOT, load(result))
        both = py.BoolOp(py.AND, [compare(load(error), py.IS_NOT, const(None)), pending])
        self.block.statements.append(if_(both, [raise_(load(error))]))
        return load(result)

    def ternary(self, condition: Node, yes: Node, no: Node) -> ast.expr:
        test = self.boolean(condition, self.expr(condition))
        result = self.name()

        def branch(node: Node) -> list[ast.stmt]:
            def make() -> None:
                value = self.expr(node)
                if self.is_free(node):
                    # A branch that is an attribute is resolved as part of the conditional.
                    self.charge(-IDENT)
                self.block.statements.append(assign(result, value))

            return self.inside(make)

        self.block.statements.append(if_(test, branch(yes), branch(no)))
        return load(result)

    def is_free(self, node: Node) -> bool:
        """Whether the node, as a part of an attribute, costs 1 less than alone."""
        if isinstance(node, Call) and node.function == "_?_:_":
            return False
        return is_attribute(node) and not is_constant(node) and not self.is_type_name(node)

    def is_type_name(self, node: Node) -> bool:
        name = node.name if isinstance(node, Ident) else None
        if isinstance(node, Select) and not node.name:
            name = _as_ident(node).name
        if name is None or any(name in scope for scope in self.scopes):
            return False
        return name not in self.env.variables and name in self.env.constants


def is_attribute(node: Node) -> bool:
    """Whether selecting from the node adds to an attribute (a variable and a path), as on the server."""
    if isinstance(node, Ident):
        return True
    if isinstance(node, Select):
        return not node.test_only
    return isinstance(node, Call) and node.function in ("_[_]", "_[?_]", "_?._", "_?_:_")


def _as_ident(node: Select) -> Ident:
    if not isinstance(node.operand, Ident):
        raise EvaluationError("a name of several parts is an identifier")
    return node.operand
