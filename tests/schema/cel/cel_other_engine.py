"""Random expressions here and in Google's C++ engine (`cel-expr-python`): the same results.

Only what both have is generated. Three things differ by intent: texts of errors, that the other refuses equal keys in a
map literal (Kubernetes keeps the last), and that Kubernetes wants the literals of one list to have one type. The order
of a map's keys, which is anybody's, plays no part in what is generated.
"""

from __future__ import annotations

import math
import re
from typing import Any

from cel_differential import Seen
from cel_random import Generator

from kubewright.schema.cel import CompileError, EvaluationError, compile  # noqa: A004
from kubewright.schema.cel.kubernetes import stored
from kubewright.schema.cel.types import BOOL, DOUBLE, INT, STRING, list_of, map_of
from kubewright.schema.cel.values import decode_key

VALUES = {"i": 3, "d": 1.5, "s": "hello", "b": True, "l": [1, 2, 3], "m": {"a": 1}, "t": ["a", "b"]}
NAMES = {
    "int": ["i", "l[0]"],
    "double": ["d"],
    "string": ["s", "t[1]"],
    "bool": ["b"],
    "list": ["l"],
    "map": ["m"],
    "strings": ["t"],
}
TYPES = {
    "i": INT,
    "d": DOUBLE,
    "s": STRING,
    "b": BOOL,
    "l": list_of(INT),
    "m": map_of(STRING, INT),
    "t": list_of(STRING),
}
ENV = stored().extend(variables=TYPES)


def other_env() -> Any:
    from cel_expr_python import cel

    kinds = cel.Type
    return cel.NewEnv(
        variables={
            "i": kinds.INT,
            "d": kinds.DOUBLE,
            "s": kinds.STRING,
            "b": kinds.BOOL,
            "l": kinds.List(kinds.INT),
            "m": kinds.Map(kinds.STRING, kinds.INT),
            "t": kinds.List(kinds.STRING),
        }
    )


def plain(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else ("double", value)
    if isinstance(value, str):
        # Go writes infinity with a capital letter.
        return value.replace("+Inf", "inf").replace("Inf", "inf")
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, dict):
        return {plain(decode_key(key)): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return bytes(value) if isinstance(value, bytes | bytearray) else value


def ours(expression: str) -> Any:
    try:
        return plain(compile(expression, ENV).evaluate(VALUES, cost_limit=10**8))
    except CompileError:
        return "does not compile"
    except EvaluationError:
        return "has no value"


def theirs(env: Any, expression: str) -> Any:
    try:
        program = env.compile(expression)
    except RuntimeError:
        return "does not compile"
    try:
        result = program.eval(data=VALUES)
    except RuntimeError as error:
        if "duplicate key" in str(error):
            return "has equal keys"
        raise
    if str(result.type()).startswith("ERROR"):
        return "has no value"
    return plain(result.plain_value())


#: A division of doubles by zero: C++ writes `-nan` and `inf`, and NaN is an error to compare only in Kubernetes.
_NOT_FINITE = re.compile(r"[/] (\(|0\.0)|0\.0 \/")


def compare(seed: int, count: int) -> Seen:
    """`count` expressions in both engines."""
    env = other_env()
    generator = Generator(seed, NAMES, common=True, wrong=0.0)
    seen = Seen()
    for _ in range(count):
        expression = generator.expression(3)
        if "in []" in expression:
            # Kubernetes knows the answer without evaluating the left side; an error there is lost.
            seen.counts["left out: `in []`"] += 1
            continue
        mine, other = ours(expression), theirs(env, expression)
        if other == "has equal keys":
            seen.counts["left out: equal keys"] += 1
        elif mine == "does not compile":
            seen.counts["left out: lists of several types"] += 1
        else:
            if mine == other:
                seen.counts["expressions with the same result as in cel-expr-python"] += 1
            elif _NOT_FINITE.search(expression):
                seen.counts["explained: texts and order of NaN and infinities"] += 1
            else:
                seen.found.append(f"{expression}: here {mine!r}, there {other!r}")
    return seen
