"""Protobuf bodies: what was written is what is read, and garbage is an error."""

from __future__ import annotations

import base64
import struct
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.apiserver.bodies import BadJson
from kubewright.apiserver.builtin import BuiltIn
from kubewright.apiserver.builtin.gotypes import GoType
from kubewright.apiserver.builtin.protobuf import protobuf_reader

TYPES = BuiltIn().types
READ = protobuf_reader(TYPES)
WRAPPED = ("ExtraValue", "AttestationValue", "Verbs")


# -- a writer, as Go's ------------------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def field(number: int, wire: int, value: bytes) -> bytes:
    return varint(number << 3 | wire) + (varint(len(value)) + value if wire == 2 else value)


def written(value: Any, type_: GoType, number: int) -> bytes:
    """One value as a field; lists as one field per item."""
    while type_.kind == "pointer":
        type_ = type_.elem
    if type_.kind == "slice" and type_.name not in WRAPPED:
        return b"".join(written(each, type_.elem, number) for each in value)
    if type_.kind == "map":
        return b"".join(
            field(number, 2, field(1, 2, key.encode()) + written(each, type_.elem, 2)) for key, each in value.items()
        )
    if type_.kind in ("int", "int32", "int64", "bool", "uint8"):
        return field(number, 0, varint(int(value)))
    if type_.kind == "float64":
        return field(number, 1, struct.pack("<d", value))
    return field(number, 2, content(value, type_))


def content(value: Any, type_: GoType) -> bytes:
    if type_.kind == "string":
        return str(value).encode()
    if type_.kind == "bytes":
        return base64.b64decode(value)
    if type_.kind == "slice":
        return b"".join(field(1, 2, each.encode()) for each in value)
    if type_.kind == "custom":
        return custom(value, type_.custom)
    return message(value, type_)


def custom(value: Any, name: str) -> bytes:
    if name in ("Time", "MicroTime"):
        at = datetime.fromisoformat(value)
        return field(1, 0, varint(int(at.replace(microsecond=0).timestamp()))) + field(
            2, 0, varint(at.microsecond * 1000)
        )
    if name == "Quantity":
        return field(1, 2, value.encode())
    if name == "IntOrString":
        if isinstance(value, int):
            return field(1, 0, varint(0)) + field(2, 0, varint(value)) + field(3, 2, b"")
        return field(1, 0, varint(1)) + field(2, 0, varint(0)) + field(3, 2, value.encode())
    return field(1, 2, orjson.dumps(value))


def message(value: dict[str, Any], type_: GoType) -> bytes:
    made = b""
    left = dict(value)
    for inner, number in type_.inlined:
        inner = inner.elem if inner.kind == "pointer" else inner
        own = {name: left.pop(name) for name in list(left) if name in inner.fields}
        if number:
            made += field(number, 2, message(own, inner))
    for name, each in left.items():
        known = type_.fields[name]
        made += written(each, known.type, known.number)
    return made


def body(obj: dict[str, Any]) -> bytes:
    api_version, kind = obj["apiVersion"], obj["kind"]
    rest = {name: each for name, each in obj.items() if name not in ("apiVersion", "kind")}
    raw = message(rest, TYPES.of_kind(api_version, kind))
    head = field(1, 2, api_version.encode()) + field(2, 2, kind.encode())
    return b"k8s\x00" + field(1, 2, head) + field(2, 2, raw) + field(3, 2, b"") + field(4, 2, b"")


# -- values of a type -------------------------------------------------------------------------------------------------

TEXT = st.text(min_size=1, max_size=5)
INT32 = st.integers(-(2**31), 2**31 - 1)
TIMES = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1))
SIMPLE: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "bool": st.booleans(),
    "int": INT32,
    "int32": INT32,
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint8": st.integers(0, 255),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "bytes": st.binary(max_size=5).map(lambda each: base64.b64encode(each).decode()),
}
CUSTOM: dict[str, st.SearchStrategy[Any]] = {
    "Time": TIMES.map(lambda each: each.replace(microsecond=0, tzinfo=UTC).isoformat()[:19] + "Z"),
    "MicroTime": TIMES.map(lambda each: each.isoformat(timespec="microseconds") + "Z"),
    "Quantity": st.sampled_from(["1", "100m", "1Gi"]),
    "IntOrString": INT32 | TEXT,
    "FieldsV1": st.just({"f:spec": {}}),
    "RawExtension": st.just({"a": [1]}),
    "JSON": st.just({"a": [1]}),
}


