"""Evaluations and compilations a second, and the memory of a compiled rule, on this machine; prints only.

    python bench/cel.py [--seconds 0.5]

Beside this engine stands `cel-expr-python` (Google's C++ engine) where it is installed. Costs are tracked here, as on a
server; the other tracks none. Trust the ratios of one run, not the numbers.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from kubewright.schema.cel import compile as compile_expression
from kubewright.schema.cel.kubernetes import stored
from kubewright.schema.cel.schema_types import schema_type

ITEM = {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "min": {"type": "integer"},
        "max": {"type": "integer"},
        "name": {"type": "string"},
        "ports": {"type": "array", "items": ITEM},
        "memory": {"type": "string"},
    },
}
DATA = {
    "min": 1,
    "max": 5,
    "name": "web-frontend-1",
    "memory": "1500Mi",
    "ports": [{"name": f"port-{number}", "port": 8000 + number} for number in range(100)],
}
CASES = {
    "two comparisons and &&": "self.min >= 0 && self.min <= self.max",
    "!has ||": "!has(self.max) || self.max > 1",
    "startsWith, size, matches": (
        "self.name.startsWith('web') && self.name.size() < 64 && self.name.matches('^[a-z0-9-]+$')"
    ),
    "all() over 100 objects": "self.ports.all(p, p.port > 1024 && p.port < 65536)",
    "exists_one in all, 100 x 100": "self.ports.all(p, self.ports.exists_one(q, p.name == q.name))",
    "map and sum": "self.ports.map(p, p.port).sum() > 0",
    "quantity": "quantity(self.memory).isLessThan(quantity('2Gi'))",
}


def rate(run: Callable[[], Any], seconds: float) -> float:
    """Calls a second; the best of three."""
    best = 0.0
    for _ in range(3):
        count, begun = 0, time.perf_counter()
        while (spent := time.perf_counter() - begun) < seconds / 3:
            for _ in range(10):
                run()
            count += 10
        best = max(best, count / spent)
    return best


def other_engine(expression: str) -> Callable[[], Any] | None:
    """The same expression in cel-expr-python, where that is installed and can."""
    try:
        from cel_expr_python import cel
    except ImportError:
        return None
    try:
        env = cel.NewEnv(variables={"self": cel.Type.DYN})
        compiled = env.compile(expression)
        compiled.eval(data={"self": DATA})
    except Exception:
        return None
    return lambda: compiled.eval(data={"self": DATA})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="per case and engine")
    seconds = parser.parse_args().seconds
    seen = schema_type(SCHEMA)
    if seen is None:
        raise SystemExit("the schema has no type")
    env = stored().extend(variables={"self": seen.type}, objects=seen.objects())
    print(f"{'case':<32} {'evaluations/s':>14} {'compile/s':>10} {'KiB a rule':>10} {'cel-expr-python':>16}")
    for name, expression in CASES.items():
        program = compile_expression(expression, env)
        variables = {"self": DATA}
        evaluations = rate(lambda: program.evaluate(variables), seconds)  # noqa: B023 - called at once
        compilations = rate(lambda: compile_expression(expression, env), seconds)  # noqa: B023 - called at once
        tracemalloc.start()
        kept = [compile_expression(expression, env) for _ in range(20)]
        memory = tracemalloc.get_traced_memory()[0] / len(kept) / 1024
        tracemalloc.stop()
        other = other_engine(expression)
        beside = f"{rate(other, seconds):>16,.0f}" if other is not None else f"{'-':>16}"
        print(f"{name:<32} {evaluations:>14,.0f} {compilations:>10,.0f} {memory:>10.1f} {beside}")


if __name__ == "__main__":
    main()
