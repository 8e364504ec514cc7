"""Label selectors of objects as text (`metav1.LabelSelectorAsSelector`, `labels.Selector.String`)."""

from __future__ import annotations

from typing import Any

__all__ = ["matches", "selector_text"]


def selector_text(selector: dict[str, Any], *, is_plain: bool = False) -> str:
    """A selector as `kubectl -l` takes it, sorted by key. `is_plain`: a map of labels, not a LabelSelector."""
    if is_plain:
        return ",".join(f"{name}={selector[name]}" for name in sorted(selector))
    parts = [(name, f"{name}={value}") for name, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or ():
        key, operator = each.get("key", ""), each.get("operator", "")
        values = ",".join(sorted(each.get("values") or ()))
        said = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        parts.append((key, said.get(operator, f"!{key}")))
    return ",".join(text for _, text in sorted(parts, key=lambda part: part[0]))


def matches(selector: dict[str, Any] | None, labels: dict[str, str]) -> bool:
    """Whether a LabelSelector selects something with these labels. None selects nothing, an empty one everything."""
    if selector is None:
        return False
    for name, value in (selector.get("matchLabels") or {}).items():
        if labels.get(name) != value:
            return False
    for each in selector.get("matchExpressions") or ():
        found, values, operator = labels.get(each["key"]), each.get("values") or (), each.get("operator")
        if operator == "In" and (found is None or found not in values):
            return False
        if operator == "NotIn" and found is not None and found in values:
            return False
        if operator == "Exists" and found is None:
            return False
        if operator == "DoesNotExist" and found is not None:
            return False
    return True
