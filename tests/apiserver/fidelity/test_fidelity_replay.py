"""The embedded server answers as kube-apiserver did: every recorded case, replayed in process.

`known.yaml` lists the cases that still differ, each with its reason. One that has ceased to differ fails too, so that
the list can only shrink.
"""

from __future__ import annotations

import functools

import pytest

import virtual

from . import recorded
from .cases import Case, Subject, load_all
from .comparing import differences
from .known import reasons
from .replaying import replay

_SUBJECTS = load_all()
_CASES = [(subject, case) for subject in _SUBJECTS for case in subject.cases]
_recording = functools.cache(recorded.read)


@pytest.mark.parametrize(("subject", "case"), _CASES, ids=[case.key for _, case in _CASES])
def test_the_embedded_server_answers_as_the_real_one(subject: Subject, case: Case) -> None:
    expected = _recording(case.subject)[case.name]
    text = differences(expected, virtual.run(replay(subject, case)))
    reason = reasons().get(case.key)
    if reason is None:
        assert not text, f"{case.key} (expected -> found):\n{text}"
    elif not text:
        pytest.fail(f"{case.key} is answered as by the real server now: take it out of known.yaml ({reason})")


def test_every_case_is_recorded_and_nothing_else_is() -> None:
    for subject in _SUBJECTS:
        assert set(_recording(subject.name)) == {case.name for case in subject.cases}, subject.name
    assert {path.stem for path in recorded.RECORDED.glob("*.json")} == {subject.name for subject in _SUBJECTS}


def test_every_known_difference_is_of_a_case() -> None:
    assert set(reasons()) <= {case.key for _, case in _CASES}
