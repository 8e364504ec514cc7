"""CustomResourceDefinition manifests (`apiextensions.k8s.io/v1`) to definitions: one kind for each version.

What Kubernetes' structural schemas forbid is not looked for: the API server has done that.
"""

from __future__ import annotations

from typing import Any, Final, cast

from kubewright.model import Column, ResourceInfo, ScaleInfo

from ..schema.structural.crdshape import shape_of
from .definitions import Definition, Definitions, GenerateError
from .naming import class_name

__all__ = ["add_crd", "is_crd"]

_API_VERSION: Final = "apiextensions.k8s.io/v1"


def is_crd(document: Any) -> bool:
    """Whether a decoded manifest is a CustomResourceDefinition, of whatever version."""
    return isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition"


def add_crd(definitions: Definitions, crd: dict[str, Any]) -> None:
    """Add the kinds of a CRD. Raises GenerateError: not v1, or without what a v1 CRD has to have."""
    metadata = crd.get("metadata")
    name = metadata.get("name", "?") if isinstance(metadata, dict) else "?"
    if crd.get("apiVersion") != _API_VERSION:
        raise GenerateError(
            f"CustomResourceDefinition {name}: apiVersion {crd.get('apiVersion')!r} is not {_API_VERSION!r}; "
            "run `kubewright convert crd` on it, or take a release of it for Kubernetes 1.16 or later"
        )
    try:
        broken = shape_of(crd).broken
        if broken:
            raise GenerateError(f"CustomResourceDefinition {name}: {broken[0]}; run `kubewright validate` on it")
        spec = crd["spec"]
        if not all((spec["group"], spec["names"]["kind"], spec["names"]["plural"])):
            raise GenerateError(f"CustomResourceDefinition {name}: group, kind and plural must not be empty")
        for version in spec["versions"]:
            if not version["name"]:
                raise GenerateError(f"CustomResourceDefinition {name}: the name of a version must not be empty")
            _add_version(definitions, spec, version)
    except (KeyError, TypeError, RecursionError) as error:
        lacks = (
            f"spec lacks {error}" if isinstance(error, KeyError) else "its parts are not of the types they have to be"
        )
        raise GenerateError(f"CustomResourceDefinition {name}: {lacks}; run `kubewright validate` on it") from None


def _add_version(definitions: Definitions, spec: dict[str, Any], version: dict[str, Any]) -> None:
    group, names = spec["group"], spec["names"]
    kind = names["kind"]
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    subresources = version.get("subresources") or {}
    info = ResourceInfo(
        group=group,
        version=version["name"],
        kind=kind,
        plural=names["plural"],
        namespaced=spec.get("scope") != "Cluster",
        singular=names.get("singular") or kind.lower(),
        list_kind=names.get("listKind") or f"{kind}List",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        columns=tuple(_column(column) for column in version.get("additionalPrinterColumns") or ()),
        status="status" in subresources,
        scale=_scale(subresources.get("scale")),
        served=version.get("served", True),
        storage=version.get("storage", True),
        deprecated=version.get("deprecated", False),
        deprecation_warning=version.get("deprecationWarning"),
    )
    home = (group, info.version)
    definitions.add(Definition(f"{group}/{info.version}/{kind}", class_name(kind), home, schema, info, structural=True))


def _column(column: dict[str, Any]) -> Column:
    return Column(
        name=column["name"],
        path=column["jsonPath"],
        type=cast("Any", column["type"]),
        format=column.get("format"),
        description=column.get("description"),
        priority=column.get("priority") or 0,
    )


def _scale(scale: dict[str, Any] | None) -> ScaleInfo | None:
    if scale is None:
        return None
    return ScaleInfo(
        replicas_path=scale["specReplicasPath"],
        status_replicas_path=scale["statusReplicasPath"],
        label_selector_path=scale.get("labelSelectorPath"),
    )
