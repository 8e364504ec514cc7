"""Evaluations and compilations a second, and the memory of a compiled rule, on this machine; prints only.

    python bench/cel.py [--seconds 0.5]

Beside this engine stand `cel-expr-python` (Google's C++ engine) and `cel-python` (pure Python), where they are
installed: `pip install cel-expr-python cel-python`. Costs are tracked and types checked here, as on a server; the
others track no costs, and the second checks no types. Each gets the object as a program has it, as Python's dicts.
Trust the ratios of one run, not the numbers.
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
    """Calls a second of CPU, so that what else the machine does counts less; the best of three."""
    begun = time.process_time()
    run()
    at_once = max(1, min(100, int(0.001 / max(time.process_time() - begun, 1e-6))))
    best = 0.0
    for _ in range(3):
        count, begun = 0, time.process_time()
        while (spent := time.process_time() - begun) < seconds / 3:
            for _ in range(at_once):
                run()
            count += at_once
        best = max(best, count / spent)
    return best


def google(expression: str) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    """Evaluation and compilation in cel-expr-python (Google's C++ engine), where that is installed and can."""
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
    return lambda: compiled.eval(data={"self": DATA}), lambda: env.compile(expression)


def cloud_custodian(expression: str) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    """The same in cel-python (pure Python), where that is installed and can."""
    try:
        import celpy
    except ImportError:
        return None

    def compiled() -> Any:
        env = celpy.Environment()
        return env.program(env.compile(expression))

    try:
        program = compiled()
        program.evaluate({"self": celpy.json_to_cel(DATA)})
    except Exception:
        return None
    return lambda: program.evaluate({"self": celpy.json_to_cel(DATA)}), compiled


def memory(make: Callable[[], Any], count: int = 20) -> float:
    """KiB of Python's memory that one takes. What another engine keeps elsewhere is not seen."""
    make()
    tracemalloc.start()
    kept = [make() for _ in range(count)]
    found = tracemalloc.get_traced_memory()[0] / len(kept) / 1024
    tracemalloc.stop()
    return found


def shown(value: float | None, digits: int = 0) -> str:
    return f"{'-':>11}" if value is None else f"{value:>11,.{digits if value >= 10 else 1}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="per case and engine")
    seconds = parser.parse_args().seconds
    seen = schema_type(SCHEMA)
    if seen is None:
        raise SystemExit("the schema has no type")
    env = stored().extend(variables={"self": seen.type}, objects=seen.objects())
    engines = ("kubewright", "cel-expr", "cel-python")
    print(f"{'':<30}{'evaluations/s':^33}|{'compilations/s':^33}|{'KiB of Python a rule':^33}")
    print(f"{'case':<30}" + "|".join("".join(f"{name:>11}" for name in engines) for _ in range(3)))
    for name, expression in CASES.items():
        program = compile_expression(expression, env)

        def evaluate(program: Any = program) -> Any:
            return program.evaluate({"self": DATA})

        def make(expression: str = expression) -> Any:
            return compile_expression(expression, env)

        found = [(evaluate, make), google(expression), cloud_custodian(expression)]
        rates = [None if pair is None else rate(pair[0], seconds) for pair in found]
        compiled = [None if pair is None else rate(pair[1], seconds) for pair in found]
        sizes = [None if pair is None else memory(pair[1]) for pair in found]
        parts = (map(shown, rates), map(shown, compiled), (shown(size, 1) for size in sizes))
        print(f"{name:<30}" + "|".join("".join(part) for part in parts))


if __name__ == "__main__":
    main()
