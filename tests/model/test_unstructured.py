from __future__ import annotations

import orjson
import pytest
from hypothesis import given

from kubewright.model import (
    DecodeError,
    ObjectMeta,
    Unstructured,
    clone,
    decode,
    encode,
    info_of,
    to_dict,
    unstructured,
)

from .strategies import objects

Web = unstructured("example.com/v1", "Web")


def test_a_kind_that_is_known_by_name_is_a_class_like_any_other():
    info = info_of(Web)
    assert (Web.api_version, Web.kind, info.plural, info.list_kind) == ("example.com/v1", "Web", "", "WebList")
    assert issubclass(Web, Unstructured)
    other = info_of(unstructured("v1", "Pod", plural="pods", namespaced=False, status=False))
    assert (other.group, other.plural, other.namespaced, other.status) == ("", "pods", False, False)
    with pytest.raises(ValueError, match="is not 'version' or 'group/version'"):
        unstructured("a/b/c", "Web")


@given(objects)
def test_content_comes_back_as_it_was(content):
    content = {name: value for name, value in content.items() if name not in ("apiVersion", "kind", "metadata")}
    raw = {"apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "a"}, **content}
    obj = decode(Web, orjson.dumps(raw))
    assert obj.content == content
    assert to_dict(obj) == raw
    assert clone(obj) == obj


def test_metadata_is_typed_and_the_rest_is_plain():
    obj = decode(Web, b'{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"image":"x"},"status":{"ready":1}}')
    assert obj.metadata == ObjectMeta(name="a", labels={"x": "y"})
    assert obj["spec"]["image"] == "x"
    assert "status" in obj
    assert "data" not in obj
    obj["data"] = {"a": "b"}
    assert obj.get("data", "a") == "b"
    assert obj.get("data", "b", default=0) == 0
    assert obj.get("spec", "image", "deeper") is None
    assert b'"data":{"a":"b"}' in encode(obj)
    assert b"status" not in encode(obj, status=False)
    assert "status" in obj


def test_metadata_is_read_as_leniently_as_that_of_other_objects():
    data = b'{"metadata":{"creationTimestamp":null,"labels":{"a":null},"managedFields":[{"manager":null}]}}'
    assert decode(Web, data).metadata.labels == {"a": ""}
    assert decode(Web, b'{"metadata":null}').metadata == ObjectMeta()
    assert decode(Web, b"{}").metadata == ObjectMeta()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"metadata":{"name":5}}', "Web.metadata.name: Expected `str`, got `int`"),
        (b'{"metadata":[]}', "Web.metadata: Expected `object`, got `array`"),
        (b"[]", "Web: Expected `object`, got `list`"),
        (b"{", "Web: "),
    ],
)
def test_what_is_no_object_is_an_error_with_its_path(data, message):
    with pytest.raises(DecodeError) as caught:
        decode(Web, data)
    assert str(caught.value).startswith(message)


def test_a_mistyped_attribute_is_an_error():
    with pytest.raises(AttributeError, match="Web has no field 'spec'; it has metadata, content"):
        Web().spec = {}
