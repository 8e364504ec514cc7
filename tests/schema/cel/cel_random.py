"""Random expressions over a few variables, right in their types but for a small share; deterministic by seed."""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["Generator"]

_MACROS = ("all", "exists", "exists_one")
_TESTS = ("startsWith", "endsWith", "contains")


class Generator:
    """Makes expressions of a type: int, uint, double, string, bool, list (of int), strings (a list), map, any.

    Args:
        variables: by type, expressions to use as leaves beside literals.
        common: only what every implementation of CEL has.
        wrong: the share of places with a value of another type.
    """

    def __init__(
        self, seed: int, variables: dict[str, list[str]], *, common: bool = False, wrong: float = 0.01
    ) -> None:
        self.random = random.Random(seed)
        self.variables = variables
        self.common = common
        self.wrong = wrong
        self.scope: list[tuple[str, str]] = []

    def pick(self, kind: str, depth: int) -> str:
        if self.random.random() < self.wrong:
            kind = self.random.choice(["int", "double", "string", "bool", "list", "strings", "map"])
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(kind)
        options = self.options(kind)
        return self.random.choice(options)(depth - 1)

    def leaf(self, kind: str) -> str:
        choices = [name for name, of in self.scope if of == kind] * 2 + self.variables.get(kind, [])
        literals = {
            "int": ["0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808"],
            "uint": ["0u", "1u", "3u", "18446744073709551615u"],
            "double": ["0.0", "1.5", "-2.25", "1e10"],
            "string": ["''", "'a'", "'hello'", "'b1'", "'a,b'", "'\u00e9'"],
            "bool": ["true", "false"],
            "list": ["[]", "[1]", "[1, 2, 3]", "[2, 1, 2]"],
            "strings": ["['a']", "['b', 'a']", "['hello', '']"],
            "map": ["{'a': 1}", "{'a': 1, 'b': 2}", "{'hello': 0}"],
        }
        return self.random.choice(choices + literals[kind])

    def bound(self, kind: str, body: str, depth: int) -> str:
        name = f"v{len(self.scope)}"
        self.scope.append((name, kind))
        text = self.pick(body, depth)
        self.scope.pop()
        return f"{name}, {text}"

    def options(self, kind: str) -> list[Callable[[int], str]]:
        pick = self.pick
        either = [lambda d: f"({pick('bool', d)} ? {pick(kind, d)} : {pick(kind, d)})"]
        if kind == "int":
            found = [
                lambda d: f"({pick('int', d)} {self.random.choice('+-*/%')} {pick('int', d)})",
                lambda d: f"-({pick('int', d)})",
                lambda d: f"size({pick(self.random.choice(['string', 'list', 'strings', 'map']), d)})",
                lambda d: f"{pick('string', d)}.size()",
                lambda d: f"{pick('list', d)}[{pick('int', d)}]",
                lambda d: f"{pick('map', d)}[{pick('string', d)}]",
                lambda d: f"int({pick(self.random.choice(['string', 'double', 'uint', 'int']), d)})",
            ]
            if not self.common:
                found += [
                    lambda d: f"{pick('list', d)}.sum()",
                    lambda d: f"{pick('list', d)}.{self.random.choice(['min', 'max'])}()",
                    lambda d: f"{pick('string', d)}.indexOf({pick('string', d)})",
                    lambda d: f"{pick('list', d)}.indexOf({pick('int', d)})",
                    lambda d: f"{pick('map', d)}[?{pick('string', d)}].orValue({pick('int', d)})",
                    lambda d: f"{pick('list', d)}[?{pick('int', d)}].optMap({self.bound('int', 'int', d)}).orValue(5)",
                ]
        elif kind == "uint":
            found = [
                lambda d: f"({pick('uint', d)} {self.random.choice('+-*/%')} {pick('uint', d)})",
                lambda d: f"uint({pick(self.random.choice(['int', 'double', 'string']), d)})",
            ]
        elif kind == "double":
            found = [
                lambda d: f"({pick('double', d)} {self.random.choice('+-*/')} {pick('double', d)})",
                lambda d: f"double({pick(self.random.choice(['int', 'string', 'uint']), d)})",
            ]
        elif kind == "string":
            found = [
                lambda d: f"({pick('string', d)} + {pick('string', d)})",
                lambda d: f"string({pick(self.random.choice(['int', 'bool', 'double', 'uint']), d)})",
                lambda d: f"{pick('strings', d)}[{pick('int', d)}]",
            ]
            if not self.common:
                found += [
                    lambda d: f"{pick('string', d)}.{self.random.choice(['lowerAscii', 'upperAscii', 'trim'])}()",
                    lambda d: f"{pick('string', d)}.replace({pick('string', d)}, {pick('string', d)})",
                    lambda d: f"{pick('string', d)}.substring({pick('int', d)})",
                    lambda d: f"{pick('strings', d)}.join({pick('string', d)})",
                    lambda d: f"'%s-%s'.format([{pick('string', d)}, {pick('int', d)}])",
                    lambda d: f"{pick('string', d)}.find('[a-h]+')",
                ]
        elif kind == "list":
            found = [
                lambda d: f"({pick('list', d)} + {pick('list', d)})",
                lambda d: f"[{pick('int', d)}, {pick('int', d)}]",
                lambda d: f"{pick('list', d)}.map({self.bound('int', 'int', d)})",
                lambda d: f"{pick('list', d)}.filter({self.bound('int', 'bool', d)})",
                lambda d: f"{pick('strings', d)}.map({self.bound('string', 'int', d)})",
            ]
            if not self.common:
                found += [
                    lambda d: f"{pick('map', d)}.map({self.bound('string', 'int', d)})",
                    lambda d: f"{pick('list', d)}.{self.random.choice(['sort', 'reverse', 'distinct'])}()",
                    lambda d: f"{pick('list', d)}.slice(0, {pick('int', d)})",
                    lambda d: f"{pick('list', d)}.transformList(i, {self.bound('int', 'int', d)})",
                    lambda d: f"{pick('list', d)}.sortBy({self.bound('int', 'int', d)})",
                ]
        elif kind == "strings":
            found = [
                lambda d: f"[{pick('string', d)}, {pick('string', d)}]",
                lambda d: f"{pick('strings', d)}.map({self.bound('string', 'string', d)})",
            ]
            if not self.common:
                found.append(lambda d: f"{pick('map', d)}.filter({self.bound('string', 'bool', d)})")
                found.append(lambda d: f"{pick('string', d)}.split({pick('string', d)})")
        elif kind == "map":
            found = [lambda d: f"{{{pick('string', d)}: {pick('int', d)}, 'zz': {pick('int', d)}}}"]
            if not self.common:
                found.append(lambda d: f"{pick('map', d)}.transformMap(k, {self.bound('int', 'int', d)})")
        else:
            same = ["int", "double", "string", "bool", "list", "strings", "map", "uint"]

            def compared(d: int) -> str:
                of = self.random.choice(same)
                return f"({pick(of, d)} {self.random.choice(['==', '!='])} {pick(of, d)})"

            def ordered(d: int) -> str:
                of = self.random.choice(["int", "double", "string", "uint"])
                return f"({pick(of, d)} {self.random.choice(['<', '<=', '>', '>='])} {pick(of, d)})"

            found = [
                lambda d: f"({pick('bool', d)} && {pick('bool', d)})",
                lambda d: f"({pick('bool', d)} || {pick('bool', d)})",
                lambda d: f"!{pick('bool', d)}",
                compared,
                ordered,
                lambda d: f"({pick('int', d)} in {pick('list', d)})",
                lambda d: f"({pick('string', d)} in {pick(self.random.choice(['strings', 'map']), d)})",
                lambda d: f"{pick('list', d)}.{self.random.choice(_MACROS)}({self.bound('int', 'bool', d)})",
                lambda d: f"{pick('map', d)}.{self.random.choice(_MACROS)}({self.bound('string', 'bool', d)})",
                lambda d: f"{pick('string', d)}.{self.random.choice(_TESTS)}({pick('string', d)})",
                lambda d: f"{pick('string', d)}.matches('^[a-h1]*$')",
            ]
            if not self.common:
                found += [
                    lambda d: f"{pick('list', d)}.isSorted()",
                    lambda d: f"sets.contains({pick('list', d)}, {pick('list', d)})",
                    lambda d: f"{pick('list', d)}.all(i, {self.bound('int', 'bool', d)})",
                ]
        return found + either

    def expression(self, depth: int = 4) -> str:
        kind = self.random.choice(["bool", "bool", "int", "string", "list", "strings", "double", "map", "uint"])
        return self.pick(kind, depth)
