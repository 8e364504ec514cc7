"""All built-in kinds as the registry serves them: `builtin_catalog`.

Puts together what discovery said (`resources.json`), the Go types, the rules of the kinds and their subresources, in
the order of the real server's discovery. Nothing is read for a kind before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from kubewright.schema.structural.fielderrors import invalid
from kubewright.schema.structural.gotext import plain

from ..catalog import Catalog, ResourceType, Storage, Subresource
from ..errors import invalid_of
from ..patching import strategic_merge_patch
from ..strategy import Malformed, Strategy
from .conversion import CONVERTERS
from .datafile import Data
from .gotypes import GoTypes
from .restoring import restore
from .scale import Scaled, ScaleView
from .strategies import KindStrategy, PartStrategy, StatusStrategyOf

if TYPE_CHECKING:
    from .defaults import Defaulter

__all__ = ["BuiltIn", "builtin_catalog"]

_SCALE: Final = "io.k8s.api.autoscaling.v1.Scale"
"""The component of a kind that no collection is of, so that the document of its group version has it not."""
_STORED_AS: Final = {
    ("events.k8s.io/v1", "Event"): Storage("", "events", "v1"),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): Storage("autoscaling", "horizontalpodautoscalers", "autoscaling/v2"),
}
"""Kinds that are kept as another one."""


_DEPRECATED: Final = {
    ("v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ("v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
}
"""What whoever uses an old kind is told."""


_PARTS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("Namespace", "finalize"): ("spec", "finalizers"),
    ("Pod", "ephemeralcontainers"): ("spec", "ephemeralContainers"),
    ("Pod", "resize"): ("spec", "containers"),
    ("CertificateSigningRequest", "approval"): ("status", "conditions"),
}
"""The subresources that change one part of the object: its path."""

_SCALED: Final[Mapping[str, Scaled]] = {
    "Deployment": Scaled("apps", "Deployment"),
    "ReplicaSet": Scaled("apps", "ReplicaSet"),
    "StatefulSet": Scaled("apps", "StatefulSet"),
    "ReplicationController": Scaled("", "ReplicationController", is_plain=True),
}


class BuiltIn:
    """The facts of the built-in kinds, and what is made of them. One for a server; read as it is used."""

    def __init__(self, data: Data | None = None) -> None:
        self.data = data or Data()
        self.types = GoTypes(self.data)
        self._components: dict[tuple[str, str], str] = {("autoscaling/v1", "Scale"): _SCALE}
        self._defaults: Defaulter | None = None

    def catalog(self) -> Catalog:
        """All resource types, in the order of discovery."""
        return Catalog(self._all())

    def strategy(self, api_version: str, kind: str) -> KindStrategy:
        """The rules of a kind that no path is of: the body of a subresource."""
        return KindStrategy(self.types, self._defaulter, api_version, kind)

    def components(self, api_version: str) -> dict[str, Any]:
        """The OpenAPI v3 components of a group version, by name, with descriptions. Raises KeyError."""
        return {name: self.data.schema(name) for name in self.data.components(api_version)}

    def component_of(self, api_version: str, kind: str) -> str | None:
        """The name of the OpenAPI component of a kind; None where there is none."""
        found = self._components.get((api_version, kind))
        if found is None:
            suffix = f".{kind}"
            for name in self.data.components(api_version) if self._has(api_version) else ():
                if name.endswith(suffix) and "x-kubernetes-group-version-kind" in self.data.schema(name):
                    found = self._components[api_version, kind] = name
        return found

    def _defaulter(self) -> Defaulter:
        if self._defaults is None:
            from .defaults import Defaulter  # with the defaults of all kinds, which a start does not need

            self._defaults = Defaulter()
        return self._defaults

    def _has(self, api_version: str) -> bool:
        return self.data.has(f"openapi/{api_version.replace('/', '_')}.json")

    def _all(self) -> Iterator[ResourceType]:
        for group in self.data.resources:
            for version in group["versions"]:
                for resource in version["resources"]:
                    yield self._type(group["group"], version["version"], resource)

    def _type(self, group: str, version: str, facts: Mapping[str, Any]) -> ResourceType:
        api_version = f"{group}/{version}" if group else version
        kind: str = facts["kind"]
        columns = facts.get("columns", ())
        main = KindStrategy(self.types, self._defaulter, api_version, kind, columns)

        def patched(original: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
            made = strategic_merge_patch(original, patch, main.type)
            try:
                restore(made, main.type)
            except Malformed as error:
                raise invalid_of("", "", "", "", [invalid("patch", plain(patch), str(error))]) from None
            return {**made, "kind": kind, "apiVersion": api_version}

        converter = CONVERTERS.get((group, facts["plural"]))
        return ResourceType(
            group=group,
            version=version,
            kind=kind,
            plural=facts["plural"],
            namespaced=facts["namespaced"],
            singular=facts.get("singular", ""),
            short_names=tuple(facts.get("short_names", ())),
            categories=tuple(facts.get("categories", ())),
            verbs=tuple(facts["verbs"]),
            strategy=main,
            storage=_STORED_AS.get((api_version, kind), Storage(group, facts["plural"], api_version)),
            converter=converter(self.types) if converter is not None else None,
            subresources={
                each["name"]: _subresource(main, api_version, kind, each) for each in facts.get("subresources", ())
            },
            strategic_patch=patched,
            warning=_DEPRECATED.get((api_version, kind), ""),
        )


def _subresource(main: KindStrategy, api_version: str, kind: str, facts: Mapping[str, Any]) -> Subresource:
    name: str = facts["name"]
    strategy: Strategy | None = None
    view = None
    if name == "status":
        strategy = StatusStrategyOf(main)
    elif (path := _PARTS.get((kind, name))) is not None:
        strategy = PartStrategy(main, name, path)
    elif name == "scale":
        view = ScaleView(_SCALED[kind])
    return Subresource(
        name=name,
        verbs=tuple(facts["verbs"]),
        group=facts.get("group", ""),
        version=facts.get("version", ""),
        kind=facts["kind"],
        strategy=strategy,
        view=view,
    )


def builtin_catalog() -> Catalog:
    """All built-in resource types, in the order of the real server's discovery."""
    return BuiltIn().catalog()
