"""What the fuzz run is fed: mutated expressions, patterns of a grammar, values of all shapes; by a given chance."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from cel_random import Generator
from cel_rules import CHANGES, PROPERTIES, TABLE, WRONG, as_rule

__all__ = ["Expressions", "Objects", "Patterns"]

_TABLE = json.loads((Path(__file__).parent / "expressions.json").read_text(encoding="utf-8"))
SEEDS: list[str] = [
    *(str(as_rule(row[0])["rule"]) for row in TABLE),
    *(str(as_rule(row)["rule"]) for row in WRONG),
    *(str(as_rule(row[0])["rule"]) for row in CHANGES),
    *(row["expr"] for row in _TABLE["rows"]),
]
TOKENS: list[str] = sorted(
    {token for seed in SEEDS for token in re.findall(r"\w+|'[^']*'|[^\w\s]", seed)}
    | {"&&", "||", "==", "!=", "<=", ">=", ".?", "[?", "self", "oldSelf", "x", "y", "in", "null", "0x", "1e", "u", "b'"}
    | {"-9223372036854775808", "18446744073709551615u", "1e308", "'\\u00e9'", "r'\\d'", '"""', "'''", "//", "\\", "`a`"}
)
CHARS = (
    "xself.()[]{}?:!&|=<>+-*/%,'\"`\\ \n\t0123456789abcuUrRbB_@#$^~;\u00e9\u4e2d\U0001f600\x00\x7f\u2028\ufeff\ud7ff"
)
NAMES = {
    "int": ["self.min", "x", "size(y)"],
    "string": ["self.name", "y", "self.labels.a"],
    "bool": ["self.autoScale", "has(self.name)", "x == y"],
    "list": ["self.numbers", "x", "y"],
    "strings": ["self.names", "self.tags", "y"],
    "double": ["self.ratio"],
    "map": ["self.limits", "x"],
}

_FORMS = (
    "({})", "[{}]", "!({})", "-({})", "[{}].all(v, v)", "[{}].map(v, [v, v])", "{{'k': {}}}", "dyn({})", "({}) ? x : y",
    "optional.of({}).optMap(v, v)", "has(self.name) && ({})", "string({})", "size({})", "[{}].exists(v, v == x)",
    "'%s'.format([{}])", "type({}) == int", "({}).a.b", "({})[0]", "({}).?a",
)  # fmt: skip
_ATOMS = (
    "a", "b", "ab", ".", r"\d", r"\w", r"\s", r"\pL", r"[^a]", "[a-c]", "[[:alpha:]]", "^", "$", r"\b", "", r"\B",
    r"\z", r"\A", "(?i:k)", r"\Qa.b\E", "\u00e9", r"\x{10FFFF}", r"\PN", "(?s:.)", "(?m:^a$)",
)  # fmt: skip
_TEXTS = (
    "", "a", "hello", "1", "-1.5Gi", "10.0.0.1", "::1", "10.0.0.0/8", "1.2.3", "https://a.b:1/c?d=e", "2020-01-01",
    "1h30m", "2020-01-01T00:00:00Z", "\u00e9\U0001f600", "a" * 63, "%s", "%d%%", "(", "[a-z]+", "\x00", "null",
)  # fmt: skip


