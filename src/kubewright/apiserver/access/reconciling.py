"""What a server that starts again makes of the roles and bindings of a new cluster that somebody has changed. Pure.

What they lack is put back: rules, subjects, labels, annotations, selectors of aggregation; what was added stays.
One that says `rbac.authorization.kubernetes.io/autoupdate: "false"` is left alone. Rules:
`component-helpers/auth/rbac/reconciliation`.
"""

from __future__ import annotations

from typing import Any, Final

from .rules import Rule, missing

__all__ = ["reconciled"]

Object = dict[str, Any]

_PROTECTED: Final = "rbac.authorization.kubernetes.io/autoupdate"


def reconciled(found: Object, wanted: Object) -> Object | None:
    """The object as it has to be; None where it is so already, or is protected.

    Args:
        found: the one that is stored. It is not changed.
        wanted: the one of a new cluster. Its rules do not count where they are aggregated.
    """
    meta: Object = found["metadata"]
    if (meta.get("annotations") or {}).get(_PROTECTED) == "false":
        return None
    made = {**found, "metadata": dict(meta)}
    for field in ("annotations", "labels"):
        merged = {**(wanted["metadata"].get(field) or {}), **(meta.get(field) or {})}
        if merged:
            made["metadata"][field] = merged
    if "roleRef" in wanted:
        subjects = found.get("subjects") or []
        if lacking := [each for each in wanted.get("subjects") or () if each not in subjects]:
            made["subjects"] = [*subjects, *lacking]
    else:
        _reconcile_rules(made, found, wanted)
    return made if made != found else None


def _reconcile_rules(made: Object, found: Object, wanted: Object) -> None:
    aggregation = wanted.get("aggregationRule")
    if aggregation is None:
        made.pop("aggregationRule", None)
        rules = found.get("rules") or []
        if rules != wanted.get("rules") and (
            lacking := missing([Rule(each) for each in rules], wanted.get("rules") or ())
        ):
            made["rules"] = [*rules, *lacking]
        return
    selectors = (found.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
    if lacking := [each for each in aggregation["clusterRoleSelectors"] if each not in selectors]:
        made["aggregationRule"] = {"clusterRoleSelectors": [*selectors, *lacking]}
