"""Classes of a kind to its CustomResourceDefinition (apiextensions.k8s.io/v1), as a dictionary.

Several classes are several versions of one kind: they have to agree on its names and scope, and exactly one stores.
What is wrong with any of them is reported together.

`spec` is required when one of its fields is; otherwise it may be left out, and gets `default: {}` where its fields have
defaults to fill in. No annotation says which tool made the file: an upgrade of the tool should not change it.
"""

from __future__ import annotations

import sys
from pathlib import PurePath
from types import ModuleType
from typing import Any, Final

from ..model import Object, Resource, ResourceInfo
from .budget import check_size, cut_descriptions
from .build import Builder
from .columns import columns_of, scale_of, selectable_of
from .docs import Sources
from .errors import Place, Problems
from .names import check_names, metadata_of, version_order
from .ruled import check_rules

__all__ = ["crd_of", "crds_of_module", "kinds_of_module"]

_SHARED: Final = ("kind", "list_kind", "plural", "singular", "namespaced", "short_names", "categories")


def crd_of(*classes: type[Object], max_description: int | None = None) -> dict[str, Any]:
    """The CustomResourceDefinition of one kind; one class per version, newest first in the result.

    Args:
        max_description: the most characters of a description, which is cut at the end of a sentence, else of a word; 0
            for none. Whole descriptions unless given.

    Raises:
        SchemaError: a type has no structural schema, a name or path is wrong, the versions do not agree, or the CRD is
            larger than a server can store; all causes together.
        TypeError: no class is given.

    Warns:
        SchemaWarning: Python checks something that a server does not.
    """
    if not classes:
        raise TypeError("crd_of() needs at least one class with @resource")
    problems = Problems()
    builder = Builder(problems, Sources())
    crd = _crd(classes, builder, problems, max_description)
    problems.raise_if_any()
    return crd


def crds_of_module(module: ModuleType, *, max_description: int | None = None) -> list[dict[str, Any]]:
    """The CRDs of the kinds that a module knows, by name. See `kinds_of_module` and `crd_of`.

    Raises:
        SchemaError: as `crd_of`, for all kinds together; also when the module has no kind.
    """
    problems = Problems()
    builder = Builder(problems, Sources())
    kinds = kinds_of_module(module)
    if not kinds:
        cure = "name the module of a class with @resource, or decorate one"
        problems.add(Place(module.__name__), "has no custom resource", cure)
    crds = [_crd(versions, builder, problems, max_description) for versions in kinds]
    problems.raise_if_any()
    return sorted(crds, key=lambda crd: str(crd["metadata"]["name"]))


def kinds_of_module(module: ModuleType) -> list[tuple[type[Object], ...]]:
    """The custom resources that a module knows; the versions of a kind together.

    These are the subclasses of Resource that it defines or names, and those that the modules know in turn from which it
    takes its names: `operator.py` names a controller, and the controller's module the kind. Only modules beside this
    one count, which are those of its top-level package or, outside of any package, of its folder: the kinds of other
    people's operators that it watches are theirs to install. So are generated models, which are no Resources.
    """
    kinds: dict[tuple[str, str], dict[type[Object], None]] = {}
    found = [module]
    for each in found:
        for value in list(vars(each).values()):
            if isinstance(value, type) and issubclass(value, Resource):
                info: ResourceInfo | None = value.__dict__.get("__resource__")
                if (
                    info is not None
                    and info.group
                    and info.in_crd
                    and _beside(module, sys.modules.get(value.__module__))
                ):
                    kinds.setdefault((info.group, info.kind), {})[value] = None
            home = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
            if home is not None and home not in found and _beside(module, home):
                found.append(home)
    return [tuple(versions) for versions in kinds.values()]


def _beside(module: ModuleType, other: ModuleType | None) -> bool:
    if other is None or other is module:
        return other is module
    if module.__package__:
        return other.__name__.partition(".")[0] == module.__name__.partition(".")[0]
    here, there = getattr(module, "__file__", None), getattr(other, "__file__", None)
    return bool(here and there and not other.__package__ and PurePath(here).parent == PurePath(there).parent)