class Expressions:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def seed(self) -> str:
        if self.chance.random() < 0.4:
            generator = Generator(self.chance.randrange(1 << 30), NAMES, wrong=0.1)
            return generator.expression(self.chance.randint(2, 5))
        return self.chance.choice(SEEDS)

    def garbled(self) -> str:
        """Bytes and tokens changed until it may be anything."""
        text = self.seed()
        for _ in range(self.chance.randint(1, 8)):
            text = self.chance.choice((self.byte, self.byte, self.token, self.cut, self.splice, self.repeat))(text)
        return text[:20_000]

    def plausible(self) -> str:
        """Mostly an expression; half of the time with a part that fits nothing."""
        text = self.seed()
        for _ in range(self.chance.choice((0, 0, 1, 1, 2, 3))):
            text = self.chance.choice((self.token, self.wrap, self.join, self.replace_part))(text)
        return text[:20_000]

    def hungry(self, patterns: Patterns) -> str:
        """Asks for much work on large values."""
        quoted = json.dumps(patterns.pattern())
        name = self.chance.choice(("x", "y"))
        other = self.chance.choice(("x", "y", "[x, y]", "dyn(x)"))
        part = self.chance.choice(
            (
                f"{name}.matches({quoted})",
                f"{name}.find({quoted}) == ''",
                f"{name}.findAll({quoted}).size() > 0",
                f"{name} == {other}",
                f"{name} + {other} == {other} + {name}",
                f"sets.contains({name}, {other}) || sets.equivalent({name}, {name})",
                f"{name}.distinct().size() > 1",
                f"{name}.all(a, {other}.exists(b, a == b))",
                f"{name}.map(a, [a, a]).flatten().size() > 3",
                f"{name}.split('').size() > 1 && {name}.replace('a', {name}) != ''",
                f"'%s %s'.format([{name}, {other}]).size() > 2",
                f"{name}.indexOf({other}) > 0",
                f"{name}.sortBy(a, a).size() > 0 && {name}.transformMap(k, v, v).size() > 0",
                f"url({name}).getHost() == '' || quantity({name}).isGreaterThan(quantity('1'))",
                f"isIP({name}) || isCIDR({name}) || isSemver({name}) || isURL({name}) || isQuantity({name})",
                f"int({name}) > 0 || duration({name}) > duration('1s') || timestamp({name}) > timestamp(0)",
                f"format.named('dns1123Label').value().validate({name}).hasValue()",
                f"{name}.lowerAscii().trim().reverse().size() > 0 || {name}.join({name}) == ''",
            )
        )
        return self.wrap(part) if self.chance.random() < 0.3 else part

    # -- mutations ----------------------------------------------------------------------------------------------------

    def byte(self, text: str) -> str:
        at = self.chance.randint(0, len(text))
        kind = self.chance.randrange(3)
        if kind == 0:
            return text[:at] + self.chance.choice(CHARS) + text[at:]
        if kind == 1:
            return text[:at] + text[at + self.chance.randint(1, 3) :]
        return text[:at] + self.chance.choice(CHARS) + text[at + 1 :]

    def token(self, text: str) -> str:
        places = [found.span() for found in re.finditer(r"\w+|'[^']*'|[^\w\s]", text)]
        if not places:
            return self.chance.choice(TOKENS)
        start, end = self.chance.choice(places)
        kind = self.chance.randrange(3)
        if kind == 0:
            return text[:start] + self.chance.choice(TOKENS) + text[end:]
        if kind == 1:
            return text[:start] + text[end:]
        return text[:start] + self.chance.choice(TOKENS) + " " + text[start:]

    def cut(self, text: str) -> str:
        start, end = sorted(self.chance.randint(0, len(text)) for _ in range(2))
        return text[start:end]

    def splice(self, text: str) -> str:
        other = self.seed()
        return text[: self.chance.randint(0, len(text))] + other[self.chance.randint(0, len(other)) :]

    def repeat(self, text: str) -> str:
        start, end = sorted(self.chance.randint(0, len(text)) for _ in range(2))
        times = self.chance.choice((2, 3, 10, 60, 300))
        return text[:start] + text[start : min(end, start + 40)] * times + text[end:]

    def wrap(self, text: str) -> str:
        form = self.chance.choice(_FORMS)
        for _ in range(self.chance.choice((1, 1, 2, 5, 40))):
            text = form.format(text)
            if len(text) > 5_000:
                break
        return text

    def join(self, text: str) -> str:
        sign = self.chance.choice(("&&", "||", "==", "+", "-", "*", "/", "%", "<", "in", "? x :", ".all(v,"))
        return f"({text}) {sign} ({self.seed()})"

    def replace_part(self, text: str) -> str:
        inside = [found.span() for found in re.finditer(r"\b(?:self\.\w+|\d+|'[^']*')", text)]
        if not inside:
            return text
        start, end = self.chance.choice(inside)
        return f"{text[:start]}({self.seed()}){text[end:]}"


