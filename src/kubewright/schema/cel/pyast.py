"""Small makers of Python syntax nodes. Nodes, not text: deep expressions have no parentheses to nest too deep."""

from __future__ import annotations

import ast
from typing import Any

__all__ = [
    "assign",
    "at_line",
    "binary",
    "call",
    "compare",
    "const",
    "if_",
    "load",
    "locate",
    "raise_",
    "store",
    "try_",
]


def locate(root: ast.AST) -> None:
    """Give every node a place, which `compile` wants: the line of `at_line`, or else the first.

    Quicker than the standard library's walk.
    """
    todo: list[ast.AST] = [root]
    while todo:
        node = todo.pop()
        # The attributes themselves: nodes have nothing else in their dict.
        own = node.__dict__
        for value in own.values():
            if value.__class__ is list:
                todo += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append(value)
        if node._attributes:
            line = own.get("cel_line", 1)
            own.update(lineno=line, end_lineno=line, col_offset=0, end_col_offset=0)


def at_line(node: ast.expr, line: int) -> ast.expr:
    """The node, with a line of its own, by which an error tells where it comes from."""
    node.cel_line = line  # type: ignore[attr-defined]
    return node


def load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def const(value: Any) -> ast.expr:
    return ast.Constant(value)


def assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([store(name)], value)


def call(function: str | ast.expr, *args: ast.expr) -> ast.expr:
    return ast.Call(load(function) if isinstance(function, str) else function, list(args), [])


def binary(left: ast.expr, operator: ast.operator, right: ast.expr) -> ast.expr:
    return ast.BinOp(left, operator, right)


def compare(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.expr:
    return ast.Compare(left, [operator], [right])


def if_(test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt] | None = None) -> ast.stmt:
    return ast.If(test, then or [ast.Pass()], otherwise or [])


def raise_(error: ast.expr) -> ast.stmt:
    return ast.Raise(error, None)


def try_(body: list[ast.stmt], name: str, handler: list[ast.stmt]) -> ast.stmt:
    """`body`, and `handler` with the error as `name`; what stops the whole evaluation passes through."""
    fatal = ast.ExceptHandler(load("EvaluationStopped"), None, [ast.Raise(None, None)])
    caught = ast.ExceptHandler(load("ERRORS"), name, handler)
    return ast.Try(body or [ast.Pass()], [fatal, caught], [], [])
