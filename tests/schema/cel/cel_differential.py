"""Random rules here and on a real API server: verdicts and texts at the CRD, results at the object, costs near limits.

    python tests/schema/cel/cel_differential.py --rules 1000 --expressions 20000 --report

compares as the tests do, with a control plane of its own and with `cel-expr-python` where that is installed, and writes
`cel_differential.md`.
"""

from __future__ import annotations

import argparse
import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cel_random import Generator
from cel_server import CRDS, batches, crd_of, differences, said_of, schema_of, serve

from kubewright.schema.cel.rule_checks import RULE_LIMIT, SchemaRules, check_schema_rules
from kubewright.schema.cel.rules import Rules
from kubewright.testing.rest import Rest

__all__ = ["COST_CASES", "Seen", "compare_costs", "compare_random_rules"]

NAMES = {
    "int": ["self.min", "self.inner.size", "self.numbers[0]", "self.limits['a']"],
    "string": ["self.name", "self.inner.kind", "self.labels.k", "self.names[0]", "self.port"],
    "bool": ["self.autoScale", "has(self.name)"],
    "list": ["self.numbers", "self.ports.map(p, p.port)"],
    "strings": ["self.names", "self.tags"],
    "double": ["self.ratio"],
    "map": ["self.limits"],
}
VALUE = {
    "min": 1,
    "ratio": 1.5,
    "autoScale": True,
    "name": "hello",
    "port": "b1",
    "numbers": [1, 2, 3],
    "names": ["a", "b1"],
    "tags": ["x"],
    "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}],
    "labels": {"k": "a"},
    "limits": {"a": 1},
    "inner": {"kind": "a"},
}
#: Why something that is generated is not compared.
LEFT_OUT = {
    "lists of errors": (
        "`sort`, `distinct` of a list whose making fails: the server answers with an internal error whose text is that"
        " of a Go value"
    ),
    "too expensive": "rules that both sides refuse for their cost come in `costs`, where they are made on purpose",
}


@dataclass
class Seen:
    """What a comparison has seen: how many of what, and what differs."""

    counts: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)


def compare_random_rules(rest: Rest, seed: int, count: int) -> Seen:
    """`count` rules, refused ones and others, on the server and here."""
    seen = Seen()
    wrong: list[str] = []
    right: list[str] = []
    generator = Generator(seed, NAMES, wrong=0.05)
    while len(wrong) + len(right) < count:
        rule = generator.pick("bool", 3)
        errors = check_schema_rules(schema_of([rule]))
        if not errors:
            if any(name in rule for name in (".sort", ".distinct")):
                seen.counts["left out: lists of errors"] += 1
            else:
                right.append(rule)
        elif "compilation failed" in str(errors[0]) or "instantiation failed" in str(errors[0]):
            wrong.append(rule)
        else:
            seen.counts["left out: too expensive"] += 1
    for rules in batches(wrong):
        schema = schema_of(rules)
        said = said_of(rest, "POST", f"{CRDS}?dryRun=All", crd_of(schema))
        seen.found += differences(check_schema_rules(schema, "spec.validation.openAPIV3Schema"), said)
        seen.counts["rules refused in the same words"] += len(rules)
    parts = [part for rules in batches(right) for part in _affordable(rules)]
    schemas = [schema_of(rules, objects=[VALUE] * len(rules)) for rules in parts]
    for rules, schema, (path, start) in zip(parts, schemas, serve(rest, schemas), strict=True):
        subject = {**start, "spec": {f"r{number}": VALUE for number in range(len(rules))}}
        errors = Rules(schema).evaluate(subject)
        seen.found += differences(errors, said_of(rest, "POST", f"{path}?dryRun=All", subject))
        seen.counts["rules with the same result"] += len(rules)
        seen.counts["of these broken or in error"] += len(errors)
    return seen


def _affordable(rules: list[str]) -> Iterator[list[str]]:
    """Each rule alone is cheap enough; all in one CRD may not be."""
    if not check_schema_rules(schema_of(rules)):
        yield rules
        return
    half = len(rules) // 2
    yield from _affordable(rules[:half])
    yield from _affordable(rules[half:])


# -- costs ------------------------------------------------------------------------------------------------------------

_S: Callable[[int], dict[str, Any]] = lambda n: {"type": "string", "maxLength": n}  # noqa: E731


