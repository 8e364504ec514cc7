"""Hundreds of expressions with what Kubernetes 1.37 makes of each: value, run-time cost, static cost, or error text.

`expressions.json` was filled by the Kubernetes libraries themselves (environment of stored expressions, one schema and
one object for all). Values are tagged where JSON has no such type: `{"int": "1"}`, `{"duration": "<nanoseconds>"}`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubewright.schema.cel import CompileError, EvaluationError, compile  # noqa: A004
from kubewright.schema.cel.estimate import estimate
from kubewright.schema.cel.kubernetes import PER_CALL_LIMIT, stored
from kubewright.schema.cel.program import ProgramError
from kubewright.schema.cel.schema_types import schema_type
from kubewright.schema.cel.values import Duration, Optional, Timestamp, TypeValue, UInt, decode_key

TABLE = json.loads((Path(__file__).parent / "expressions.json").read_text(encoding="utf-8"))
SEEN = schema_type(TABLE["schema"], name="selfType1")
assert SEEN is not None
ENV = stored().extend(variables={"self": SEEN.type}, objects=SEEN.objects())


def tagged(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case UInt():
            return {"uint": str(int(value))}
        case int():
            return {"int": str(value)}
        case float():
            return {"double": repr(value)}
        case bytes():
            return {"bytes": value.hex()}
        case Timestamp():
            return {"timestamp": f"{value.ns // 10**9}.{value.ns % 10**9:09d}"}
        case Duration():
            return {"duration": str(value.ns)}
        case Optional():
            return {"optional": tagged(value.value) if value.present else "none"}
        case TypeValue():
            return {"type": value.name}
        case list():
            return {"list": [tagged(each) for each in value]}
        case dict():
            shown = {
                json.dumps(tagged(decode_key(k)), separators=(",", ":"), ensure_ascii=False): v
                for k, v in value.items()
            }
            return {"map": {key: tagged(each) for key, each in shown.items()}}
    return {"other": value.cel_type}


@pytest.mark.parametrize("row", TABLE["rows"], ids=[row["expr"][:60] for row in TABLE["rows"]])
def test_an_expression_is_to_us_what_it_is_to_kubernetes(row: dict[str, Any]) -> None:
    if "compile" in row or "program" in row:
        with pytest.raises(CompileError) as refused:
            compile(row["expr"], ENV)
        assert isinstance(refused.value, ProgramError) == ("program" in row)
        assert str(refused.value) == row.get("compile", row.get("program"))
        return
    program = compile(row["expr"], ENV)
    assert estimate(program.node, lambda path: None).high == row["max"]
    variables = {"self": SEEN.value(TABLE["self"], [])}  # type: ignore[union-attr]
    if "error" in row:
        with pytest.raises(EvaluationError) as failed:
            program.evaluate(variables)
        assert str(failed.value) == row["error"]
        return
    value, cost = program.evaluate_with_cost(variables, cost_limit=PER_CALL_LIMIT)
    assert tagged(value) == row["value"]
    assert cost == row["cost"]
