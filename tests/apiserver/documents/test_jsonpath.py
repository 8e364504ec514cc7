"""JSON paths of printer columns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.apiserver.table.jsonpath import JsonPath, JsonPathError

OBJECT = {
    "metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x", "b": "y"}},
    "spec": {
        "list": [1, 2, 3, 4],
        "items": [{"name": "a", "n": 1, "on": True}, {"name": "b", "n": 2}, {"name": "c", "n": 3.5}],
        "empty": [],
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".metadata.name", ["a"]),
        ("metadata.name", ["a"]),
        ("{.metadata.name}", ["a"]),
        ("$.metadata.name", ["a"]),
        (".metadata['name']", ["a"]),
        (r".metadata.labels.app\.kubernetes\.io/name", ["x"]),
        (".metadata.labels['app.kubernetes.io/name']", ["x"]),
        (".metadata.labels.*", ["x", "y"]),
        (".metadata.labels['b','app.kubernetes.io/name']", ["y", "x"]),
        (".spec.list[0]", [1]),
        (".spec.list[-1]", [4]),
        (".spec.list[9]", []),
        (".spec.list[1:3]", [2, 3]),
        (".spec.list[::2]", [1, 3]),
        (".spec.list[-2:]", [3, 4]),
        (".spec.list[0,2]", [1, 3]),
        (".spec.list[*]", [1, 2, 3, 4]),
        (".spec.list.0", []),
        (".spec.empty[*]", []),
        (".spec.items[*].name", ["a", "b", "c"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Ready')].status", ["True"]),
        ('.status.conditions[?(@.type!="Ready")].status', ["False"]),
        ('.status.conditions[?(@.type=="None")].status', []),
        (".spec.items[?(@.n>1)].name", ["b", "c"]),
        (".spec.items[?(@.n<=2)].name", ["a", "b"]),
        (".spec.items[?(@.n<3.6)].name", ["a", "b", "c"]),
        (".spec.items[?(@.on==true)].name", ["a"]),
        (".spec.items[?(@.on)].name", ["a"]),
        (".spec.items[?(@.name>2)].name", []),
        ("..status", [OBJECT["status"], "True", "False"]),
        ("..n", [1, 2, 3.5]),
        (".missing.deeper[0].more", []),
        (".metadata.name.deeper", []),
        (".", [OBJECT]),
    ],
)
def test_a_path_selects(path: str, found: list[Any]) -> None:
    assert JsonPath(path).find(OBJECT) == found


@pytest.mark.parametrize(
    "path", [".a[", ".a[x]", ".a['b", ".a[?(@.b==)]", ".a[?(@.b", ".a]b", ".a[::0]", ".a b", "." + "a" * 5000]
)
def test_a_path_that_cannot_be_read_is_an_error_that_names_it(path: str) -> None:
    with pytest.raises(JsonPathError, match="JSON path"):
        JsonPath(path)


@given(st.text(alphabet=".[]()?@*'\"abc:,0-9=!<> {}\\$", max_size=40))
def test_no_text_is_more_than_an_error(text: str) -> None:
    try:
        path = JsonPath(text)
    except JsonPathError:
        return
    path.find(OBJECT)
