"""What the validation of an object costs. Run: python bench/validate.py (others: pip install kubewright[bench])

Two objects: a custom resource of 2 KB with a list of 20 items, and a Pod template as operators embed it. Prints
thousand operations per second, the fastest of some repetitions, beside `jsonschema-rs`, `fastjsonschema` and
`jsonschema` where they are installed; those get what `kubewright schema json` makes of the same schema. They say
whether a value fits, or list errors with other words and paths; they know nothing of pruning, defaults, list maps,
ratcheting or rules, so only the lines "is it valid" compare like with like.

Ratios between the lines of one run are what can be compared; the numbers depend on machine and Python build. Time is
that of the processor, so that a busy machine disturbs little. The last lines are what importing and compiling takes.
"""

from __future__ import annotations

import importlib
import json
import platform
import resource
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

from kubewright.models.core.v1 import PodTemplateSpec
from kubewright.schema import schema_of
from kubewright.schema.reference import editor_schema
from kubewright.schema.structural import Kind, Structural, json_value

ITEMS = 20


def widget_schema() -> dict[str, Any]:
    text = {"type": "string", "maxLength": 64}
    item = {
        "type": "object",
        "required": ["name", "port"],
        "properties": {
            "name": {**text, "pattern": "^[a-z0-9-]+$"},
            "port": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535},
            "protocol": {"type": "string", "enum": ["TCP", "UDP", "SCTP"], "default": "TCP"},
            "weight": {"type": "number", "minimum": 0},
        },
    }
    spec = {
        "type": "object",
        "required": ["image"],
        "properties": {
            "image": text,
            "replicas": {"type": "integer", "minimum": 0, "default": 1},
            "labels": {"type": "object", "additionalProperties": text},
            "ports": {
                "type": "array",
                "maxItems": 100,
                "items": item,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
            "paused": {"type": "boolean"},
        },
    }
    return {"type": "object", "properties": {"spec": spec}}


def widget(port: Any = 80) -> dict[str, Any]:
    ports = [
        {"name": f"port-number-{place}", "port": port, "protocol": "TCP", "weight": 0.5 + place}
        for place in range(ITEMS)
    ]
    labels = {f"example.com/label-{place}": "value" * 4 for place in range(8)}
    spec = {"image": "registry.example.com/app:1.2.3", "replicas": 3, "labels": labels, "ports": ports, "paused": False}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": spec,
    }


def pod_template() -> dict[str, Any]:
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10, "failureThreshold": 3}
    container = {
        "name": "app",
        "image": "registry.example.com/app:1.2.3",
        "args": ["--leader-elect", "--metrics-bind-address=:8443"],
        "env": [{"name": f"VARIABLE_{place}", "value": "x" * 20} for place in range(20)],
        "ports": [{"name": "https", "containerPort": 8443, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "500m", "memory": "128Mi"}, "requests": {"cpu": "10m", "memory": "64Mi"}},
        "livenessProbe": probe,
        "readinessProbe": probe,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "certs", "mountPath": "/certs", "readOnly": True}],
    }
    spec = {
        "containers": [container],
        "serviceAccountName": "app",
        "terminationGracePeriodSeconds": 10,
        "volumes": [{"name": "certs", "secret": {"secretName": "certs"}}],
    }
    return {"metadata": {"labels": {"app": "app"}}, "spec": spec}


