"""Any CRD: its models can be imported, an object comes back as it was, and the schema of the models says the same."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

import msgspec
from corpus import differences, without_empty
from hypothesis import given, settings
from hypothesis import strategies as st
from random_crds import RandomCrd

from kubewright.generate import generate
from kubewright.generate.sources import Documents
from kubewright.model import decode, encode, origin_of
from kubewright.model.overlay import overlaid
from kubewright.schema import crd_of
from kubewright.schema.structural import Kind, check_crd, json_value
from kubewright.schema.structural.values import same

seeds = st.integers(min_value=0, max_value=2**48)
OBJECTS = 4


def kind_of(crd: Mapping[str, Any], *, keep_empty: bool) -> Any:
    """The class of the kind, out of a module that is generated and run."""
    files = generate(Documents(crds=[dict(crd)]), keep_empty=keep_empty)
    module = types.ModuleType(f"made_at_random_{keep_empty}")
    sys.modules[module.__name__] = module
    exec(compile(files["random/v1.py"], "random/v1.py", "exec"), module.__dict__)
    return module.Thing


def stored(case: RandomCrd, crd: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Objects as a server has them: what it takes, pruned and without defaults to be filled in."""
    version, found = Kind(crd).version("v1"), []
    for _ in range(OBJECTS):
        checked = version.create(json_value(case.object()))
        assert not checked.errors, checked.errors
        found.append(checked.object)
    return found


def again(cls: Any, given_object: dict[str, Any]) -> Any:
    return msgspec.json.decode(encode(decode(cls, msgspec.json.encode(given_object))))


@settings(deadline=None, max_examples=60)
@given(seeds)
def test_an_object_of_any_crd_comes_back_as_it_was(seed: int) -> None:
    case = RandomCrd(seed)
    crd = case.crd()
    assert check_crd(crd).message == ""
    exact, plain = kind_of(crd, keep_empty=True), kind_of(crd, keep_empty=False)
    for obj in stored(case, crd):
        assert list(differences(obj, again(exact, obj))) == []
        assert list(differences(without_empty(obj), without_empty(again(plain, obj)))) == []


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_an_update_of_an_object_of_any_crd_changes_nothing(seed: int) -> None:
    case = RandomCrd(seed)
    crd = case.crd()
    cls = kind_of(crd, keep_empty=False)
    for obj in stored(case, crd):
        odd = {**obj, "beside": {"x": None}}
        made = decode(cls, msgspec.json.encode(odd))
        assert origin_of(made) is not None
        assert same(json_value(overlaid(made)), json_value(odd))


@settings(deadline=None, max_examples=60)
@given(seeds)
def test_the_crd_of_a_generated_class_keeps_the_objects_of_the_one_it_was_made_of(seed: int) -> None:
    case = RandomCrd(seed)
    crd = case.crd()
    made = crd_of(kind_of(crd, keep_empty=True))
    assert check_crd(made).message == ""
    again = Kind(made).version("v1")
    for obj in stored(case, crd):
        if "spec" not in obj:
            continue  # of a class that makes its spec, the schema has it made as well
        checked = again.create(json_value(obj))
        assert not checked.errors, checked.errors
        assert list(differences(obj, checked.object)) == []
