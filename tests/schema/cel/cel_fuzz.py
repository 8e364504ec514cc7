"""Inputs that nobody writes: does anything but an error of CEL come out, and does everything come to an end?

    python tests/schema/cel/cel_fuzz.py --seconds 3600 --seed 7

Bytes, tokens and parts of expressions are mutated; patterns are made by a grammar and matched in both ways; values are
large, deep, of the wrong type. An input fails when it raises something else than a `CelError`, when it takes more than
`SLOW_SECONDS` of CPU, when it makes the process grow beyond `MEMORY_BYTES`, or when its two evaluations differ. What
hangs is ended by a watchdog with the traceback of the place. Everything follows from the seed: `--seed S --only N` runs
input N of a run again.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cel_mutations import Expressions, Objects, Patterns

from kubewright.schema import re2
from kubewright.schema.cel import CelError, CompileError, EvaluationError, compile  # noqa: A004
from kubewright.schema.cel.estimate import estimate
from kubewright.schema.cel.jsonout import to_json
from kubewright.schema.cel.kubernetes import PER_CALL_LIMIT, stored
from kubewright.schema.cel.rule_checks import check_schema_rules
from kubewright.schema.cel.rules import Rules
from kubewright.schema.cel.types import DYN
from kubewright.schema.re2_linear import Automaton, TooLarge
from kubewright.schema.re2_syntax import parse

SLOW_SECONDS = 20.0
HANG_SECONDS = 120
MEMORY_BYTES = 4 * 1024**3
ENV = stored().extend(variables={"x": DYN, "y": DYN, "self": DYN})


@dataclass
class Report:
    """What a run has seen."""

    inputs: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)

    def timed(self, seconds: float, what: str) -> None:
        self.slowest = sorted([*self.slowest, (round(seconds, 2), what[:200])], reverse=True)[:10]

    def as_json(self) -> dict[str, Any]:
        return {
            "inputs": sum(self.inputs.values()),
            "by_family": dict(sorted(self.inputs.items())),
            "outcomes": dict(self.outcomes.most_common(12)),
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "slowest": self.slowest,
            "failures": self.failures[:50],
        }


class Fuzz:
    """One input after the other; input `n` depends on the seed and `n` alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.report = Report()
        self.families: dict[str, tuple[int, Callable[[random.Random], str]]] = {
            "text": (4, self.text),
            "expression": (6, self.expression),
            "rule": (5, self.rule),
            "pattern": (4, self.pattern),
            "large": (1, self.large),
        }
        self.names = [name for name, (weight, _) in self.families.items() for _ in range(weight)]

    def run_one(self, number: int) -> None:
        chance = random.Random(f"{self.seed}:{number}")
        name = chance.choice(self.names)
        self.report.inputs[name] += 1
        begun = time.process_time()
        self.what = ""
        try:
            outcome = self.families[name][1](chance)
        except Exception as error:  # whatever it is, it is what is looked for
            outcome = f"FAILED: {type(error).__name__}"
            where = traceback.format_exc(limit=-3)
            self.failed(number, name, where)
        self.report.outcomes[f"{name}: {outcome}"] += 1
        spent = time.process_time() - begun
        self.report.timed(spent, f"{number} {name}: {self.what}")
        if spent > SLOW_SECONDS:
            self.failed(number, name, f"took {spent:.1f} s")

    def failed(self, number: int, name: str, how: str) -> None:
        self.report.failures.append({"number": number, "family": name, "how": how, "input": self.what[:2000]})

    # -- families -----------------------------------------------------------------------------------------------------

    def text(self, chance: random.Random) -> str:
        """Any text is an expression or is refused with a place."""
        self.what = Expressions(chance).garbled()
        try:
            node = compile(self.what, ENV).node
        except CompileError as error:
            return "refused" if error.issues and str(error) else "REFUSED WITHOUT A REASON"
        estimate(node, lambda path: None)
        return "compiled"

    def expression(self, chance: random.Random) -> str:
        """What compiles has a value or an error, the same each time."""
        self.what = Expressions(chance).plausible()
        try:
            program = compile(self.what, ENV)
        except CompileError:
            return "refused"
        values = Objects(chance)
        given = {"x": values.any(), "y": values.any(), "self": values.subject()}
        return self.evaluated(program, given)

    def evaluated(self, program: Any, given: dict[str, Any]) -> str:
        outcomes: list[Any] = []
        for interrupted in (None, lambda: False):
            try:
                value, cost = program.evaluate_with_cost(given, cost_limit=PER_CALL_LIMIT, interrupted=interrupted)
                outcomes.append((repr(to_json(value))[:10_000], cost))
            except EvaluationError as error:
                outcomes.append((type(error).__name__, str(error)[:10_000], error.cost))
        assert outcomes[0] == outcomes[1], f"{outcomes[0]} is not {outcomes[1]}"
        return "error" if len(outcomes[0]) > 2 else "value"

    def rule(self, chance: random.Random) -> str:
        """A rule of a schema: its check, its costs, its use on an object and on a change of one."""
        values = Objects(chance)
        rule: dict[str, Any] = {"rule": Expressions(chance).plausible()}
        if chance.random() < 0.3:
            rule["messageExpression"] = Expressions(chance).plausible()
        if chance.random() < 0.2:
            rule["optionalOldSelf"] = True
        if chance.random() < 0.2:
            rule["fieldPath"] = chance.choice([".name", "['a-b']", ".nope", ".labels['x']", "[", ""])
        self.what = json.dumps(rule)
        schema = {**values.schema(), "x-kubernetes-validations": [rule]}
        checked = check_schema_rules(schema)
        assert all(str(error) for error in checked)
        rules = Rules(schema, is_root=False)
        found = rules.evaluate(values.subject(), values.subject() if chance.random() < 0.5 else None)
        assert all(str(error) for error in found)
        return "refused" if checked else "broken" if found else "kept"

    def pattern(self, chance: random.Random) -> str:
        """A pattern is refused in Go's words, or both ways of matching agree."""
        made = Patterns(chance)
        pattern = made.pattern()
        text = made.text()
        self.what = f"{pattern!r} on {text!r}"
        try:
            regex = re2.compile.__wrapped__(pattern)
        except re2.Re2Error:
            return "refused"
        try:
            automaton = Automaton(parse(pattern))
        except TooLarge:
            return "large"
        work = re2.Work(300_000)
        try:
            found = automaton.search(text, work)
            span = automaton.find(text, 0, work)
            assert regex.search(text, work) is found
            assert regex.find(text, work) == (None if span is None else text[span[0] : span[1]])
            regex.find_all(text, -1, work)
        except re2.TooLong:
            return "too long"
        return "found" if found else "not found"

    def large(self, chance: random.Random) -> str:
        """Large values, and patterns on large texts: the cost or the work ends what would take long."""
        values = Objects(chance)
        self.what = Expressions(chance).hungry(Patterns(chance))
        try:
            program = compile(self.what, ENV)
        except CompileError:
            return "refused"
        given = {"x": values.large(), "y": values.large(), "self": values.subject()}
        try:
            to_json(program.evaluate(given, cost_limit=PER_CALL_LIMIT))
        except EvaluationError as error:
            return type(error).__name__
        return "value"


def run(seconds: float, seed: int, progress: Path | None = None) -> Report:
    """Inputs until the time is over."""
    fuzz = Fuzz(seed)
    deadline = time.monotonic() + seconds
    number = 0
    written = time.monotonic()
    while time.monotonic() < deadline:
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        fuzz.run_one(number)
        number += 1
        if progress is not None and time.monotonic() - written > 30:
            written = time.monotonic()
            progress.write_text(json.dumps({"seed": seed, **fuzz.report.as_json()}, indent=1))
    faulthandler.cancel_dump_traceback_later()
    if progress is not None:
        progress.write_text(json.dumps({"seed": seed, "seconds": seconds, **fuzz.report.as_json()}, indent=1))
    return fuzz.report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this input of the seed again, and nothing else")
    parser.add_argument("--progress", type=Path, help="where to write what was seen so far")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    if args.only is not None:
        fuzz = Fuzz(args.seed)
        fuzz.run_one(args.only)
        report = fuzz.report
    else:
        report = run(args.seconds, args.seed, args.progress)
    print(json.dumps(report.as_json(), indent=1, ensure_ascii=False))
    sys.exit(bool(report.failures))


if __name__ == "__main__":
    assert issubclass(CompileError, CelError)
    main()
