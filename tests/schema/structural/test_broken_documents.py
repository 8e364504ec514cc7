"""Documents that are broken anywhere and in any way are reported, by every command, and never a traceback."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broken_crds import BROKEN, FINE, GROUP, good, made
from generator import Generator

from kubewright.schema.checking import validate
from kubewright.schema.compat import DiffError, convert_crd, diff_files
from kubewright.schema.structural import check_crd

ROUNDS = 40


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every part."""
    yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from places(each, (*path, place))


def broken_document(make: Generator) -> dict[str, Any]:
    crd = made(make.pick([*BROKEN.values(), *FINE.values()])) if make.maybe(0.7) else good()
    for _ in range(make.random.randint(1, 3)):
        path = make.pick([each for each in places(crd) if each and each[0] not in ("apiVersion", "kind")])
        here: Any = crd
        for step in path[:-1]:
            here = here[step]
        here[path[-1]] = make.pick((make.wild(2), None, [], {}, "x", 5, [None], [{}], {"a": None}))
    return crd


@pytest.mark.parametrize("seed", range(0, 400, ROUNDS))
def test_any_document_is_answered(tmp_path: Path, seed: int) -> None:
    sound, file, other = tmp_path / "good.json", tmp_path / "crd.json", tmp_path / "object.json"
    sound.write_text(json.dumps(good()))
    for each in range(seed, seed + ROUNDS):
        make = Generator(each)
        crd = broken_document(make)
        check_crd(crd)
        convert_crd(crd | {"apiVersion": "apiextensions.k8s.io/v1beta1"})
        file.write_text(json.dumps(crd))
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": make.wild(2), "spec": make.wild(3)}
        other.write_text(json.dumps(body))
        assert list(validate([file, other]).lines())
        for old, new in ((file, sound), (sound, file)):
            with contextlib.suppress(DiffError):
                assert list(diff_files(old, new).lines())


def test_a_null_is_what_go_makes_of_it() -> None:
    crd = good()
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["spec"]["properties"]["x"] = None
    crd["spec"]["conversion"] = None
    outcome = check_crd(crd)
    assert [str(error) for error in outcome.errors] == [
        "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[x].type: Required value: must not be empty"
        " for specified object fields"
    ]
