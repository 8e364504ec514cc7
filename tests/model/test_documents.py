from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given

from kubewright.model import same_json
from kubewright.model.documents import DocumentError, read_documents

from .golden import rows
from .strategies import objects


def values(text):
    return [document.value for document in read_documents(text)]


@pytest.mark.parametrize("row", rows("yaml", "documents"), ids=lambda row: row[0])
def test_yaml_means_what_it_does_to_kubectl(row):
    text, *answer = row
    if answer:
        (value,) = values(text)
        # Through orjson, to which numbers of more than 64 bits are floating-point ones, as to Go.
        assert same_json(orjson.loads(json.dumps(value)), orjson.loads(json.dumps(answer[0])))
    else:
        with pytest.raises(DocumentError):
            values(text)


@given(objects)
def test_json_is_read_as_json(value):
    assert values(json.dumps(value)) == [value]
    assert values(json.dumps(value, indent=1).encode()) == [value]


def test_documents_are_numbered_and_empty_ones_skipped():
    text = "\n---\na: 1\n---\n# nothing\n---\n---\nb: 2\n...\n---\nnull\n---\n- 3\n"
    assert [(each.value, each.number, each.line) for each in read_documents(text)] == [
        ({"a": 1}, 1, 3),
        ({"b": 2}, 4, 8),
        ([3], 6, 13),
    ]
    assert values("") == []
    assert values("# only a comment") == []


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert values(b"\xef\xbb\xbfa: 1") == [{"a": 1}]


def test_anchors_and_merges_are_resolved():
    assert values("a: &x {b: 1, c: 2}\nd: *x\ne: {<<: *x, c: 3}\nf: {<<: [*x, {c: 9, g: 4}]}") == [
        {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 2}, "e": {"b": 1, "c": 3}, "f": {"b": 1, "c": 2, "g": 4}}
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n---\nb: c: d", "document 2, line 3: is not YAML: mapping values are not allowed"),
        ("a: [1,\n2", "document 1, line 3: is not YAML"),
        ("a:\n  b: 1\n  b: 2", "document 1, line 3: has 'b' a second time; remove one"),
        ("a: &x\n  - *x", "document 1, line 1: has an anchor inside itself; remove the alias"),
        ("a: *x", "document 1, line 1: is not YAML: found undefined alias"),
        ("a: !thing 1", "has the tag !thing on '1', which JSON has no form for; remove it"),
        ("a: !thing {b: 1}", "has the tag !thing, which JSON has no form for; remove it"),
        ("a: .inf", "has the number .inf, which JSON has no form for; quote it"),
        ("[1]: a", "has a name that is not text; quote it"),
        ("~: a", "has a name that is not text; quote it"),
        ("<<: 1", "merges something that is not a mapping"),
        ("a: \x00", "document 1, line 1: is not YAML"),
        ("a: \tb\n\tc: d", "is not YAML"),
        (b"a: 1\nb: \xff", "document 1, line 2: is not UTF-8; save the file as UTF-8"),
        ('{"a": 1,, }', "is not YAML"),
    ],
)
def test_errors_carry_the_document_and_the_line(text, message):
    with pytest.raises(DocumentError) as caught:
        values(text)
    assert message in str(caught.value)


def test_anchors_that_multiply_are_refused_before_they_fill_the_memory():
    text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    with pytest.raises(DocumentError, match="anchors that multiply to more than a million parts"):
        values(text)


def test_the_line_of_a_path_is_that_of_its_deepest_part_that_is_there():
    (document,) = read_documents("# c\nmetadata:\n  name: a\nspec:\n  ports:\n  - name: x\n  - number: y\n")
    lines = {
        "$.metadata.name": 3,
        "$.spec.ports[1].number": 7,
        "$.spec.ports[1].missing": 7,
        "$.spec.ports[5]": 5,
        "$.spec.other": 4,
        "$.metadata.name.deeper": 3,
        "$": 2,
        "": 2,
    }
    assert {path: document.line_of(path) for path in lines} == lines
    (in_json,) = read_documents('{"a": {"b": 1}}')
    assert in_json.line_of("$.a.b") == 1