def values(type_: GoType, depth: int = 0) -> st.SearchStrategy[Any] | None:
    """Values of a type; None for what is too deep."""
    if type_.kind in SIMPLE:
        return SIMPLE[type_.kind]
    if type_.kind == "pointer":
        return values(type_.elem, depth)
    if type_.kind == "custom":
        return CUSTOM.get(type_.custom)
    if depth > 6:
        return None
    if type_.kind == "struct":
        known = {each.name: values(each.type, depth + 1) for each in type_.fields.values() if each.number or each.said}
        made = {name: each for name, each in known.items() if each is not None and name not in ("kind", "apiVersion")}
        return st.fixed_dictionaries({}, optional=made)
    inner = values(type_.elem, depth + 1)
    if inner is None:
        return None
    if type_.kind == "slice":
        return st.lists(inner, min_size=1, max_size=2)
    return st.dictionaries(TEXT, inner, min_size=1, max_size=2)


def objects(api_version: str, kind: str) -> st.SearchStrategy[dict[str, Any]]:
    found = values(TYPES.of_kind(api_version, kind))
    assert found is not None
    return found.map(lambda each: {"kind": kind, "apiVersion": api_version, **each})


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "Pod"),
        ("v1", "Service"),
        ("v1", "Event"),
        ("v1", "PersistentVolume"),
        ("v1", "DeleteOptions"),
        ("apps/v1", "Deployment"),
        ("coordination.k8s.io/v1", "Lease"),
        ("authorization.k8s.io/v1", "SubjectAccessReview"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole"),
        ("networking.k8s.io/v1", "Ingress"),
    ],
)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_was_written_is_what_is_read(api_version: str, kind: str, data: st.DataObject) -> None:
    obj = data.draw(objects(api_version, kind))
    assert _without_empty(READ(body(obj))) == _without_empty(obj)


def _without_empty(value: Any) -> Any:
    """Messages without fields and no message at all read alike where a struct is embedded."""
    if isinstance(value, dict):
        made = {name: _without_empty(each) for name, each in value.items()}
        return {name: each for name, each in made.items() if each != {}}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value


def test_a_volume_has_its_source_beside_its_name() -> None:
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {
            "volumes": [{"name": "v", "configMap": {"name": "c"}}],
            "containers": [
                {"name": "c", "livenessProbe": {"httpGet": {"port": "web"}}, "resources": {"limits": {"cpu": "1"}}}
            ],
        },
    }
    assert READ(body(pod)) == pod


def test_no_time_is_no_field() -> None:
    meta = TYPES.of_kind("v1", "ConfigMap").fields["metadata"]
    assert meta.number == 1
    raw = field(1, 2, field(1, 2, b"a") + field(8, 2, b""))
    head = field(1, 2, b"v1") + field(2, 2, b"ConfigMap")
    found = READ(b"k8s\x00" + field(1, 2, head) + field(2, 2, raw))
    assert found == {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}


def test_a_field_that_nobody_knows_is_skipped() -> None:
    raw = field(99, 2, b"x") + field(98, 0, varint(5)) + field(97, 5, b"abcd") + field(96, 1, b"abcdefgh")
    head = field(1, 2, b"v1") + field(2, 2, b"ConfigMap")
    assert READ(b"k8s\x00" + field(1, 2, head) + field(2, 2, raw)) == {"kind": "ConfigMap", "apiVersion": "v1"}


@given(st.binary(max_size=60), st.sampled_from(["ConfigMap", "Pod", "Nonsense"]))
def test_garbage_is_an_error_and_nothing_else(data: bytes, kind: str) -> None:
    head = field(1, 2, b"v1") + field(2, 2, kind.encode())
    for each in (data, b"k8s\x00" + data, b"k8s\x00" + field(1, 2, head) + field(2, 2, data)):
        try:
            READ(each)
        except BadJson:
            pass


def test_depth_is_bounded() -> None:
    number = TYPES.get("apiextensions/v1.JSONSchemaProps").fields["not"].number
    inner = b""
    for _ in range(15_000):
        inner = field(number, 2, inner)
    for name, owner in (
        ("openAPIV3Schema", "CustomResourceValidation"),
        ("schema", "CustomResourceDefinitionVersion"),
        ("versions", "CustomResourceDefinitionSpec"),
        ("spec", "CustomResourceDefinition"),
    ):
        inner = field(TYPES.get(f"apiextensions/v1.{owner}").fields[name].number, 2, inner)
    head = field(1, 2, b"apiextensions.k8s.io/v1") + field(2, 2, b"CustomResourceDefinition")
    with pytest.raises(BadJson, match="exceeded max depth"):
        READ(b"k8s\x00" + field(1, 2, head) + field(2, 2, inner))