def crd(template: dict[str, Any] | None = None) -> dict[str, Any]:
    """The CRD of the custom resource, or of one that has a template."""
    root = widget_schema() if template is None else {"type": "object", "properties": {"template": template}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"kind": "Widget", "plural": "widgets"}
    return {"spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]}}


def rate(call: Callable[[], object], *, repeat: int = 5, seconds: float = 0.2) -> float:
    """Thousand calls per second of processor time, the best of some repetitions."""
    timer = timeit.Timer(call, timer=time.process_time)
    count, taken = timer.autorange()
    count = max(1, int(count * seconds / taken))
    return count / min(timer.repeat(repeat, count)) / 1000


def others(schema: dict[str, Any], value: Any, broken: Any) -> list[tuple[str, float]]:
    """The same of other validators: whether it is valid, and what is wrong with one that is not."""
    lines: list[tuple[str, float]] = []
    try:
        rust = importlib.import_module("jsonschema_rs").validator_for(schema)
        assert rust.is_valid(value)
        lines.append(("jsonschema-rs: is it valid", rate(lambda: rust.is_valid(value))))
        lines.append(("jsonschema-rs: errors of one that is not", rate(lambda: list(rust.iter_errors(broken)))))
    except ImportError:
        pass
    try:
        fast = importlib.import_module("fastjsonschema")
        generated = fast.compile(_draft_7(schema), formats={"k8s-short-name": ".*"}, use_default=False)
        lines.append(("fastjsonschema: is it valid", rate(lambda: generated(value))))
        lines.append(("fastjsonschema: the first error of one that is not", rate(lambda: _fails(generated, broken))))
    except ImportError:
        pass
    try:
        python = importlib.import_module("jsonschema").Draft202012Validator(schema)
        assert python.is_valid(value)
        lines.append(("jsonschema: is it valid", rate(lambda: python.is_valid(value))))
        lines.append(("jsonschema: errors of one that is not", rate(lambda: list(python.iter_errors(broken)))))
    except ImportError:
        pass
    return lines


def _draft_7(schema: dict[str, Any]) -> dict[str, Any]:
    """What is written here means the same in draft 7, which is the newest that fastjsonschema knows."""
    return {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}


def _fails(generated: Callable[[Any], object], value: Any) -> None:
    try:
        generated(value)
    except ValueError:
        return
    raise AssertionError


def measure(schema: dict[str, Any], value: Any, broken: Any) -> list[tuple[str, float]]:
    compiled = Structural(schema)
    assert compiled.is_valid(value), compiled.errors(value)
    assert not compiled.is_valid(broken)
    return [
        ("is it valid", rate(lambda: compiled.is_valid(value))),
        ("errors of a valid one, with list types", rate(lambda: compiled.errors(value))),
        ("errors of one that is not", rate(lambda: compiled.errors(broken))),
        ("errors of a change (ratcheting)", rate(lambda: compiled.errors(broken, value))),
        ("copy and prune", rate(lambda: compiled.prune(value))),
        ("copy and fill in defaults", rate(lambda: compiled.defaulted(value))),
    ]


def once(code: str) -> float:
    """Milliseconds of processor time of a fresh interpreter, less those of an empty one."""

    def run(text: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", text], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return (min(run(code) for _ in range(7)) - min(run("pass") for _ in range(7))) * 1000


def table(title: str, lines: list[tuple[str, float]]) -> None:
    print(f"\n{title}\n| what | thousand/s |\n|---|---:|")
    for name, found in lines:
        print(f"| {name} | {found:,.1f} |")


def main() -> None:
    print(f"Python {platform.python_version()}")
    value, broken = json_value(widget()), json_value(widget(port=0))
    version = Kind(crd()).version("v1")
    lines = measure(widget_schema(), value, broken)
    lines.append(("a whole create: decode, prune, default, validate", rate(lambda: version.create(value))))
    lines += others(editor_schema(crd(), "v1"), value, broken)
    table(f"A custom resource of {len(json.dumps(value))} bytes", lines)
    schema = schema_of(PodTemplateSpec)
    value, broken = pod_template(), pod_template()
    broken["spec"]["containers"][0]["ports"][0]["containerPort"] = "https"
    value, broken = json_value(value), json_value(broken)
    embedded = editor_schema(crd(schema), "v1")["properties"]["template"]
    lines = measure(schema, value, broken) + others(embedded, value, broken)
    table(f"A Pod template of {len(json.dumps(value))} bytes, schema {len(json.dumps(schema)):,} bytes", lines)
    print("\n| once | ms |\n|---|---:|")
    for module in ("kubewright.model", "kubewright.schema", "kubewright.schema.structural"):
        print(f"| import {module} | {once(f'import {module}'):.0f} |")
    print(f"| compile the schema of a custom resource | {1 / rate(lambda: Structural(widget_schema())):.2f} |")
    print(f"| compile the schema of a Pod template | {1 / rate(lambda: Structural(schema)):.1f} |")


if __name__ == "__main__":
    main()
