"""Expressions that are none, and what a real API server says of them: `golden/syntax_errors.json`.

    python tests/schema/cel/cel_syntax.py --record

starts a control plane, asks it about `WRITTEN` and about mutations of good expressions by a fixed seed, and writes the
file anew: each text with the server's, or with the mark that it takes it. `test_cel_syntax.py` compares without one.
"""

# ruff: noqa: E501 - tables are read by their lines

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cel_mutations import Expressions
from cel_server import CRDS, batches, crd_of

from kubewright.schema.cel.rule import compile_rules
from kubewright.schema.cel.schema_types import schema_type
from kubewright.testing.rest import Rest

__all__ = ["GOLDEN", "WRITTEN", "differing", "ours", "recorded", "texts"]

_TYPE_NAME = re.compile(r"selfType\d+")
GOLDEN = Path(__file__).parent / "golden" / "syntax_errors.json"
SEED = 20_261_201
MUTATIONS = 600
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "s": {"type": "string", "maxLength": 9},
        "b": {"type": "boolean"},
        "l": {"type": "array", "maxItems": 9, "items": {"type": "integer"}},
        "m": {"type": "object", "maxProperties": 9, "additionalProperties": {"type": "integer"}},
    },
}
SEEDS = (
    "self.a > 1 && self.s != 'x'", "self.l.all(x, x > 0) || has(self.b)", "self.s.startsWith(\"a\") ? self.b : !self.b",
    "self.l.map(x, x + 1).exists(y, y == 2)", "{'a': 1, \"b\": 2}['a'] == self.m.k", "[1, 2u, 3.5e1].size() == -1",
    "self.m[?'k'].orValue(3) in [1, 2, 3]", "self.?a.hasValue() && b'\\x00' != b\"\"", "r'\\d+' != '\\u00e9\\n' && true",
    "self.l.exists_one(x, x % 2 == 0x1F) == false", "size(self.s) <= 10 / (self.a - 1) * 2", "'''a\nb''' == null",
)  # fmt: skip
WRITTEN = (
    # Nothing, or not enough.
    "(", ")", "[", "]", "{", "}", "()", "[,,]", "{,,}", "{:}", "(]", "[)", "{]", "((1)", "(1))", "[1", "[1,", "1]", "{1", "{1:",
    "{1:2", "{1:2,", "{1:2,,}", "{1,2}", "{'a' 1}", "[1 2]", "[1,,2]", "[,1]", "{,1:1}", "(1", "(1,2)", "1,2", ",", ";", ":", "?",
    "!", "-", "--", "!!", "-!1", "!-1", "+1", "1 +", "1 + + 2", "1 -", "* 2", "/", "%", "1 * / 2", "1 % % 2", "1 ** 2", "1 // 2",
    # Operators.
    "1 = 1", "1 === 1", "1 <> 2", "1 =< 2", "1 => 2", "1 !== 2", "1 < ", "< 1", "1 < > 2", "1 == == 2", "a & b", "a | b", "a &&& b",
    "a ||| b", "&& a", "a &&", "|| a", "a ||", "a && || b", "a and b", "a or b", "not a", "a ^ b", "~a", "a in", "in a", "a in in b",
    "a not in b", "a is b", "a ? b", "a ? b :", "a ? : b", "? a : b", "a : b", "a ?? b", "a ? b : c : d", "a ? b ? c : d", "a ?: b",
    # Names and members.
    "a.", ".", "..a", ".a.", "a..b", "a.1", "a.'b'", "a.(b)", "a.[b]", "a.b.", "a.?", "a.?b.", "a?.b", "a[", "a[]", "a[1", "a[1,2]",
    "a[1:2]", "a[?", "a[?]", "a[? 1", "a.b(", "a.b(1", "a.b(1,", "a.b(,)", "a.b(1,,2)", "a.b)", "f(", "f(,", "f(1 2)", "f(1;2)", "f(a=1)",
    "f(*a)", "1.a", "1.f()", "'a'.", "1a", "a1.2b", "$a", "@a", "a@b", "#", "a # b", "a b", "a b c", "self self", "`a`", "`a", "a.`b`",
    "a.`b", "a.`b c`", "a.`", "\u00e9", "a.\u00e9", "\u4e2d == 1", "a\u00a0b", "a\u2028b", "self.a \u2265 1", "\U0001f600",
    # Literals.
    "'", '"', "'a", '"a', "'a\"", "'''a", '"""a', "'a\nb'", '"a\nb"', "'\\'", "'\\q'", "'\\x'", "'\\x1'", "'\\u12'", "'\\U0011'", "'\\8'",
    "'\\400'", "'\\ud800'", "'\\U00110000'", "b'", "b'\\u00e9'", "b'\\U0001f600'", "r'", "r'a\\'", "rb'a'", "bR'", "u'a'", "'a''b'", "'a' 'b'",
    "0x", "0xg", "0x1g", "0x1.5", "1e", "1e+", "1.", "1.e1", ".5", ".5.", "1.2.3", "1_000", "0b1", "0o7", "08", "1uu", "1u2", "u", "1.5u",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616u", "1e999", "-1e999", "0xffffffffffffffff", "0x10000000000000000u",
    # Reserved words and keywords.
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace", "return", "var",
    "void", "while", "if (a) b", "for x in y", "let a = 1", "a.true", "a.null", "a.in", "true.a.", "null null", "true false", "a.if.else",
    # Objects.
    "A{", "A{a", "A{a:", "A{a:1", "A{a:1,,}", "A{1:2}", "A{'a':1}", "A.B{", "A.{}", "A{}{}", "a{}.b{", "{}{}", "[]{}", "A{?}", "{?}", "{?1:}",
    "[?]", "[?,]", "[?1,?]",
    # Macros.
    "has()", "has(a)", "has(1)", "has(a.b, c)", "has(a[0])", "has(a.b())", "[1].all()", "[1].all(x)", "[1].all(1, true)", "[1].all(x.y, true)",
    "[1].all(x, y, z, w)", "[1].exists(x + 1, true)", "[1].map(x)", "[1].map('x', 1)", "[1].filter(x, )", "[1].exists_one(f(), true)",
    "[1].all(x, x >", "[1].map(x, x > 0, )", "{}.transformMap(k, 1)", "[1].all(__result__, true)", "[1].exists(a, a, true)",
    # More than one, and lines.
    "a +\n* b", "(\n(\n1", "a &&\n&& b", "\n\n  a b", "1 +\n2 +\n", "[1,\n2,\n'a]", "f(1,\n 2", "( ) ( )", "a b && c d", "[ ( ] )", "{[(", ")]}",
    "a.b.c.(d).e.(f)", "1 2 3 4 5", "' \" '' \"", "((((((((((", "))))))))))", "!!!!!!!", "------", "a ? b ? c ? d", "a : b : c", "\t a b",
    "'\u4e2d' b", "'\U0001f600' + ) ", "// only a comment", "a // b c", "a // b\n c", "\x00", "a\x00b", "a \\ b", "\\", "a\u0301 b",
    # What random ones have found.
    "self.l.map(.x, x + 1)", "self.s.`a`()", "url('a').b", "quantity('1').a.b", "'%\U0001f600'.format([1])", "'%y'.format([])",
    "'%s %y'.format([1])", "duration.__in__", "'''a\nb' == null", "r'\\d+' != '\\u0.0e9\\n'", "b'\\5x00'", "'\\x<00'",
)  # fmt: skip


