"""Bodies go through the Go types: what is unknown, empty, of a wrong type or in another form than it is kept in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver.builtin import BuiltIn
from kubewright.apiserver.builtin.decoding import decode, read_quantity, read_time
from kubewright.apiserver.strategy import Malformed

TYPES = BuiltIn().types
POD = TYPES.of_kind("v1", "Pod")
CONFIG = TYPES.of_kind("v1", "ConfigMap")
SECRET = TYPES.of_kind("v1", "Secret")


def _pod(**container: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", **container}]},
    }


def test_unknown_fields_are_dropped_and_told_with_their_places() -> None:
    made, unknown = decode({**_pod(nonsense=1), "other": {}}, POD)
    assert unknown == ['unknown field "spec.containers[0].nonsense"', 'unknown field "other"']
    assert "nonsense" not in made["spec"]["containers"][0]


def test_names_are_case_sensitive() -> None:
    assert decode({"Data": {"a": "b"}}, CONFIG)[1] == ['unknown field "Data"']


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"metadata": 5}, "json: cannot unmarshal number into Go struct field Pod.metadata of type v1.ObjectMeta"),
        ({"spec": []}, "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec"),
        (
            {"spec": {"containers": {}}},
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            _pod(name=5),
            "json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string",
        ),
        (
            _pod(ports=[{"containerPort": "80"}]),
            "json: cannot unmarshal string into Go struct field "
            "ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            _pod(ports=[{"containerPort": 2**31}]),
            "json: cannot unmarshal number 2147483648 into Go struct field "
            "ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            _pod(tty="yes"),
            "json: cannot unmarshal string into Go struct field Container.spec.containers.tty of type bool",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
    ],
)
def test_a_wrong_type_is_told_in_the_words_of_go(body: dict[str, Any], said: str) -> None:
    with pytest.raises(Malformed) as refused:
        decode(body, POD)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        (1, "1"),
        ("1e3", "1e3"),
        ("1500000000n", "1500m"),
        (None, "0"),
    ],
)
def test_quantities_have_one_form(given: Any, kept: str) -> None:
    assert read_quantity(given) == kept


@pytest.mark.parametrize("given", ["", "1GB", "x", "1.2.3", "--1", {}])
def test_what_is_no_quantity_is_refused(given: Any) -> None:
    with pytest.raises(Malformed, match=r"quantities must match|unable to parse quantity's suffix"):
        read_quantity(given)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.999Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05Z"),
        (None, None),
    ],
)
def test_times_are_kept_in_utc_to_the_second(given: Any, kept: Any) -> None:
    assert read_time(given) == kept


def test_a_bad_time_is_told_in_the_words_of_go() -> None:
    with pytest.raises(Malformed) as refused:
        read_time("yesterday")
    layout = "2006-01-02T15:04:05Z07:00"
    assert str(refused.value) == f'parsing time "yesterday" as "{layout}": cannot parse "yesterday" as "2006"'


@pytest.mark.parametrize(
    ("text", "place"),
    [("v", 0), ("!", 0), ("ab", 0), ("abcde", 4), ("a===", 1), ("ab=", 3), ("ab=c", 3), ("abc=d", 4), ("ab\nc$", 4)],
)
def test_bad_base64_is_told_with_its_place(text: str, place: int) -> None:
    with pytest.raises(Malformed) as refused:
        decode({"data": {"a": text}}, SECRET)
    assert str(refused.value) == f"illegal base64 data at input byte {place}"


def test_what_is_empty_is_written_as_the_type_says() -> None:
    made, _ = decode({"metadata": {"name": "p", "labels": {}}, "spec": {"containers": None, "nodeName": ""}}, POD)
    assert made == {"metadata": {"name": "p"}, "spec": {"containers": None}, "status": {}}


LEAVES = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=4)
NAMES = st.sampled_from(
    ["metadata", "spec", "status", "name", "labels", "containers", "image", "ports", "replicas", "x"]
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(NAMES, JSON, max_size=4))
def test_whatever_comes_is_read_or_refused_and_read_again_is_the_same(body: dict[str, Any]) -> None:
    try:
        once, _ = decode(body, POD)
    except Malformed:
        return
    twice, unknown = decode(once, POD)
    assert (twice, unknown) == (once, [])
