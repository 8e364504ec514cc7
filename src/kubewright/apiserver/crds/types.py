"""From a definition to the resource types that it makes: one per served version. Pure; schemas are compiled on use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..catalog import ResourceType, Storage, Subresource
from ..strategy import Context
from .conversion import ConversionWebhook, CustomConverter
from .names import is_true
from .scale import CustomScale
from .strategy import CustomStatusStrategy, CustomStrategy
from .version import CustomVersion

__all__ = ["crd_types", "version_order"]

_TERMINATING: Final = "create not allowed while custom resource definition is terminating"


class _Terminating(CustomStrategy):
    def create_problem(self, context: Context) -> str:
        return _TERMINATING


def crd_types(
    crd: Mapping[str, Any], *, webhook: ConversionWebhook | None, new_uid: Callable[[], str], unready: str = ""
) -> list[ResourceType]:
    """The resource types of a definition, the preferred version first."""
    spec = crd["spec"]
    names, group = crd["status"]["acceptedNames"], str(spec["group"])
    namespaced = spec["scope"] == "Namespaced"
    versions = {str(each["name"]): CustomVersion(spec, each) for each in spec["versions"]}
    stored = next(str(each["name"]) for each in spec["versions"] if each.get("storage"))
    converter = CustomConverter(
        versions, spec.get("conversion") or {}, name=crd["metadata"]["name"], webhook=webhook, new_uid=new_uid
    )
    is_going = bool(crd["metadata"].get("deletionTimestamp")) or is_true(crd, "Terminating")
    make = _Terminating if is_going else CustomStrategy
    scales = {each.api_version: each.scale for each in versions.values()}
    found = []
    for name in sorted(versions, key=version_order):
        version = versions[name]
        if not version.version.get("served"):
            continue
        columns = tuple(version.version.get("additionalPrinterColumns") or ())
        found.append(
            ResourceType(
                group=group,
                version=name,
                kind=names["kind"],
                plural=names["plural"],
                namespaced=namespaced,
                singular=names.get("singular", ""),
                list_kind=names.get("listKind", ""),
                short_names=tuple(names.get("shortNames") or ()),
                categories=tuple(names.get("categories") or ()),
                strategy=make(version, namespaced=namespaced, columns=columns),
                storage=Storage(group, names["plural"], f"{group}/{stored}"),
                converter=converter,
                subresources=_subresources(version, scales, group, namespaced),
                schema=version.raw_schema,
                is_custom=True,
                warning=_warning(spec, version) if version.version.get("deprecated") else "",
                unready=unready,
            )
        )
    return found


def _subresources(
    version: CustomVersion, scales: Mapping[str, Mapping[str, Any]], group: str, namespaced: bool
) -> dict[str, Subresource]:
    made: dict[str, Subresource] = {}
    if version.has_status:
        strategy = CustomStatusStrategy(version, namespaced=namespaced)
        made["status"] = Subresource("status", group=group, version=version.name, kind=version.kind, strategy=strategy)
    if version.scale:
        view = CustomScale(version.scale, scales)
        made["scale"] = Subresource("scale", group="autoscaling", version="v1", kind="Scale", view=view)
    return made


def _warning(spec: Mapping[str, Any], version: CustomVersion) -> str:
    said = version.version.get("deprecationWarning")
    if said is not None:
        return str(said)
    text = f"{version.api_version} {version.kind} is deprecated"
    mine = version_order(version.name)
    better = [
        str(each["name"])
        for each in spec["versions"]
        if each.get("served") and not each.get("deprecated") and version_order(str(each["name"])) < mine
    ]
    if better:
        text += f"; use {version.group}/{min(better, key=version_order)} {version.kind}"
    return text


def version_order(name: str) -> tuple[int, int, int, int, str]:
    """Sorts versions by priority: v2, v1, v1beta2, v1beta1, v1alpha1, then all other names by the alphabet."""
    rest = name.removeprefix("v")
    digits = ""
    while rest and rest[0].isdigit():
        digits, rest = digits + rest[0], rest[1:]
    if not name.startswith("v") or not digits:
        return (1, 0, 0, 0, name)
    if not rest:
        return (0, 0, -int(digits), 0, "")
    for stage, word in enumerate(("beta", "alpha"), 1):
        minor = rest.removeprefix(word)
        if minor != rest and minor.isdigit():
            return (0, stage, -int(digits), -int(minor), "")
    return (1, 0, 0, 0, name)
