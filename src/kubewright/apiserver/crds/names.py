"""Which names a definition gets: of what it asks for, what nobody else of its group has. Pure.

Rules: `apiextensions-apiserver/pkg/controller/status/naming_controller.go`. What is asked for and taken stays as it
was; the condition NamesAccepted says the last of the conflicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kubewright.schema.structural.fielderrors import summary

__all__ = ["Condition", "Naming", "condition", "is_true", "naming", "with_condition"]

Condition = dict[str, Any]


class Naming(NamedTuple):
    """The names that are accepted, and the two conditions that follow from them."""

    accepted: dict[str, Any]
    names_accepted: Condition
    established: Condition


def condition(type_: str, status: str, reason: str, message: str) -> Condition:
    """A condition without its time."""
    return {"type": type_, "status": status, "reason": reason, "message": message}


def find(conditions: Iterable[Condition] | None, type_: str) -> Condition | None:
    return next((each for each in conditions or () if each["type"] == type_), None)


def is_true(crd: Mapping[str, Any], type_: str) -> bool:
    """Whether a condition of a definition is True."""
    found = find((crd.get("status") or {}).get("conditions"), type_)
    return found is not None and found["status"] == "True"


def with_condition(conditions: list[Condition] | None, new: Condition, now: str) -> list[Condition]:
    """The conditions with another one; the time stays where the status does."""
    made = list(conditions or ())
    for place, old in enumerate(made):
        if old["type"] == new["type"]:
            changed_at = old.get("lastTransitionTime", now) if old["status"] == new["status"] else now
            made[place] = {**new, "lastTransitionTime": changed_at}
            return made
    return [*made, {**new, "lastTransitionTime": now}]


def naming(crd: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> Naming:
    """What becomes of the names of a definition.

    Args:
        others: all definitions of its group, itself included.
    """
    taken, kinds = set[str](), set[str]()
    for each in others:
        names = (each.get("status") or {}).get("acceptedNames") or {}
        taken |= {names.get("plural", ""), names.get("singular", ""), *(names.get("shortNames") or ())}
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    wanted = crd["spec"]["names"]
    accepted = dict((crd.get("status") or {}).get("acceptedNames") or {})
    before = dict(accepted)
    problem: tuple[str, str] | None = None
    for name, reason in (("plural", "PluralConflict"), ("singular", "SingularConflict")):
        if said := _taken(wanted.get(name, ""), before.get(name, ""), taken):
            problem = (reason, said)
        else:
            accepted[name] = wanted.get(name, "")
    if wanted.get("shortNames") != before.get("shortNames"):
        mine = before.get("shortNames") or ()
        asked = [each for each in wanted.get("shortNames") or () if each not in mine]
        found = [said for each in asked if (said := _taken(each, "", taken))]
        if found:
            problem = ("ShortNamesConflict", summary(found))
        else:
            accepted["shortNames"] = wanted.get("shortNames")
    for name, reason in (("kind", "KindConflict"), ("listKind", "ListKindConflict")):
        if said := _taken(wanted.get(name, ""), before.get(name, ""), kinds):
            problem = (reason, said)
        else:
            accepted[name] = wanted.get(name, "")
    accepted["categories"] = wanted.get("categories")
    kept = {"plural": accepted.get("plural", ""), "kind": accepted.get("kind", "")}
    accepted = {**{name: each for name, each in accepted.items() if each}, **kept}
    if problem is None:
        names_accepted = condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    else:
        names_accepted = condition("NamesAccepted", "False", *problem)
    return Naming(accepted, names_accepted, _established(crd, is_accepted=problem is None))


def _taken(wanted: str, mine: str, taken: set[str]) -> str:
    return "" if wanted == mine or wanted not in taken else f'"{wanted}" is already in use'


def _established(crd: Mapping[str, Any], *, is_accepted: bool) -> Condition:
    old = find((crd.get("status") or {}).get("conditions"), "Established")
    made = condition("Established", "False", "NotAccepted", "not all names are accepted")
    if old is not None:
        made = {name: each for name, each in old.items() if name != "lastTransitionTime"}
    if made["status"] != "True" and is_accepted:
        return condition("Established", "False", "Installing", "the initial names have been accepted")
    return made
