"""cel-spec's simple tests against this engine. Not a test by itself: `test_cel_conformance` runs it.

    python tests/schema/cel/cel_conformance.py --report

writes `cel_conformance.md` beside this file: counts by file, and each failure with its reason. The tests are those of
the release of cel.dev/expr that the API server is built with, from Go's module cache, or from its proxy if they are not
there yet; KUBEWRIGHT_CEL_SPEC names another checkout.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from cel_textproto import parse

from kubewright.schema.cel import kubernetes
from kubewright.schema.cel.environment import Environment
from kubewright.schema.cel.errors import CelError, CompileError
from kubewright.schema.cel.ops import equals, type_name
from kubewright.schema.cel.program import compile  # noqa: A004
from kubewright.schema.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    opaque,
    optional_of,
    type_of_type,
)  # fmt: skip
from kubewright.schema.cel.values import Optional, TypeValue, UInt, decode_key, encode_key

#: Files that are about protobuf, or about extensions that Kubernetes does not have.
NOT_KUBERNETES = frozenset(
    (
        *("proto2", "proto2_ext", "proto3", "enums", "wrappers", "dynamic", "block_ext", "encoders_ext", "math_ext"),
        *("bindings_ext", "namespace", "unknowns"),
    )
)
#: What only a protobuf message, a namespace of names, or a type of Kubernetes' own can do.
_NOT_RELEVANT = re.compile(
    r"TestAllTypes|NestedTestAllTypes|google\.protobuf\.\w+\s*\{|GlobalEnum|cel\.bind|NullValue|proto[23]"
)
_PRIMITIVES = {
    "BOOL": BOOL, "INT64": INT, "UINT64": UINT, "DOUBLE": DOUBLE, "STRING": STRING, "BYTES": BYTES,
}  # fmt: skip
_WELL_KNOWN = {"ANY": ANY, "TIMESTAMP": TIMESTAMP, "DURATION": DURATION}

#: Where the API server of Kubernetes 1.37 differs from the suite, and this engine follows the server: the start of the
#: test's name, and how the server differs.
AS_THE_SERVER = {
    "string_ext/format": "has version 2 of the strings extension: other texts of %s, %e and of infinities",
    "string_ext/reverse": "has version 2 of the strings extension, without reverse",
    "string_ext/value_errors/indexof_out_of_range": "answers -1 for a start beyond the end",
    "string_ext/value_errors/lastindexof_out_of_range": "answers -1 for a start beyond the end",
    "fields/qualified_identifier_resolution/map_key_float": "takes floats as keys",
    "fields/qualified_identifier_resolution/map_value_repeat_key": "keeps the last of equal keys",
    "network_ext/ipv4/ipv4_equals_ipv6": "refuses IPv4-mapped addresses",
    "network_ext/ipv4/ipv4_not_equals_ipv6": "refuses IPv4-mapped addresses",
    "type_deduction/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate": "deduces null_type",
}


@dataclass
class Counts:
    passed: int = 0
    irrelevant: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    as_the_server: list[tuple[str, str]] = field(default_factory=list)


class Irrelevant(Exception):
    """A test that needs protobuf."""


def value_of(message: dict[str, list[Any]]) -> Any:
    ((kind, (content, *_)),) = message.items()
    match kind:
        case "null_value":
            return None
        case "bool_value":
            return content == "true"
        case "int64_value":
            return int(content)
        case "uint64_value":
            return UInt(content)
        case "double_value":
            return float(content)
        case "string_value":
            return content.decode("utf-8", "surrogatepass")
        case "bytes_value":
            return content
        case "type_value":
            return TypeValue(content.decode())
        case "list_value":
            return [value_of(each) for each in content.get("values", [])]
        case "map_value":
            return {
                encode_key(value_of(entry["key"][0])): value_of(entry["value"][0])
                for entry in content.get("entries", [])
            }
    raise Irrelevant(kind)


def type_of(message: dict[str, list[Any]]) -> Type:
    ((kind, (content, *_)),) = message.items()
    match kind:
        case "primitive":
            return _PRIMITIVES[content]
        case "well_known":
            return _WELL_KNOWN[content]
        case "dyn":
            return DYN
        case "null":
            return NULL
        case "list_type":
            return list_of(type_of(content["elem_type"][0]))
        case "map_type":
            return map_of(type_of(content["key_type"][0]), type_of(content["value_type"][0]))
        case "type":
            return type_of_type(type_of(content)) if content else type_of_type(DYN)
        case "abstract_type":
            params = [type_of(each) for each in content.get("parameter_types", [])]
            name = content["name"][0].decode()
            return optional_of(*params) if name == "optional_type" else opaque(name, *params)
    raise Irrelevant(kind)


def same(found: Any, wanted: Any) -> bool:
    """Equal in value and type; NaN is NaN."""
    if isinstance(wanted, float) and isinstance(found, float) and math.isnan(wanted):
        return math.isnan(found)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(found, dict) and isinstance(wanted, dict):
        return len(found) == len(wanted) and all(key in found and same(found[key], wanted[key]) for key in wanted)
    return type_name(found) == type_name(wanted) and equals(found, wanted)


def plain(value: Any) -> Any:
    """Values that the tests can only write as others."""
    if isinstance(value, Optional):
        return plain(value.value) if value.present else None
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {encode_key(decode_key(key)): plain(each) for key, each in value.items()}
    return value


def environment(one_type: bool) -> Environment:
    stored = kubernetes.stored()
    return Environment(
        stored.libraries, costs=stored.costs, prepare=stored.prepare, one_type=one_type,
    )  # fmt: skip


def run(test: dict[str, list[Any]], env: Environment) -> str:
    """What is wrong with the outcome of a test; empty if nothing."""
    expr = test["expr"][0].decode("utf-8", "surrogatepass")
    text = repr(test)
    if _NOT_RELEVANT.search(expr) or "object_value" in text or "enum_value" in text or "container" in test:
        raise Irrelevant(expr)
    if "disable_macros" in test:
        raise Irrelevant("macros are always on")
    variables: dict[str, Type] = {}
    values: dict[str, Any] = {}
    for declared in test.get("type_env", []):
        name = declared["name"][0].decode()
        if "function" in declared:
            raise Irrelevant("declares functions")
        variables[name] = type_of(declared["ident"][0]["type"][0])
    for binding in test.get("bindings", []):
        name = binding["key"][0].decode()
        values[name] = value_of(binding["value"][0]["value"][0])
        variables.setdefault(name, DYN)
    fails = "eval_error" in test or "any_eval_errors" in test
    try:
        program = compile(expr, env.extend(variables=variables))
        if "check_only" in test:
            wanted_type = type_of(test["typed_result"][0]["deduced_type"][0])
            return "" if program.type == wanted_type else f"type {program.type}, not {wanted_type}"
        found = plain(program.evaluate(values, cost_limit=10**9))
    except CompileError as error:
        if "disable_check" in test:
            raise Irrelevant("is meant to run unchecked; Kubernetes checks everything") from None
        return "" if fails else f"failed: {str(error).splitlines()[0]}"
    except CelError as error:
        return "" if fails else f"failed: {str(error).splitlines()[0]}"
    if fails:
        return f"gave {found!r}, should fail"
    if "typed_result" in test:
        typed = test["typed_result"][0]
        wanted_type = type_of(typed["deduced_type"][0]) if "deduced_type" in typed else program.type
        if program.type != wanted_type:
            return f"type {program.type}, not {wanted_type}"
        wanted = value_of(typed["result"][0]) if "result" in typed else found
    else:
        wanted = value_of(test["value"][0]) if "value" in test else True
    return "" if same(found, wanted) else f"gave {found!r}, not {wanted!r}"


def checkout() -> Path | None:
    """The folder of cel-spec, or None where there is no Go to get it with."""
    given = os.environ.get("KUBEWRIGHT_CEL_SPEC")
    if given:
        return Path(given).expanduser()
    if shutil.which("go") is None:
        return None
    command = ["go", "mod", "download", "-json", "cel.dev/expr"]
    folder = Path(__file__).parents[3] / "hack" / "controlplane" / "kubernetes"
    told = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout
    return Path(json.loads(told)["Dir"])


def run_all(folder: Path) -> dict[str, Counts]:
    """The outcome by file."""
    results: dict[str, Counts] = {}
    env = environment(one_type=False)
    for path in sorted((folder / "tests" / "simple" / "testdata").glob("*.textproto")):
        counts = results[path.stem] = Counts()
        for section in parse(path.read_text(encoding="utf-8")).get("section", []):
            for test in section.get("test", []):
                name = "/".join((path.stem, section["name"][0].decode(), test["name"][0].decode()))
                try:
                    if path.stem in NOT_KUBERNETES:
                        raise Irrelevant(path.stem)
                    wrong = run(test, env)
                except Irrelevant:
                    counts.irrelevant += 1
                    continue
                if wrong and any(name.startswith(each) for each in AS_THE_SERVER):
                    counts.as_the_server.append((name, wrong))
                elif wrong:
                    counts.failures.append((name, wrong))
                else:
                    counts.passed += 1
    return results


def report(results: dict[str, Counts], which: str) -> str:
    passed = sum(each.passed for each in results.values())
    failures = [failure for each in results.values() for failure in each.failures]
    differing = [each for counts in results.values() for each in counts.as_the_server]
    total = passed + len(failures)
    lines = [
        "# cel-spec conformance",
        "",
        f"Made by `python tests/schema/cel/cel_conformance.py --report`, of {which}.",
        "Not relevant are tests of protobuf messages, of enumerations, of containers of names, of functions that tests",
        "declare, of extensions that Kubernetes does not have, and those that only run unchecked.",
        "",
        f"**{passed} of {total} relevant tests pass ({100 * passed / total:.1f} %).**",
        f"Beside these, {len(differing)} tests ask for what the API server of Kubernetes 1.37 does otherwise;",
        "there this engine does as the server.",
        "",
        "| file | passed | failed | as the server | not relevant |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {c.passed} | {len(c.failures)} | {len(c.as_the_server)} | {c.irrelevant} |"
        for name, c in results.items()
    ]
    lines += ["", "## Failures", ""]
    lines += [f"- {name}: {wrong}".replace("\n", " ") for name, wrong in failures] or ["None."]
    lines += ["", "## As the server, not as the suite", "", "| test | the server |", "|---|---|"]
    for name, _ in differing:
        lines.append(f"| {name} | {next(how for start, how in AS_THE_SERVER.items() if name.startswith(start))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = checkout()
    if found is None:
        raise SystemExit("there is no Go to get cel.dev/expr with; give KUBEWRIGHT_CEL_SPEC")
    text = report(run_all(found), found.name.replace("expr@", "cel.dev/expr "))
    if "--report" in sys.argv:
        (Path(__file__).parent / "cel_conformance.md").write_text(text, encoding="utf-8")
    print(text)
