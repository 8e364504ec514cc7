"""Makers of Python syntax nodes. Nodes, not text: deep expressions have no parentheses to nest too deep.

`compile` wants a place of every node. The classes here have one, the first line, so that nobody has to walk a finished
tree and write it down; `at_line` gives a node another. Nodes without fields, such as operators, are shared.
"""

from __future__ import annotations

import ast
from typing import Any, Final

__all__ = [
    "ADD", "AND", "Assign", "Attribute", "AugAssign", "BinOp", "BoolOp", "Break", "Call", "Compare", "Constant",
    "Dict", "EQ", "ExceptHandler", "Expr", "For", "FunctionDef", "GT", "GT_E", "IN", "IS", "IS_NOT", "If",
    "IfExp", "LOAD", "LT", "LT_E", "List", "MINUS", "NOT", "NOT_EQ", "Name", "Nonlocal", "Pass", "Raise",
    "Return", "STORE", "SUB", "Starred", "Subscript", "Try", "Tuple", "UnaryOp", "assign", "at_line", "binary",
    "call", "compare", "const", "function", "if_", "load", "raise_", "store", "try_",
]  # fmt: skip

LOAD: Final = ast.Load()
STORE: Final = ast.Store()
ADD: Final = ast.Add()
SUB: Final = ast.Sub()
AND: Final = ast.And()
EQ: Final = ast.Eq()
NOT_EQ: Final = ast.NotEq()
GT: Final = ast.Gt()
GT_E: Final = ast.GtE()
LT: Final = ast.Lt()
LT_E: Final = ast.LtE()
IN: Final = ast.In()
IS: Final = ast.Is()
IS_NOT: Final = ast.IsNot()
NOT: Final = ast.Not()
MINUS: Final = ast.USub()
#: Python 3.12 added the field, and warns when it is missing from 3.13 on.
_TYPE_PARAMS: Final[tuple[Any, ...]] = ([],) if "type_params" in ast.FunctionDef._fields else ()


class _Placed:
    """On the first line. `compile` also takes what the class has."""

    lineno: int = 1
    end_lineno: int | None = 1
    col_offset: int = 0
    end_col_offset: int | None = 0


class Assign(_Placed, ast.Assign):
    pass


class Attribute(_Placed, ast.Attribute):
    pass


class AugAssign(_Placed, ast.AugAssign):
    pass


class BinOp(_Placed, ast.BinOp):
    pass


class BoolOp(_Placed, ast.BoolOp):
    pass


class Break(_Placed, ast.Break):
    pass


class Call(_Placed, ast.Call):
    pass


class Compare(_Placed, ast.Compare):
    pass


class Constant(_Placed, ast.Constant):
    pass


class Dict(_Placed, ast.Dict):
    pass


class ExceptHandler(_Placed, ast.ExceptHandler):
    pass


class Expr(_Placed, ast.Expr):
    pass


class For(_Placed, ast.For):
    pass


class FunctionDef(_Placed, ast.FunctionDef):
    pass


class If(_Placed, ast.If):
    pass


class IfExp(_Placed, ast.IfExp):
    pass


class List(_Placed, ast.List):
    pass


class Name(_Placed, ast.Name):
    pass


class Nonlocal(_Placed, ast.Nonlocal):
    pass


class Pass(_Placed, ast.Pass):
    pass


class Raise(_Placed, ast.Raise):
    pass


class Return(_Placed, ast.Return):
    pass


class Starred(_Placed, ast.Starred):
    pass


class Subscript(_Placed, ast.Subscript):
    pass


class Try(_Placed, ast.Try):
    pass


class Tuple(_Placed, ast.Tuple):
    pass


class UnaryOp(_Placed, ast.UnaryOp):
    pass


class Arg(_Placed, ast.arg):
    pass


def at_line(node: ast.expr, line: int) -> ast.expr:
    """The node, with a line of its own, by which an error tells where it comes from."""
    node.lineno = node.end_lineno = line
    return node


def load(name: str) -> ast.expr:
    return Name(name, LOAD)


def store(name: str) -> ast.Name:
    return Name(name, STORE)


def const(value: Any) -> ast.expr:
    return Constant(value)


def assign(name: str, value: ast.expr) -> ast.stmt:
    return Assign([Name(name, STORE)], value)


def call(function: str | ast.expr, *args: ast.expr) -> ast.expr:
    return Call(Name(function, LOAD) if isinstance(function, str) else function, list(args), [])


def binary(left: ast.expr, operator: ast.operator, right: ast.expr) -> ast.expr:
    return BinOp(left, operator, right)


def compare(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.expr:
    return Compare(left, [operator], [right])


def if_(test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt] | None = None) -> ast.stmt:
    return If(test, then or [Pass()], otherwise or [])


def raise_(error: ast.expr) -> ast.stmt:
    return Raise(error, None)


def try_(body: list[ast.stmt], error: str, otherwise: ast.stmt) -> ast.stmt:
    """`body`, and `otherwise` where it fails; the first failure is kept in `error`.

    What stops the whole evaluation passes through `hold`.
    """
    kept = Assign([Name(error, STORE)], call("hold", Name(error, LOAD), Name("caught", LOAD)))
    return Try(body or [Pass()], [ExceptHandler(Name("ERRORS", LOAD), "caught", [kept, otherwise])], [], [])


def function(name: str, arguments: tuple[str, ...], body: list[ast.stmt]) -> ast.stmt:
    args = ast.arguments([], [Arg(each, None) for each in arguments], None, [], [], None, [])
    return FunctionDef(name, args, body, [], None, None, *_TYPE_PARAMS)