class _Small(Expressions):
    """Mutations of short expressions, which show what they break."""

    def seed(self) -> str:
        return self.chance.choice(SEEDS)


def texts(seed: int, mutations: int) -> Iterator[str]:
    """All that is asked, each once."""
    chance = random.Random(seed)
    make = _Small(chance)
    seen = set()
    # A rule of white space is none: a server says that of it, and nothing of the others.
    for text in WRITTEN:
        seen.add(text)
        yield text
    while len(seen) < len(WRITTEN) + mutations:
        text = make.seed()
        for _ in range(chance.choice((1, 1, 2, 3))):
            text = chance.choice((make.byte, make.byte, make.token, make.cut, make.splice))(text)
        # Half a surrogate is no JSON.
        if text.strip() and text not in seen and not any("\ud800" <= char <= "\udfff" for char in text):
            seen.add(text)
            yield text


def ask(rest: Rest, rules: list[str]) -> list[str]:
    """By rule, what the server says of it; empty where it takes it."""
    schema = {**SCHEMA, "x-kubernetes-validations": [{"rule": rule, "message": "no"} for rule in rules]}
    whole = {"type": "object", "properties": {"spec": schema}}
    body = json.dumps(crd_of(whole)).encode()
    # The face of Rest keeps the message alone.
    code, answer = rest._exchange("POST", f"{CRDS}?dryRun=All", body, "application/json")
    assert code in (201, 422), answer
    found = [""] * len(rules)
    for cause in (json.loads(answer).get("details") or {}).get("causes") or ():
        place = int(cause["field"].partition("x-kubernetes-validations[")[2].partition("]")[0])
        found[place] = cause["message"].partition(": compilation failed: ")[2] or f"other: {cause['message']}"
    return found


def ours(text: str) -> str:
    """What is said of a text here; empty where it is a rule, or is none for another reason than what it says."""
    seen = schema_type(SCHEMA)
    assert seen is not None
    (rule,) = compile_rules([{"rule": text}], seen, is_new=True)
    return rule.error.partition("compilation failed: ")[2]


def differing(rest: Rest, asked: Sequence[str]) -> list[tuple[str, str, str]]:
    """The texts of which a server says something else, with what is said here and there."""
    found = []
    for rules in batches(asked):
        for rule, said in zip(rules, ask(rest, rules), strict=True):
            theirs = "" if said.startswith("other") else _TYPE_NAME.sub("selfType", said)
            if ours(rule) != theirs:
                found.append((rule, ours(rule), theirs))
    return found


def recorded() -> dict[str, str]:
    found: dict[str, str] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def record(rest: Rest) -> dict[str, str]:
    """By text, what the server says of what does not parse, or is taken apart wrongly; texts it takes are left out."""
    found: dict[str, str] = {}
    for rules in batches(list(texts(SEED, MUTATIONS))):
        asked = zip(rules, ask(rest, rules), strict=True)
        found |= {
            rule: _TYPE_NAME.sub("selfType", said) for rule, said in asked if said and not said.startswith("other")
        }
    return found


def main() -> None:
    from kubewright.testing.controlplane import ControlPlane

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help=f"write {GOLDEN.name}")
    args = parser.parse_args()
    with ControlPlane() as control_plane:
        rest = control_plane.access.rest()
        found = record(rest)
        rest.close()
    print(f"{len(found)} texts, {sum('Syntax error' in each for each in found.values())} with syntax errors")
    if args.record:
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
