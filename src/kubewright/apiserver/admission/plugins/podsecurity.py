"""The plugin PodSecurity: namespaces say by labels how safe Pods have to be.

| label `pod-security.kubernetes.io/...` | what is against it |
|---|---|
| `enforce` | is refused (Pods only) |
| `warn`; the level that is enforced unless it says otherwise | is said in a Warning header, of what makes Pods too |
| `audit` | is an annotation of the audit event |

Each has a version beside it, as `enforce-version: v1.30`. Rules: pod-security-admission/{api,admission}.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from kubewright.schema.structural.fielderrors import FieldError, invalid, key, summary
from kubewright.schema.structural.gotext import quoted

from ...errors import StatusError, forbidden
from ...errors import invalid as invalid_of
from ...registry.backend import Attributes
from .podchecks import violations
from .podviolations import Violation
from .world import Object, World

__all__ = ["check_makers", "check_namespace", "check_pod"]

_PREFIX: Final = "pod-security.kubernetes.io/"
_LEVELS: Final = ("privileged", "baseline", "restricted")
_VERSION: Final = re.compile(r"v1\.([0-9]|[1-9][0-9]*)", re.ASCII)
_IGNORED: Final = frozenset({"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"})
_MOST_PODS: Final = 3000


class _Rule(NamedTuple):
    """A level and a version of the rules; None for the latest."""

    level: str = "privileged"
    minor: int | None = None

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor is None else f'v1.{self.minor}'}"


class _Policy(NamedTuple):
    enforce: _Rule
    audit: _Rule
    warn: _Rule
    errors: list[FieldError]


def _policy(labels: dict[str, str]) -> _Policy:
    """What the labels of a namespace ask for."""
    errors: list[FieldError] = []
    levels: dict[str, str] = {}
    minors: dict[str, int | None] = {}
    is_valid: dict[str, bool] = {}
    for mode in ("enforce", "audit", "warn"):
        level, version = labels.get(f"{_PREFIX}{mode}"), labels.get(f"{_PREFIX}{mode}-version")
        levels[mode], minors[mode] = level or "privileged", None
        if level is not None:
            is_valid[mode] = level in _LEVELS
            if not is_valid[mode]:
                said = f"must be one of {', '.join(_LEVELS)}"
                errors.append(invalid(key("metadata.labels", f"{_PREFIX}{mode}"), level, said))
                # Nobody knows what was meant: it is enforced, and nobody is told more.
                levels[mode] = "restricted" if mode == "enforce" else "privileged"
        if version is not None and version != "latest":
            match = _VERSION.fullmatch(version)
            if match is None:
                said = 'must be "latest" or "v1.x"'
                errors.append(invalid(key("metadata.labels", f"{_PREFIX}{mode}-version"), version, said))
            else:
                minors[mode] = int(match[1])
    is_stricter = _LEVELS.index(levels["enforce"]) > _LEVELS.index(levels["warn"])
    if "warn" not in is_valid and is_valid.get("enforce") and is_stricter:
        levels["warn"] = levels["enforce"]
        if f"{_PREFIX}warn-version" not in labels:
            minors["warn"] = minors["enforce"]
    enforce, audit, warn = (_Rule(levels[mode], minors[mode]) for mode in ("enforce", "audit", "warn"))
    return _Policy(enforce, audit, warn, errors)


def _labels(namespace: Object | None) -> dict[str, str]:
    return ((namespace or {}).get("metadata") or {}).get("labels") or {}


def _asks(labels: dict[str, str]) -> bool:
    return any(name.startswith(_PREFIX) for name in labels)


def _said(found: list[Violation]) -> str:
    return ", ".join(map(str, found))


# -- Pods, and what makes them ----------------------------------------------------------------------------------------


def check_pod(attributes: Attributes, world: World) -> None:
    """Raises StatusError: a Pod is against what its namespace enforces."""
    pod, old = attributes.object, attributes.old
    if pod is None or attributes.operation not in ("CREATE", "UPDATE") or attributes.subresource in _IGNORED:
        return
    labels = _labels(world.object("", "namespaces", attributes.namespace))
    if not _asks(labels):
        return
    if attributes.operation == "UPDATE" and old is not None and not _is_significant(pod["spec"], old["spec"]):
        return
    _evaluate(attributes, _policy(labels), pod["metadata"], pod["spec"], enforces=True)


def check_makers(attributes: Attributes, world: World) -> None:
    """Warn of what makes Pods that are against what is warned of."""
    obj = attributes.object
    if obj is None or attributes.operation not in ("CREATE", "UPDATE") or attributes.part is not None:
        return
    labels = _labels(world.object("", "namespaces", attributes.namespace))
    template = _template(obj) if _asks(labels) else None
    if template is not None:
        meta, spec = template.get("metadata") or {}, template.get("spec") or {}
        _evaluate(attributes, _policy(labels), meta, spec, enforces=False)


def _template(obj: Object) -> Object | None:
    if obj.get("kind") == "PodTemplate":
        found: Any = obj.get("template")
    elif obj.get("kind") == "CronJob":
        found = ((obj.get("spec") or {}).get("jobTemplate") or {}).get("spec", {}).get("template")
    else:
        found = (obj.get("spec") or {}).get("template")
    return found if isinstance(found, dict) else None


def _evaluate(attributes: Attributes, policy: _Policy, meta: Object, spec: Object, *, enforces: bool) -> None:
    if policy.errors:
        attributes.annotate(f"{_PREFIX}error", f"Failed to parse policy: {summary(policy.errors)}")
    refusal: StatusError | None = None
    if enforces:
        attributes.annotate(f"{_PREFIX}enforce-policy", str(policy.enforce))
        if found := violations(*policy.enforce, meta, spec):
            why = f"violates PodSecurity {quoted(str(policy.enforce))}: {_said(found)}"
            refusal = forbidden(attributes.kind, attributes.name, why)
    if found := violations(*policy.audit, meta, spec):
        said_of = f"would violate PodSecurity {quoted(str(policy.audit))}: {_said(found)}"
        attributes.annotate(f"{_PREFIX}audit-violations", said_of)
    if refusal is not None:
        raise refusal
    if found := violations(*policy.warn, meta, spec):
        attributes.warn(f"would violate PodSecurity {quoted(str(policy.warn))}: {_said(found)}")


def _is_significant(new: Object, old: Object) -> bool:
    """Whether a change of a Pod has to be looked at: other images, other containers."""
    for field in ("containers", "initContainers"):
        ours, theirs = new.get(field) or [], old.get(field) or []
        if len(ours) != len(theirs):
            return True
        if any(one.get("image") != other.get("image") for one, other in zip(ours, theirs, strict=True)):
            return True
    before = {each.get("name"): each.get("image") for each in old.get("ephemeralContainers") or ()}
    return any(before.get(each.get("name"), each) != each.get("image") for each in new.get("ephemeralContainers") or ())


# -- namespaces -------------------------------------------------------------------------------------------------------


def check_namespace(attributes: Attributes, world: World) -> None:
    """Raises StatusError: the labels of a namespace say nothing that there is. Warns of Pods that are against them."""
    obj = attributes.object
    if obj is None or attributes.operation not in ("CREATE", "UPDATE") or attributes.part is not None:
        return
    labels = _labels(obj)
    if not _asks(labels):
        return
    new = _policy(labels)
    if attributes.operation == "CREATE":
        if new.errors:
            raise invalid_of(attributes.kind, attributes.name, new.errors)
        return
    old = _policy(_labels(attributes.old))
    if new.errors and new.errors != old.errors:
        raise invalid_of(attributes.kind, attributes.name, new.errors)
    if new.enforce == old.enforce or new.enforce.level == "privileged":
        return
    is_looser = _LEVELS.index(new.enforce.level) <= _LEVELS.index(old.enforce.level)
    if new.enforce.minor == old.enforce.minor and is_looser:
        return
    for text in _of_pods(attributes.name, new.enforce, world):
        attributes.warn(text)


def _of_pods(namespace: str, rule: _Rule, world: World) -> list[str]:
    """What is said of the Pods that are there already."""
    pods = list(world.objects("", "pods", namespace))
    found: dict[str, list[str]] = {}
    for pod in pods[:_MOST_PODS]:
        if wrong := violations(*rule, pod["metadata"], pod["spec"]):
            found.setdefault(", ".join(each.reason for each in wrong), []).append(pod["metadata"]["name"])
    said = []
    if len(pods) > _MOST_PODS:
        start = "new PodSecurity enforce level only checked against the first"
        said.append(f"{start} {_MOST_PODS} of {len(pods)} existing pods")
    if found:
        start = f"existing pods in namespace {quoted(namespace)} violate the new PodSecurity enforce level"
        said.append(f"{start} {quoted(str(rule))}")
    return said + sorted(f"{_counted(names)}: {reason}" for reason, names in found.items())


def _counted(names: list[str]) -> str:
    first, others = min(names), len(names) - 1
    if not others:
        return first
    return f"{first} (and {others} other {'pod' if others == 1 else 'pods'})"
