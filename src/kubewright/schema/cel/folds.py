"""Macros over lists and maps, as loops. What each round costs is what cel-go's expansion of the macro would cost.

| macro | each round, beside its parts | once |
|---|---|---|
| all | 2 to go on, 1 for the accumulator | 1 |
| exists | 3 to go on, 1 for the accumulator | 1 |
| exists_one | 2 for a hit | 2 |
| map, filter, transformList | 12 for an item that is kept | 1 |
| transformMap / transformMapEntry | 3 / 2 for an entry that is kept | 1 |
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import pyast as py
from .constants import is_constant
from .costs import CREATE_LIST
from .nodes import Fold, Node, reads
from .pyast import assign, call, compare, const, if_, load, raise_, store, try_
from .values import decode_key

if TYPE_CHECKING:
    from .codegen import Generator

__all__ = ["emit_fold"]


def emit_fold(gen: Generator, node: Fold) -> ast.expr:
    if node.macro == "bind":
        return _bind(gen, node)
    items = gen.keep(gen.expr(node.range))
    match node.macro:
        case "all":
            return _quantifier(gen, node, items, True)
        case "exists":
            return _quantifier(gen, node, items, False)
        case "exists_one":
            return _exists_one(gen, node, items)
    return _collect(gen, node, items)


def _bind(gen: Generator, node: Fold) -> ast.expr:
    name = gen.name("x")
    # The server evaluates what is bound when it is first read.
    init = gen.expr(node.init) if reads(node.result, node.accu) else const(None)
    gen.block.statements.append(assign(name, init))
    gen.scopes.append({node.accu: name})
    result = gen.expr(node.result)
    gen.scopes.pop()
    return result


def _loop(gen: Generator, node: Fold, items: ast.expr, body: Callable[[], None]) -> None:
    """`for var in items`, with the variables in scope and the limit checked in each round."""
    scope = {node.var: gen.name("x")}
    ranged = node.range.type
    target: ast.expr = store(scope[node.var])
    if node.var2 is not None:
        scope[node.var2] = gen.name("x")
        target = py.Tuple([target, store(scope[node.var2])], py.STORE)
        items = call("enumerate", items) if ranged.kind == "list" else call("pairs", items)
        gen.globals["enumerate"] = enumerate
    elif ranged.kind != "list" and not (ranged.kind == "map" and ranged.params[0].kind == "string"):
        items = call("keys", items)

    def make() -> None:
        body()
        gen.block.statements.append(gen.checkpoint(load("cost")))

    gen.scopes.append(scope)
    statements = gen.inside(make, nested=True)
    gen.scopes.pop()
    gen.block.statements.append(py.For(target, items, statements, [], None))


def _quantifier(gen: Generator, node: Fold, items: ast.expr, neutral: bool) -> ast.expr:
    predicate = node.parts[0]
    if predicate is None:
        raise TypeError(f"{node.macro} has no predicate")
    result, error = gen.name(), gen.name("e")
    gen.block.statements.append(assign(result, const(neutral)))
    gen.block.statements.append(assign(error, const(None)))

    def body() -> None:
        gen.charge(2 if neutral else 3)
        decided: ast.expr = py.UnaryOp(py.NOT, load(result)) if neutral else load(result)
        gen.block.statements.append(if_(decided, [py.Break()]))

        def test() -> None:
            gen.charge(1)
            gen.block.statements.append(assign(result, gen.boolean(predicate, gen.expr(predicate))))

        tested = gen.inside(test, nested=True)
        gen.block.statements.append(try_(tested, error, assign(result, const(neutral))))

    _loop(gen, node, items, body)
    gen.charge(1)
    undecided: ast.expr = load(result) if neutral else py.UnaryOp(py.NOT, load(result))
    both = py.BoolOp(py.AND, [compare(load(error), py.IS_NOT, const(None)), undecided])
    gen.block.statements.append(if_(both, [raise_(load(error))]))
    return load(result)


def _exists_one(gen: Generator, node: Fold, items: ast.expr) -> ast.expr:
    predicate = node.parts[0]
    if predicate is None:
        raise TypeError(f"{node.macro} has no predicate")
    hits = gen.name()
    gen.block.statements.append(assign(hits, const(0)))

    def body() -> None:
        test = gen.boolean(predicate, gen.expr(predicate))

        def hit() -> None:
            gen.charge(2)
            gen.block.statements.append(py.AugAssign(store(hits), py.ADD, const(1)))

        gen.block.statements.append(if_(test, gen.inside(hit)))

    _loop(gen, node, items, body)
    gen.charge(2)
    return compare(load(hits), py.EQ, const(1))


def _collect(gen: Generator, node: Fold, items: ast.expr) -> ast.expr:
    predicate, value = node.parts
    if value is None:
        raise TypeError(f"{node.macro} has no value")
    result = gen.name()
    as_map = node.macro in ("transform_map", "transform_entry")
    gen.block.statements.append(assign(result, py.Dict([], []) if as_map else py.List([], py.LOAD)))

    def keep(value: Node = value) -> None:
        made = gen.expr(value)
        statements = gen.block.statements
        if node.macro == "transform_map":
            gen.charge(3)
            statements.append(py.Expr(call("insert", load(result), load(gen.scopes[-1][node.var]), made)))
        elif node.macro == "transform_entry":
            gen.charge(2)
            gen.globals["put_all"] = _put_all
            statements.append(py.Expr(call("put_all", load(result), made)))
        else:
            gen.charge(2 + (0 if is_constant(value) else CREATE_LIST))
            statements.append(py.Expr(call(py.Attribute(load(result), "append", py.LOAD), made)))

    def body() -> None:
        if predicate is None:
            keep()
            return
        test = gen.boolean(predicate, gen.expr(predicate))
        gen.block.statements.append(if_(test, gen.inside(keep)))

    _loop(gen, node, items, body)
    gen.charge(1)
    return load(result)


def _put_all(entries: dict[object, object], more: dict[object, object]) -> None:
    from .runtime import insert

    for key, value in more.items():
        insert(entries, decode_key(key), value)