class Patterns:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def pattern(self) -> str:
        text = self.part(self.chance.randint(1, 4))
        if self.chance.random() < 0.3:
            at = self.chance.randint(0, len(text))
            text = text[:at] + self.chance.choice("()[]{}*+?|\\^$.-:P<>=!,0aZ\u00e9") + text[at:]
        return text[:400]

    def part(self, depth: int) -> str:
        choice = self.chance.random()
        if depth <= 0 or choice < 0.25:
            return self.chance.choice(_ATOMS)
        if choice < 0.5:
            return "".join(self.part(depth - 1) for _ in range(self.chance.randint(2, 4)))
        if choice < 0.65:
            return "(" + "|".join(self.part(depth - 1) for _ in range(self.chance.randint(2, 3))) + ")"
        suffix = self.chance.choice(("*", "+", "?", "*?", "+?", "{2}", "{0,3}", "{1,}", "{3,30}", "{100}", "{0,50}?"))
        return f"({self.part(depth - 1)}){suffix}"

    def text(self) -> str:
        alphabet = self.chance.choice(("ab", "abc \n", "aK\u212a\u00e9_1-", "a"))
        return "".join(self.chance.choices(alphabet, k=self.chance.choice((0, 1, 3, 8, 20, 300))))


class Objects:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": PROPERTIES}

    def subject(self) -> dict[str, Any]:
        """An object that the schema of the table allows."""
        row = self.chance.choice(TABLE)
        found = {**row[self.chance.choice((1, 2))], **self.chance.choice(TABLE)[1]}
        for name in self.chance.sample(sorted(PROPERTIES), self.chance.randint(0, 6)):
            kind = PROPERTIES[name].get("type")
            if kind == "integer":
                found[name] = self.chance.choice((0, 1, -1, 2**63 - 1, -(2**63), 7))
            elif kind == "string" and "format" not in PROPERTIES[name] and "enum" not in PROPERTIES[name]:
                found[name] = self.text()[:32]
            elif name in ("numbers", "names", "tags"):
                found[name] = [self.text()[:32] if name != "numbers" else self.chance.randrange(9) for _ in range(3)]
        return found

    def text(self) -> str:
        return self.chance.choice(_TEXTS)

    def any(self, depth: int = 3) -> Any:
        kind = self.chance.randrange(9 if depth else 6)
        if kind == 0:
            return self.chance.choice((None, True, False))
        if kind <= 2:
            return self.chance.choice((0, 1, -1, 5, 2**31, 2**63 - 1, -(2**63)))
        if kind == 3:
            return self.chance.choice((0.0, -0.0, 1.5, 1e308, float("inf"), float("nan"), 2.0**53))
        if kind <= 5:
            return self.text()
        if kind <= 7:
            return [self.any(depth - 1) for _ in range(self.chance.choice((0, 1, 3, 8)))]
        return {self.text() or "k": self.any(depth - 1) for _ in range(self.chance.choice((0, 1, 3)))}

    def large(self) -> Any:
        """Up to what fits into a request."""
        size = self.chance.choice((1_000, 20_000, 200_000))
        kind = self.chance.randrange(7)
        if kind == 0:
            return self.chance.choice(("a", "ab", "1", "a.", "\u00e9", "-", " ", "9")) * size
        if kind == 1:
            return "".join(self.chance.choices("ab c1\n", k=size))
        if kind == 2:
            return list(range(size))
        if kind == 3:
            return [f"k{number}" for number in range(size)]
        if kind == 4:
            return {f"k{number}": number for number in range(size // 4)}
        if kind == 5:
            return [{"name": str(number), "n": [number]} for number in range(size // 10)]
        deep: Any = 1
        for _ in range(self.chance.choice((50, 500, 5_000))):
            deep = [deep, deep] if self.chance.random() < 0.3 else {"a": deep}
        return deep
