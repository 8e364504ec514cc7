"""Calls to Python: operators as Python's own where the types allow, functions by overload, lazy ones as branches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from . import ops
from . import pyast as py
from .constants import constant_of, is_constant
from .costs import SLOW, WALKS, ceil_tenth, size_of
from .dispatch import Dispatch
from .nodes import Call, Ident, ListNode, Literal, Node
from .pyast import assign, binary, call, compare, const, if_, load
from .values import UInt

if TYPE_CHECKING:
    from .codegen import Generator

__all__ = ["emit_call"]

_SCALARS: Final = frozenset({"bool", "int", "uint", "double", "timestamp", "duration"})
_EXACT: Final = frozenset({"int", "uint", "string", "bytes", "bool", "timestamp", "duration"})
_COMPARE: Final[dict[str, ast.cmpop]] = {"_<_": py.LT, "_<=_": py.LT_E, "_>_": py.GT, "_>=_": py.GT_E}
_TEXT: Final = frozenset({"string", "bytes"})


def emit_call(gen: Generator, node: Call) -> ast.expr:
    """The value of a call; its costs are charged."""
    match node.function:
        case "_&&_" | "_||_":
            terms = _chain(node, node.function)
            return gen.bounded(lambda: gen.logic(terms, node.function == "_&&_"))
        case "_?_:_":
            return _conditional(gen, node)
        case "_[_]" | "_[?_]":
            return _index(gen, node)
        case "_?._":
            return _optional_field(gen, node)
        case "or" | "orValue" if node.target is not None and node.overloads[0].startswith("optional_or"):
            return _or_value(gen, node)
        case "_==_" | "_!=_":
            return _equality(gen, node)
        case "@in":
            return _membership(gen, node)
        case "size" if len(node.overloads) == 1:
            (value,) = gen.values(_args(node))
            gen.charge(1)
            return call("len", value)
    if node.function in _COMPARE and _is_exact(node):
        return _comparison(gen, node)
    return _general(gen, node)


def _args(node: Call) -> list[Node]:
    return [*([node.target] if node.target is not None else []), *node.args]


def _chain(node: Call, function: str) -> list[Node]:
    terms: list[Node] = []
    todo: list[Node] = [node]
    while todo:
        each = todo.pop()
        if isinstance(each, Call) and each.function == function and each.target is None:
            todo.extend(reversed(each.args))
        else:
            terms.append(each)
    return terms


def _conditional(gen: Generator, node: Call) -> ast.expr:
    condition, yes, no = node.args
    target = condition.target if isinstance(condition, Call) and condition.function == "hasValue" else None
    if target is None or isinstance(target, Ident | Literal) or id(target) in gen.shared:
        return gen.ternary(condition, yes, no)
    # optMap and optFlatMap name their receiver twice: it is evaluated once, and charged for twice.
    before, after = gen.name("c"), gen.name("c")
    pending, gen.block.pending = gen.block.pending, 0
    if pending:
        gen.charge_by(const(pending))
    gen.block.statements.append(assign(before, load("cost")))
    pending = gen.block.pending
    value = gen.expr(target)
    extra, gen.block.pending = gen.block.pending - pending, pending
    if extra:
        gen.charge_by(const(extra))
    kept = gen.name()
    gen.block.statements.append(assign(kept, value))
    gen.block.statements.append(assign(after, binary(load("cost"), py.SUB, load(before))))
    # The first use is charged already.
    gen.charge_by(py.UnaryOp(py.MINUS, load(after)))
    gen.shared[id(target)] = (kept, after)
    result = gen.ternary(condition, yes, no)
    del gen.shared[id(target)]
    return result


def _index(gen: Generator, node: Call) -> ast.expr:
    operand_node, key_node = node.args
    target = operand_node.type
    from .codegen import is_attribute

    if not is_attribute(operand_node) or is_constant(operand_node):
        gen.charge(1)
    operand, key = gen.values([operand_node, key_node])
    if gen.is_free(key_node):
        # The key is resolved as part of the attribute.
        gen.charge(-1)
    if node.function == "_[?_]" or target.is_optional:
        return _present(gen, call("select_optional", operand, key))
    gen.charge(1)
    if target.kind == "list":
        return call("index_list", operand, key)
    if target.kind == "map":
        if target.params[0].kind == "string" and key_node.type.kind == "string":
            return py.Subscript(operand, key, py.LOAD)
        return call("index_map", operand, key)
    return call("index", operand, key)


def _optional_field(gen: Generator, node: Call) -> ast.expr:
    operand_node, name = node.args
    target = operand_node.type
    if target.is_optional:
        target = target.params[0]
    key = getattr(name, "value", "")
    if target.kind == "object":
        key = gen.env.key(target.name, key)
    operand = gen.operand(operand_node)
    return _present(gen, call("select_optional", operand, const(key)))


def _present(gen: Generator, optional: ast.expr) -> ast.expr:
    """An optional part of an attribute, which costs only if it is there."""
    kept = gen.optional(optional)
    gen.charge_by(py.Attribute(kept, "present", py.LOAD))
    return kept


def _or_value(gen: Generator, node: Call) -> ast.expr:
    if node.target is None:
        return _general(gen, node)
    optional = gen.keep(gen.expr(node.target))
    result = gen.name()
    present = py.Attribute(optional, "present", py.LOAD)
    value = optional if node.function == "or" else py.Attribute(optional, "value", py.LOAD)
    otherwise = gen.inside(lambda: gen.block.statements.append(assign(result, gen.expr(node.args[0]))))
    gen.block.statements.append(if_(present, [assign(result, value)], otherwise))
    return load(result)


def _equality(gen: Generator, node: Call) -> ast.expr:
    left_node, right_node = node.args
    left_type, right_type = left_node.type, right_node.type
    negative = node.function == "_!=_"
    left, right = gen.values(node.args)
    operator: ast.cmpop = py.NOT_EQ if negative else py.EQ
    if left_type == right_type and left_type.kind in _SCALARS:
        gen.charge(1)
        return compare(left, operator, right)
    if left_type == right_type and left_type.kind in _TEXT:
        left, right = gen.keep(left), gen.keep(right)
        gen.globals["smaller"] = _smaller
        gen.charge_call(call("smaller", left, right))
        return compare(left, operator, right)
    left, right = gen.keep(left), gen.keep(right)
    result = gen.name()
    gen.is_bounded = True
    gen.globals["equals"] = ops.equals
    gen.globals["smaller_of"] = _smaller_of
    gen.block.statements.append(assign(result, call("equals", left, right)))
    gen.charge_call(call("smaller_of", left, right))
    return py.UnaryOp(py.NOT, load(result)) if negative else load(result)


def _smaller(one: str | bytes, other: str | bytes) -> int:
    return (min(len(one), len(other)) + 9) // 10


def _smaller_of(one: object, other: object) -> int:
    return ceil_tenth(min(size_of(one), size_of(other)))


def _membership(gen: Generator, node: Call) -> ast.expr:
    value_node, range_node = node.args
    if isinstance(range_node, ListNode) and is_constant(range_node):
        items = constant_of(range_node, gen.env)
        if all(item.__class__ in (str, int, float, UInt) for item in items):
            value = gen.expr(value_node)
            gen.globals["among"] = _among
            return call("among", value, gen.constant(frozenset(items)))
    value, entries = gen.values(node.args)
    if node.overloads == ("in_map",):
        gen.charge(1)
        if not gen.is_sound:
            return call("in_sound_map", value, entries)
        if value_node.type.kind == "string":
            return compare(value, py.IN, entries)
        gen.globals["in_map"] = ops.in_map
        return call("in_map", value, entries)
    if node.overloads == ("in_list",):
        value, entries = gen.keep(value), gen.keep(entries)
        gen.charge_call(call("len", entries))
        kind = range_node.type.params[0].kind if range_node.type.params else "dyn"
        if kind in ("string", "int") and value_node.type.kind == kind and gen.is_sound:
            return compare(value, py.IN, entries)
        gen.is_bounded = True
        gen.globals["in_list"] = ops.in_list
        return call("in_list", value, entries)
    gen.is_bounded = True
    return _dispatched(gen, node, [value, entries])


def _among(value: object, items: frozenset[object]) -> bool:
    return value.__class__ in (str, int, float, UInt) and value in items


def _is_exact(node: Call) -> bool:
    kinds = {arg.type.kind for arg in node.args}
    return len(node.overloads) == 1 and (kinds <= {"int", "uint"} or (len(kinds) == 1 and kinds <= _EXACT))


def _comparison(gen: Generator, node: Call) -> ast.expr:
    left, right = gen.values(node.args)
    if node.args[0].type.kind in _TEXT:
        left, right = gen.keep(left), gen.keep(right)
        gen.globals["smaller"] = _smaller
        gen.charge_call(call("smaller", left, right))
    else:
        gen.charge(1)
    return compare(left, _COMPARE[node.function], right)


def _general(gen: Generator, node: Call) -> ast.expr:
    nodes = _args(node)
    values = gen.values(nodes)
    overloads = [each for each in gen.env.functions[node.function].overloads if each.id in node.overloads]
    overload = overloads[0]
    certain = len(overloads) == 1 and all(
        place.kind in ("param", "dyn") or not arg.type.is_dyn for arg, place in zip(nodes, overload.args, strict=True)
    )
    gen.is_bounded = gen.is_bounded or any(each.id in WALKS for each in overloads)
    if not certain:
        return _dispatched(gen, node, values)
    name = f"r_{overload.id}".replace(".", "_").replace("@", "_")
    run = gen.env.prepared(overload, nodes)
    if run is None:
        gen.globals[name] = overload.run
    else:
        name = gen.name("r")
        gen.globals[name] = run
    cost = gen.costs.get(overload.id)
    if cost is None:
        gen.charge(1)
        return call(name, *values)
    args = [gen.keep(value) for value in values]
    result = gen.name()
    cost_name = f"c_{overload.id}".replace(".", "_").replace("@", "_")
    gen.globals[cost_name] = cost
    price = py.Tuple(args, py.LOAD)
    if overload.id in SLOW:
        # Known before: what it costs does not depend on the result.
        spent = gen.keep(call(cost_name, price, const(None)))
        _ask_first(gen, spent)
        gen.block.statements.append(assign(result, call(name, *args)))
        gen.charge_call(spent)
        return load(result)
    gen.block.statements.append(assign(result, call(name, *args)))
    gen.charge_call(call(cost_name, price, load(result)))
    return load(result)


def _dispatched(gen: Generator, node: Call, values: list[ast.expr]) -> ast.expr:
    name, result, cost = gen.name("d"), gen.name(), gen.name("c")
    overloads = [each for each in gen.env.functions[node.function].overloads if each.id in node.overloads]
    gen.globals[name] = Dispatch(node.function, overloads, gen.costs)
    if any(each.id in SLOW for each in overloads):
        values = [gen.keep(value) for value in values]
        _ask_first(gen, call(py.Attribute(load(name), "price", py.LOAD), *values))
    pair = py.Tuple([py.Name(result, py.STORE), py.Name(cost, py.STORE)], py.STORE)
    gen.block.statements.append(py.Assign([pair], call(name, *values)))
    gen.charge_call(load(cost))
    return load(result)


def _ask_first(gen: Generator, cost: ast.expr) -> None:
    """Stops before a call that would go beyond the limit; of what was spent before it, some is not charged yet."""
    gen.block.statements.append(gen.checkpoint(binary(load("cost"), py.ADD, gen.keep(cost))))
