# No `from __future__ import annotations` here, on purpose: the annotations of these classes are objects and not text.
import typing
from typing import ClassVar

from kubewright.model import Model, decode, encode


class Inner(Model):
    size: int = 3


class Eager(Model):
    kind: ClassVar[str] = "k"
    bare: typing.ClassVar = 5
    name: str
    replicas: int = 1
    inner: Inner = Inner()
    items: list[Inner] = []


def test_a_class_with_evaluated_annotations_has_the_same_habits():
    assert Eager.__struct_fields__ == ("name", "replicas", "inner", "items")
    assert encode(Eager(name="a")) == b'{"name":"a","replicas":1,"inner":{"size":3}}'
    assert decode(Eager, b'{"name":"a","items":[{}]}').items == [Inner()]
    assert (Eager.kind, Eager.bare) == ("k", 5)