def _schema(n: int) -> dict[str, Any]:
    """A schema whose sizes follow n: the lists, maps and texts of it, and texts in lists."""
    some = max(n // 8, 1)
    item = {"type": "object", "properties": {"k": _S(16), "v": {"type": "integer"}, "s": _S(some)}}
    keyed = {"type": "object", "required": ["k"], "properties": item["properties"]}
    return {
        "ints": {"type": "array", "maxItems": n, "items": {"type": "integer"}},
        "names": {"type": "array", "maxItems": some, "items": _S(16)},
        "texts": {"type": "array", "maxItems": 16, "items": _S(n)},
        "text": _S(n),
        "short": _S(16),
        "map": {"type": "object", "maxProperties": n, "additionalProperties": _S(16)},
        "objects": {"type": "array", "maxItems": some, "items": item},
        "keyed": {
            "type": "array",
            "maxItems": some,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": keyed,
        },
        "set": {"type": "array", "maxItems": some, "x-kubernetes-list-type": "set", "items": _S(16)},
        "dates": {"type": "array", "maxItems": n, "items": {"type": "string", "format": "date-time"}},
        "bytes": {"type": "string", "format": "byte", "maxLength": n},
        "port": {"x-kubernetes-int-or-string": True, "maxLength": n},
        "enum": {"type": "string", "enum": ["A", "BB", "CCC"]},
    }


#: Rules whose cost grows with the sizes of what they read.
COST_CASES = [
    "self.ints.all(a, a > 0)",
    "self.ints.all(a, self.ints.all(b, a != b))",
    "self.ints.exists(a, self.ints.exists_one(b, a + b == 7))",
    "self.ints.map(a, a * 2).all(b, b > 0)",
    "self.ints.filter(a, a > 1).size() > 0",
    "self.ints.map(a, self.ints.map(b, a + b)).size() > 0",
    "self.ints.all(a, a in self.ints)",
    "self.ints.all(i, a, self.ints.all(j, b, i == j || a != b))",
    "self.ints.transformList(i, a, a + i).sum() > 0",
    "self.ints.isSorted() && self.ints.all(a, a > self.ints.min())",
    "self.ints.sort() == self.ints",
    "self.ints.distinct().size() == self.ints.size()",
    "self.ints.reverse().slice(0, 1).size() == 1",
    "self.ints.all(a, self.ints.indexOf(a) == self.ints.lastIndexOf(a))",
    "self.names.all(a, self.names.exists_one(b, a == b))",
    "self.names.all(a, self.names.all(b, a.contains(b)))",
    "self.names.all(a, self.names.all(b, a.startsWith(b) || a.endsWith(b)))",
    "self.names.all(a, a.matches('^[a-z]+$') && self.names.all(b, b.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')))",
    "self.names.all(a, self.names.all(b, (a + b).size() < 30))",
    "self.names.all(a, self.names.all(b, a.lowerAscii() == b.upperAscii()))",
    "self.names.all(a, self.names.all(b, a.split('-') != b.split('-')))",
    "self.names.all(a, self.names.all(b, a.replace('a', 'b') != b))",
    "self.names.all(a, self.names.all(b, a < b || a >= b))",
    "sets.contains(self.names, self.names) && sets.intersects(self.names, ['a', 'b'])",
    "sets.equivalent(self.names, self.names)",
    "self.texts.all(a, self.texts.all(b, a == b))",
    "self.texts.all(a, self.texts.all(b, a.contains(b)))",
    "self.texts.all(a, a.matches('^a+$'))",
    "self.texts.all(a, a.find('[0-9]+') != '' && a.findAll('[a-z]').size() > 0)",
    "self.texts.all(a, a.trim().substring(1).size() > 0 && a.indexOf('b') >= 0)",
    "self.text.matches('^([a-z]+[0-9]*)+$')",
    "self.text.contains(self.text)",
    "self.text == self.text + 'a'",
    "self.text.split(',').all(p, p.size() > 0)",
    "self.text.split(',').all(p, self.text.contains(p))",
    "self.texts.all(a, url(a).getHost() != self.text)",
    "self.texts.all(a, isQuantity(a) && quantity(a).isGreaterThan(quantity('1')))",
    "self.texts.all(a, isIP(a) || isCIDR(a) || isSemver(a))",
    "self.texts.all(a, !format.dns1123Label().validate(a).hasValue())",
    "self.texts.all(a, int(a) > 0 || duration(a) > duration('1s') || timestamp(a) > timestamp('2020-01-01T00:00:00Z'))",
    "self.texts.all(a, cidr('10.0.0.0/8').containsIP(a))",
    "self.map.all(k, k.startsWith('a'))",
    "self.map.all(k, self.map[k] == 'a')",
    "self.map.all(k, v, k != v)",
    "self.map.exists(k, self.map.all(j, self.map[j] != k))",
    "self.map.transformMap(k, v, v + 'a').size() > 0",
    "self.map.map(k, self.map[k]).all(v, v.size() > 1)",
    "self.objects.all(a, self.objects.exists_one(b, a.k == b.k))",
    "self.objects.all(a, a.v > 0 && a.s.contains('x'))",
    "self.objects.map(a, a.s).all(s, s != '')",
    "self.objects.all(a, self.objects.all(b, a == b))",
    "self.objects.filter(a, a.v > 1).map(a, a.k).exists(k, k == self.short)",
    "self.objects.sortBy(a, a.v).size() > 0",
    "self.keyed.all(a, self.keyed.all(b, a.k != b.k || a.v == b.v))",
    "self.keyed == self.keyed",
    "self.set.all(a, a in self.names)",
    "(self.set + self.set).size() > 0 && self.set == self.set",
    "self.dates.all(a, self.dates.all(b, a <= b))",
    "self.dates.all(a, a.getFullYear() > 2000)",
    "size(self.bytes) > 0 && self.bytes == b'a'",
    "string(self.port) == 'a' || self.port == 1",
    "self.ints.all(a, self.enum == 'A' || self.enum.contains('B'))",
    "self.?text.orValue('a').contains(self.short)",
    "self.texts[?0].optMap(t, t.matches('a+')).orValue(true)",
    "self.ints.all(a, has(self.text) ? self.text.startsWith('a') : self.short == 'b')",
    "'%s %s'.format([self.text, self.short]).size() > 1",
    "self.names.join(',').size() > 1",
    "[self.ints, self.ints].flatten().all(a, a > 0)",
    "lists.range(1000).all(i, self.ints.all(a, a != i))",
    "self.ints.all(a, [1, 2, 3].exists(b, a == b)) && {'a': self.text}['a'].size() > 1",
]


_SHARED = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_SHARE = re.compile(rf"spec\.validation\S*: Forbidden: {_SHARED}")


@dataclass(frozen=True)
class _Case:
    rule: str
    properties: dict[str, Any]


def _near_limits(limit: int = RULE_LIMIT) -> Iterator[_Case]:
    """Each rule with sizes just below and just above those where it gets too expensive."""
    for rule in COST_CASES:
        low, high = 1, 3_000_000
        if not _is_too_expensive(rule, high, limit):
            yield _Case(rule, _schema(high))
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if _is_too_expensive(rule, middle, limit):
                high = middle
            else:
                low = middle
        yield _Case(rule, _schema(low))
        yield _Case(rule, _schema(high))
        yield _Case(rule, _schema(high * 3 // 2))


def _is_too_expensive(rule: str, n: int, limit: int) -> bool:
    schema = {"type": "object", "properties": _schema(n), "x-kubernetes-validations": [{"rule": rule}]}
    return SchemaRules(schema).total > limit


def compare_costs(rest: Rest) -> Seen:
    """Verdicts and factors where a rule, and all rules of a CRD, are about to cost too much."""
    seen = Seen()
    for cases in batches(list(_near_limits()), 12):
        fields = {
            f"r{number}": {
                "type": "object",
                "properties": case.properties,
                "x-kubernetes-validations": [{"rule": case.rule}],
            }
            for number, case in enumerate(cases)
        }
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
        errors = check_schema_rules(schema, "spec.validation.openAPIV3Schema")
        said = said_of(rest, "POST", f"{CRDS}?dryRun=All", crd_of(schema))
        # Which of several equally expensive rules are named beside the total is the server's chance.
        assert len(_SHARE.findall(said)) == sum(_SHARED in str(error) for error in errors)
        seen.found += differences([each for each in errors if _SHARED not in str(each)], _SHARE.sub("", said))
        seen.counts["rules near a limit of costs"] += len(cases)
        seen.counts["of these too expensive"] += sum("estimated rule cost exceeds" in str(error) for error in errors)
    return seen


# -- the report -------------------------------------------------------------------------------------------------------


def report(seen: Sequence[Seen], seed: int) -> str:
    lines = [
        "# Differential tests of CEL",
        "",
        "Made by `python tests/schema/cel/cel_differential.py --report`; the tests run the same, smaller.",
        f"Last run: {datetime.date.today().isoformat()}, seed {seed}.",
        "",
        "| compared | number |",
        "|---|---|",
    ]
    for each in seen:
        lines += [f"| {what} | {count} |" for what, count in each.counts.items()]
    found = [text for each in seen for text in each.found]
    lines += ["", f"## Disagreements: {len(found)}", ""]
    lines += [f"- `{text[:500]}`" for text in found] or ["None."]
    lines += ["", "## Left out, and why", ""]
    lines += [f"- {what}: {why}." for what, why in LEFT_OUT.items()]
    lines += [
        "- against cel-expr-python: `in []` (Kubernetes knows the answer without the left side, so an error there is"
        " lost), equal keys in a map literal (Kubernetes keeps the last), lists of several types (Kubernetes refuses"
        " them), texts of errors.",
        "- explained: the C++ engine writes NaN and infinities as `-nan` and `inf`, and lets NaN be compared;"
        " Kubernetes says NaN, +Inf, and that NaN cannot be ordered.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    from cel_other_engine import compare

    from kubewright.testing.controlplane import ControlPlane

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=int, default=1000)
    parser.add_argument("--expressions", type=int, default=22_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="write cel_differential.md")
    args = parser.parse_args()
    try:
        seen = [compare(args.seed, args.expressions)]
    except ImportError:
        seen = [Seen(Counter({"expressions in cel-expr-python, which is not installed": 0}))]
    with ControlPlane() as control_plane:
        rest = control_plane.access.rest()
        seen += [compare_random_rules(rest, args.seed, args.rules), compare_costs(rest)]
        rest.close()
    text = report(seen, args.seed)
    print(text)
    if args.report:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
