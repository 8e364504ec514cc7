"""Types of every node, or the errors that cel-go would give. See `inference` for which type fits where.

Notes in the tree: the type of each node, the overloads that fit each call, names of several parts as one identifier
and namespaced calls (`strings.quote(x)`) as calls without a receiver. Errors do not end the check: what is wrong has
the type `!error!`, which fits everything, so that one mistake is reported once.
"""

from __future__ import annotations

from .environment import Environment
from .errors import MAX_ISSUES, Problems
from .inference import Substitution, most_general
from .literal_checks import check_literals, is_checked
from .nodes import Call, Fold, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from .signatures import Function, Overload
from .types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Type,
    format_signature,
    list_of,
    map_of,
    object_type,
    optional_of,
)  # fmt: skip
from .values import UInt

__all__ = ["check"]

_LITERALS: dict[type, Type] = {
    bool: BOOL, int: INT, UInt: UINT, float: DOUBLE, str: STRING, bytes: BYTES, type(None): NULL,
}  # fmt: skip


def check(node: Node, env: Environment, problems: Problems) -> Type:
    """Note types and overloads in the tree; problems are added to `problems`. Returns the type of the whole."""
    checker = _Checker(env, problems)
    root = checker.check(node)
    has_literals = False
    for each in checker.seen:
        each.type = checker.known.apply(each.type, free_to_dyn=True)
        has_literals = has_literals or is_checked(each, env)
    if has_literals and not problems.issues:
        check_literals(node, env, problems)
    return checker.known.apply(root, free_to_dyn=True)


