"""What the validation of an object costs. Run: python bench/validate.py

Two objects: a custom resource of 2 KB with a list of 20 items, and a Pod template as operators embed it. Prints
thousand operations per second, the fastest of some repetitions, beside `jsonschema` and `jsonschema-rs` where they are
installed. Those say whether a value fits, or list errors with other words and paths; they know nothing of nullable,
int-or-string, embedded resources, pruning, defaults or ratcheting, so only the first line compares like with like.

Ratios between the lines of one run are what can be compared; the numbers depend on machine and Python build. The last
lines are the time that importing and compiling takes.
"""

from __future__ import annotations

import importlib
import json
import platform
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import Any

from kubewright.models.core.v1 import PodTemplateSpec
from kubewright.schema import schema_of
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


def crd() -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": widget_schema()}}
    names = {"kind": "Widget", "plural": "widgets"}
    return {"spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]}}


def rate(call: Callable[[], object], *, repeat: int = 5, seconds: float = 0.2) -> float:
    """Thousand calls per second, the best of some repetitions."""
    timer = timeit.Timer(call)
    count, taken = timer.autorange()
    count = max(1, int(count * seconds / taken))
    return count / min(timer.repeat(repeat, count)) / 1000


def others(schema: dict[str, Any], value: Any, broken: Any) -> list[tuple[str, float]]:
    lines: list[tuple[str, float]] = []
    try:
        rust = importlib.import_module("jsonschema_rs").validator_for(schema)
        lines.append(("jsonschema-rs: is it valid", rate(lambda: rust.is_valid(value))))
        lines.append(("jsonschema-rs: errors of one that is not", rate(lambda: list(rust.iter_errors(broken)))))
    except ImportError:
        pass
    try:
        python = importlib.import_module("jsonschema").Draft7Validator(schema)
        lines.append(("jsonschema: is it valid", rate(lambda: python.is_valid(value))))
        lines.append(("jsonschema: errors of one that is not", rate(lambda: list(python.iter_errors(broken)))))
    except ImportError:
        pass
    return lines


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
    """Milliseconds of a fresh interpreter, less those of an empty one."""

    def run(text: str) -> float:
        return min(timeit.repeat(lambda: subprocess.run([sys.executable, "-c", text], check=True), number=1, repeat=5))

    return (run(code) - run("pass")) * 1000


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
    table(f"A custom resource of {len(json.dumps(value))} bytes", lines + others(widget_schema(), value, broken))
    schema = schema_of(PodTemplateSpec)
    value, broken = pod_template(), pod_template()
    broken["spec"]["containers"][0]["ports"][0]["containerPort"] = "https"
    value, broken = json_value(value), json_value(broken)
    lines = measure(schema, value, broken) + others(schema, value, broken)
    table(f"A Pod template of {len(json.dumps(value))} bytes, schema {len(json.dumps(schema)):,} bytes", lines)
    print("\n| once | ms |\n|---|---:|")
    print(f"| import kubewright.schema.structural | {once('import kubewright.schema.structural'):.0f} |")
    print(f"| compile the schema of a custom resource | {1 / rate(lambda: Structural(widget_schema())):.2f} |")
    print(f"| compile the schema of a Pod template | {1 / rate(lambda: Structural(schema)):.1f} |")


if __name__ == "__main__":
    main()
