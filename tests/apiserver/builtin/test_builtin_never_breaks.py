"""Whatever is written, it is stored or refused: no rule, default, warning or cell breaks on an odd object."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from base_objects import BASES as WORKLOADS
from base_objects import put
from differential import NOW, answer, context, create, decoded, kind_of, update
from hypothesis import given
from hypothesis import strategies as st
from more_objects import BASES as OTHERS
from pod_cases import POD_CHANGES

Object = dict[str, Any]
BASES = {**WORKLOADS, **OTHERS}
CREATED = {name: made for name, base in BASES.items() for code, made in [answer(create, base)] if code == 200}
_TEXTS = ["", "x", "A b", "1", "-1", "10%", "1.2.3.4"]
_OTHERS = [None, 0, 1, -1, 70_000, 2**40, 1.5, True, [], {}, [None], [{}], ["", ""]]
ODD = st.sampled_from([*_TEXTS, *_OTHERS]).map(copy.deepcopy)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        if path or name not in ("apiVersion", "kind"):
            yield (*path, name)
            yield from _places(each, (*path, name))


@st.composite
def odd_objects(draw: st.DrawFn, bases: dict[str, Object]) -> tuple[str, Object]:
    """An object of a kind with up to three values taken away, copied or replaced by odd ones."""
    name = draw(st.sampled_from(sorted(bases)))
    made = copy.deepcopy(bases[name])
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(made))
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        holder: Any = made
        for each in way:
            holder = holder[each]
        how = draw(st.sampled_from(["replace", "remove", "repeat", "add"]))
        if how == "remove":
            del holder[last]
        elif how == "repeat" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        elif how == "add" and isinstance(holder[last], dict):
            kind = kind_of(made)
            names = sorted(kind.strategy.type.fields) if not way else ["name", "spec", "labels", "matchLabels", "env"]  # type: ignore[attr-defined]
            holder[last][draw(st.sampled_from(names))] = draw(ODD)
        else:
            holder[last] = draw(ODD)
    return name, made


@given(odd_objects(BASES))
def test_an_odd_new_object_is_stored_or_refused(drawn: tuple[str, Object]) -> None:
    _, obj = drawn
    code, made = answer(create, obj)
    if code == 200:
        strategy = kind_of(obj).strategy
        strategy.warnings(made, None, context())
        strategy.cells(made, NOW)
        strategy.fields(made)


@given(odd_objects(CREATED))
def test_an_odd_change_is_stored_or_refused(drawn: tuple[str, Object]) -> None:
    name, obj = drawn
    code, made = answer(update, CREATED[name], obj)
    if code == 200:
        kind_of(obj).strategy.warnings(made, CREATED[name], context())


@given(odd_objects({name: made for name, made in CREATED.items() if "status" in kind_of(made).subresources}))
def test_an_odd_status_is_stored_or_refused(drawn: tuple[str, Object]) -> None:
    name, obj = drawn
    strategy = kind_of(CREATED[name]).subresources["status"].strategy
    assert strategy is not None

    def change() -> Object:
        new = decoded(obj)
        strategy.prepare_update(new, CREATED[name], context())
        strategy.validate_update(new, CREATED[name], context())
        strategy.cells(new, NOW)
        return new

    answer(change)


@given(st.sampled_from(sorted(POD_CHANGES)), st.sampled_from(sorted(POD_CHANGES)))
def test_two_mistakes_in_a_pod_at_once_are_stored_or_refused(first: str, second: str) -> None:
    pod = copy.deepcopy(BASES["pod"])
    for name in (first, second):
        for path, value in POD_CHANGES[name].items():
            try:
                put(pod, path, copy.deepcopy(value))
            except (KeyError, IndexError, AttributeError, TypeError, ValueError):
                continue
    answer(create, pod)