class _Checker:
    def __init__(self, env: Environment, problems: Problems) -> None:
        self.env = env
        self.problems = problems
        self.known = Substitution()
        self.scopes: list[dict[str, Type]] = []
        self.seen: list[Node] = []
        self.done: dict[int, slice] = {}

    def check(self, node: Node) -> Type:
        # Macros share the node of a receiver that they use twice.
        known = self.done.get(id(node))
        if known is not None:
            # The server checks a copy, and reports what is wrong in it again.
            if len(self.problems.issues) < MAX_ISSUES:
                self.problems.issues += self.problems.issues[known]
            return node.type
        begun = len(self.problems.issues)
        match node:
            case Literal():
                found = _LITERALS[type(node.value)]
            case Ident():
                found = self.ident(node)
            case Select():
                found = self.select(node)
            case Call():
                found = self.call(node)
            case ListNode():
                found = self.list_literal(node)
            case MapNode():
                found = self.map_literal(node)
            case StructNode():
                found = self.struct_literal(node)
            case Fold():
                found = self.fold(node)
            case _:
                raise TypeError(f"unknown node {node!r}")
        node.type = found
        self.done[id(node)] = slice(begun, len(self.problems.issues))
        self.seen.append(node)
        return found

    # -- names --------------------------------------------------------------------------------------------------------

    def resolve(self, name: str) -> Type | None:
        if name.startswith("."):
            name = name[1:]
        else:
            for scope in reversed(self.scopes):
                if name in scope:
                    return scope[name]
        if name in self.env.variables:
            return self.env.variables[name]
        constant = self.env.constants.get(name)
        return None if constant is None else constant[0]

    def ident(self, node: Ident) -> Type:
        found = self.resolve(node.name)
        if found is None:
            self.problems.add(node.offset, f"undeclared reference to '{node.name}' (in container '')")
            return ERROR
        return found

    def qualified(self, node: Node) -> str | None:
        """`a.b.c` as one name, where it may be one."""
        parts: list[str] = []
        while isinstance(node, Select) and not node.test_only:
            parts.append(node.name)
            node = node.operand
        if not isinstance(node, Ident):
            return None
        return ".".join((node.name, *reversed(parts)))

    def select(self, node: Select) -> Type:
        if not node.test_only:
            name = self.qualified(node)
            if name is not None and not any(name.partition(".")[0] in scope for scope in self.scopes):
                found = self.resolve(name)
                if found is not None:
                    _become_ident(node, name)
                    return found
        result = self.field(node.offset, node.operand, node.name, False)
        return BOOL if node.test_only else self.known.apply(result)

    def field(self, offset: int, operand: Node, name: str, optional: bool) -> Type:
        operand_type = self.known.apply(self.check(operand))
        target = operand_type.params[0] if operand_type.is_optional else operand_type
        result = ERROR
        match target.kind:
            case "map":
                result = target.params[1]
            case "object":
                field = self.env.field(target.name, name)
                if field is None:
                    # URLs, quantities and such have values, but no fields.
                    is_known = target.name in self.env.objects or self.env.structs(target.name) is not None
                    missing = f"undefined field '{name}'"
                    self.problems.add(
                        offset, missing if is_known else f"unexpected failed resolution of '{target.name}'"
                    )
                else:
                    result = field.type
            case "param":
                self.known.assignable(DYN, target)
                result = DYN
            case "dyn" | "any" | "error":
                result = DYN
            case _:
                self.problems.add(offset, f"type '{target}' does not support field selection")
                result = DYN
        return optional_of(result) if optional or operand_type.is_optional else result

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, name = node.args
            self.check(name)
            if not isinstance(name, Literal):
                raise TypeError("an optional field is named by a literal")
            node.overloads = ("select_optional_field",)
            return self.known.apply(self.field(node.offset, operand, str(name.value), True))
        args = [self.check(arg) for arg in node.args]
        if node.target is None:
            function = self.env.functions.get(node.function.removeprefix("."))
            if function is None:
                self.problems.add(node.offset, f"undeclared reference to '{node.function}' (in container '')")
                return ERROR
            node.function = function.name
            return self.resolve_overload(node, function, args, False)
        prefix = self.qualified(node.target)
        if prefix is not None:
            function = self.env.functions.get(f"{prefix.removeprefix('.')}.{node.function}")
            if function is not None:
                node.function, node.target = function.name, None
                return self.resolve_overload(node, function, args, False)
        target = self.check(node.target)
        function = self.env.functions.get(node.function)
        if function is None:
            self.problems.add(node.offset, f"undeclared reference to '{node.function}' (in container '')")
            return ERROR
        return self.resolve_overload(node, function, [target, *args], True)

    def resolve_overload(self, node: Call, function: Function, args: list[Type], member: bool) -> Type:
        if node.function in ("_&&_", "_||_"):
            wrong = False
            for arg, type_ in zip(node.args, args, strict=True):
                if not self.known.assignable(type_, BOOL):
                    self.mismatch(arg.offset, BOOL, type_)
                    wrong = True
            node.overloads = (function.overloads[0].id,)
            return ERROR if wrong else BOOL
        # What fits types without parameters is the same in every expression.
        key: tuple[bool | Type, ...] = (member, *args)
        if key in function.resolved:
            node.overloads, known, fresh = function.resolved[key]
            self.known.skip(fresh)
            return known
        begun = self.known.made
        result: Type | None = None
        found: list[str] = []
        for overload in function.overloads:
            if overload.member != member or len(overload.args) != len(args):
                continue
            places, returned = self.instantiate(overload)
            if not self.known.all_assignable(args, places):
                continue
            found.append(overload.id)
            returned = self.known.apply(returned)
            if result is None:
                result = returned
            elif not result.is_dyn and returned != result:
                result = DYN
        if result is None:
            shown = [self.known.apply(arg, free_to_dyn=True) for arg in args]
            self.problems.add(
                node.offset,
                f"found no matching overload for '{function.name}' applied to '{format_signature(shown, member)}'",
            )
            return ERROR
        node.overloads = tuple(found)
        if not any(map(_has_parameter, (*args, result))):
            function.remember(key, (node.overloads, result, self.known.made - begun))
        return result

    def instantiate(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        if not overload.params:
            return overload.args, overload.result
        fresh = {name: self.known.fresh() for name in overload.params}
        return tuple(_rename(each, fresh) for each in overload.args), _rename(overload.result, fresh)

    def mismatch(self, offset: int, expected: Type, found: Type) -> None:
        self.problems.add(offset, f"expected type '{expected}' but found '{found}'")

    # -- literals -----------------------------------------------------------------------------------------------------

    def unwrap_optional(self, node: Node, found: Type) -> Type:
        found = self.known.apply(found)
        if found.is_optional:
            return found.params[0]
        if not found.is_dyn:
            self.mismatch(node.offset, optional_of(found), found)
        return found

    def join(self, before: Type | None, found: Type) -> Type:
        if before is None:
            return found
        if self.known.assignable(before, found):
            return most_general(before, found)
        # Whether literals may be mixed is checked when all types are known.
        return DYN

    def list_literal(self, node: ListNode) -> Type:
        joined: Type | None = None
        for index, item in enumerate(node.items):
            found = self.check(item)
            if index in node.optional:
                found = self.unwrap_optional(item, found)
            joined = self.join(joined, found)
        return list_of(joined if joined is not None else self.known.fresh())

    def map_literal(self, node: MapNode) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self.join(key, self.check(entry.key))
            found = self.check(entry.value)
            if entry.optional:
                found = self.unwrap_optional(entry.value, found)
            value = self.join(value, found)
        if key is None or value is None:
            return map_of(self.known.fresh(), self.known.fresh())
        return map_of(key, value)

    def struct_literal(self, node: StructNode) -> Type:
        struct = self.env.structs(node.name.removeprefix("."))
        if struct is None:
            self.problems.add(node.offset, f"undeclared reference to '{node.name}' (in container '')")
            return ERROR
        for offset, name, value, optional in node.fields:
            found = self.check(value)
            if optional:
                found = self.unwrap_optional(value, found)
            expected = struct.field_type(name)
            if expected is None:
                self.problems.add(offset, f"undefined field '{name}'")
            elif not self.known.assignable(expected, found):
                said = f"expected type of field '{name}' is '{expected}' but provided type is '{found}'"
                self.problems.add(offset, said)
        return object_type(struct.name)

    def fold(self, node: Fold) -> Type:
        ranged = self.known.apply(self.check(node.range))
        accu = self.check(node.init)
        match ranged.kind:
            case "list":
                var, var2 = (INT, ranged.params[0]) if node.var2 else (ranged.params[0], None)
            case "map":
                var, var2 = ranged.params[0], ranged.params[1]
            case "dyn" | "any" | "error" | "param":
                self.known.assignable(DYN, ranged)
                var, var2 = DYN, DYN
            case _:
                self.problems.add(
                    node.range.offset,
                    f"expression of type '{ranged}' cannot be range of a comprehension (must be list, map, or dynamic)",
                )
                var, var2 = ERROR, ERROR
        self.scopes.append({node.accu: accu})
        inner = {node.var: var}
        if node.var2 is not None and var2 is not None:
            inner[node.var2] = var2
        self.scopes.append(inner)
        self.expect(node.condition, BOOL)
        self.expect(node.step, accu)
        self.scopes.pop()
        result = self.check(node.result)
        self.scopes.pop()
        return self.known.apply(result)

    def expect(self, node: Node, expected: Type) -> None:
        found = self.check(node)
        if not self.known.assignable(expected, found):
            self.mismatch(node.offset, expected, found)


def _become_ident(node: Select, name: str) -> None:
    """A selection that turned out to be a name of several parts."""
    node.operand = Ident(node.offset, name)
    node.name = ""


def _has_parameter(type_: Type) -> bool:
    return type_.kind == "param" or any(map(_has_parameter, type_.params))


def _rename(type_: Type, fresh: dict[str, Type]) -> Type:
    if type_.kind == "param":
        return fresh.get(type_.name, type_)
    if not type_.params:
        return type_
    return Type(type_.kind, type_.name, tuple(_rename(each, fresh) for each in type_.params))