def _crd(
    classes: tuple[type[Object], ...], builder: Builder, problems: Problems, max_description: int | None
) -> dict[str, Any]:
    found = [(cls, info) for cls in classes if (info := _info(cls, builder, problems)) is not None]
    known = [(cls, info) for cls, info in found if info.in_crd]
    if found and not known:
        problems.add(builder.place_of(found[0][0]), "all versions have in_crd=False", "keep one in the CRD")
    if not known:
        return {"metadata": {"name": ""}}
    known.sort(key=lambda each: version_order(each[1].version), reverse=True)
    _check_together(known, builder, problems)
    info = next((info for _, info in known if info.storage), known[0][1])
    names: dict[str, Any] = {
        "kind": info.kind,
        "listKind": info.list_kind,
        "plural": info.plural,
        "singular": info.singular,
    }
    if info.categories:
        names["categories"] = list(info.categories)
    if info.short_names:
        names["shortNames"] = list(info.short_names)
    metadata: dict[str, Any] = {"name": info.resource_name, **metadata_of(_placed(known, builder), problems)}
    crd: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": info.group,
            "names": names,
            "scope": "Namespaced" if info.namespaced else "Cluster",
            "versions": [_version(cls, info, builder, problems) for cls, info in known],
        },
    }
    if max_description is not None:
        cut_descriptions(crd, max_description)
    check_size(crd, builder.place_of(known[0][0]), problems)
    return crd


def _placed(known: list[tuple[type[Object], ResourceInfo]], builder: Builder) -> list[tuple[Place, ResourceInfo]]:
    return [(builder.place_of(cls), info) for cls, info in known]


def _info(cls: type[Object], builder: Builder, problems: Problems) -> ResourceInfo | None:
    info: ResourceInfo | None = cls.__dict__.get("__resource__")
    if info is None:
        cure = "decorate it with @resource(group=..., version=...)"
        problems.add(builder.place_of(cls), "its kind is not known", cure)
    return info


def _check_together(known: list[tuple[type[Object], ResourceInfo]], builder: Builder, problems: Problems) -> None:
    first, others = known[0], known[1:]
    place = builder.place_of(first[0])
    for cls, info in known:
        check_names(info, builder.place_of(cls), problems)
    for cls, info in others:
        for name in ("group", *_SHARED):
            here, there = getattr(info, name), getattr(first[1], name)
            if here != there:
                rule = f"{name} is {here!r}, and {there!r} in {first[1].version} ({first[0].__name__})"
                problems.add(
                    builder.place_of(cls), rule, "the versions of a kind share names and scope; make them equal"
                )
    versions = [info.version for _, info in known]
    for version in sorted({each for each in versions if versions.count(each) > 1}):
        problems.add(place, f"version {version} is given twice", "give every class a version of its own")
    storing = [info.version for _, info in known if info.storage]
    if len(storing) != 1:
        rule = f"{', '.join(storing)} all store objects" if storing else "no version stores objects"
        problems.add(place, rule, "set storage=False on all versions but one")
    if not any(info.served for _, info in known):
        problems.add(place, "no version is served", "set served=True on one")


def _version(cls: type[Object], info: ResourceInfo, builder: Builder, problems: Problems) -> dict[str, Any]:
    place = builder.place_of(cls)
    schema = builder.root(cls)
    version: dict[str, Any] = {
        "name": info.version,
        "schema": {"openAPIV3Schema": schema},
        "served": info.served,
        "storage": info.storage,
    }
    if columns := columns_of(info, schema, place, problems):
        version["additionalPrinterColumns"] = columns
    if selectable := selectable_of(info, schema, place, problems):
        version["selectableFields"] = selectable
    if info.deprecated:
        version["deprecated"] = True
        if info.deprecation_warning is not None:
            version["deprecationWarning"] = info.deprecation_warning
    subresources: dict[str, Any] = {}
    if info.status:
        subresources["status"] = {}
        if "status" not in schema.get("properties", {}):
            cure = "declare Resource[Spec, Status], or set status=False"
            problems.add(place, "has the status subresource and no status", cure)
        for keyword in ("minProperties", "maxProperties", "x-kubernetes-map-type"):
            if keyword in schema:
                rule = f"{keyword} on a kind with the status subresource, which servers refuse"
                problems.add(place, rule, "put the marker on the spec")
    if info.scale is not None:
        subresources["scale"] = scale_of(info.scale, schema, place, problems)
    if subresources:
        version["subresources"] = subresources
    if problems.is_empty:
        # Of a schema that is wrong otherwise, types are not worth checking.
        check_rules(schema, place, problems)
    return version
