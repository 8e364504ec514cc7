"""`Object` and `Resource`: a Model with a kind, and what is known of that kind.

`Object` is anything with `metadata`; the generated built-in kinds are Objects. `Resource[Spec, Status]` is what a user
declares. `apiVersion` and `kind` are facts about the class, not fields of the object: an object of a class cannot carry
another kind, items of a list need no filling in, and encoding prepends one constant.

`ResourceInfo` is what the client needs (group, version, plural, scope, subresources). `Version` options such as printer
columns are carried here as plain data and turned into a CRD by `kubewright.schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, cast

import msgspec
from typing_extensions import TypeVar

from .base import UNSET, Model, field, model_fields
from .gvk import GroupVersionKind, GroupVersionResource, Key, join_api_version
from .meta import ObjectMeta
from .pydantics import PydanticModel, complaints, is_pydantic

__all__ = ["Column", "Object", "Resource", "ResourceInfo", "ScaleInfo", "pluralize", "resource"]


class Column(msgspec.Struct, frozen=True):
    """One column of `kubectl get`: `Column("Ready", ".status.ready")`.

    `type` is taken from the field that the path names when it is not given. Columns with `priority` > 0 are shown with
    `-o wide` only.
    """

    name: str
    path: str
    type: Literal["string", "integer", "number", "boolean", "date"] | None = None
    format: str | None = None
    description: str | None = None
    priority: int = 0


class ScaleInfo(msgspec.Struct, frozen=True):
    """Where the scale subresource finds its numbers, as JSON paths below the object."""

    replicas_path: str = ".spec.replicas"
    status_replicas_path: str = ".status.replicas"
    label_selector_path: str | None = None


class ResourceInfo(msgspec.Struct, frozen=True, dict=True):
    """What is known of a kind. `plural` is empty when only the server knows it (see the client's discovery)."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    status: bool = True
    scale: ScaleInfo | None = None
    served: bool = True
    storage: bool = True
    deprecated: bool = False
    deprecation_warning: str | None = None
    selectable_fields: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    in_crd: bool = True

    @property
    def api_version(self) -> str:
        return join_api_version(self.group, self.version)

    @cached_property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def gvr(self) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, self.plural)

    @property
    def resource_name(self) -> str:
        """`deployments.apps`, `pods`: how messages and CRD names spell it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


class Object(Model, dict=True):
    """Anything that Kubernetes stores: `metadata`, a kind, and the fields of the subclass.

    Class attributes: `api_version`, `kind`, and `__resource__`, the `ResourceInfo`. A class without `@resource` has
    none of them and cannot be sent.
    """

    api_version: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    __resource__: ClassVar[ResourceInfo]
    __constants__: ClassVar = frozenset({"apiVersion", "kind"})
    """What stands in the JSON and is no field."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)

    if not TYPE_CHECKING:

        def __copy__(self) -> Any:
            made = super().__copy__()
            made.__dict__.update(self.__dict__)
            return made

        def __reduce__(self) -> Any:
            # Copies remember what the object was read from, or an update of one would lose fields.
            return (*super().__reduce__(), dict(self.__dict__))

        def __setattr__(self, name: str, value: Any) -> None:
            # An Object has room for notes of ours (the bytes it was read from), so that a mistyped field would be
            # taken without a word.
            fields = type(self).__struct_fields__
            if name not in fields:
                raise AttributeError(_no_such_field(type(self), name, fields))
            super().__setattr__(name, value)


def _no_such_field(cls: type, name: str, fields: Sequence[str]) -> str:
    import difflib  # only where something is wrong

    near = difflib.get_close_matches(name, fields, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(fields)}"
    return f"{cls.__name__} has no field {name!r}{hint}"


SpecT = TypeVar("SpecT", bound="Model | PydanticModel")
StatusT = TypeVar("StatusT", bound="Model | PydanticModel | None", default=None)


class Resource(Object, Generic[SpecT, StatusT], dict=True):
    """A custom resource: `class Web(Resource[WebSpec, WebStatus])`.

    `spec` is given to the constructor. `status` starts as `WebStatus()`: every field of a status Model needs a default.
    A resource without a status is `Resource[WebSpec]`. Both may be pydantic models.
    """

    if TYPE_CHECKING:
        spec: SpecT
        status: StatusT = cast("StatusT", None)
    else:
        spec: SpecT = UNSET
        status: StatusT = UNSET

    def __post_init__(self) -> None:
        if cast("Any", self.status) is UNSET:
            super().__setattr__("status", _empty(type(self), "status"))
        if cast("Any", self.spec) is UNSET:
            super().__setattr__("spec", _empty(type(self), "spec"))


def _empty(cls: type[Object], name: str) -> Any:
    declared = _part_types(cls)[name]
    if not isinstance(declared, type) or not (issubclass(declared, Model) or is_pydantic(declared)):
        return None
    try:
        return declared()
    except (TypeError, ValueError) as error:
        reason = complaints(error)
        rule = f"{cls.__name__}.{name}: missing, and {declared.__name__}() cannot be made without arguments ({reason})"
        if name == "status":
            raise TypeError(f"{rule}; give every field of a status a default") from None
        raise TypeError(f"{rule}; pass {name}=") from None


def _part_types(cls: type[Object]) -> dict[str, Any]:
    known = cls.__dict__.get("__part_types__")
    if known is None:
        known = {f.name: f.type for f in model_fields(cls) if f.name in ("spec", "status")}
        cls.__part_types__ = known  # type: ignore[attr-defined]
    return cast("dict[str, Any]", known)


def pluralize(kind: str) -> str:
    """The plural that the API tools of Go derive from a kind, lower case: `Policy` -> `policies`."""
    word = kind.lower()
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in ("", "a", "e", "i", "o", "u"):
        return word[:-1] + "ies"
    return word + "s"


ClassT = TypeVar("ClassT", bound=type[Object])


def resource(
    *,
    group: str,
    version: str,
    kind: str | None = None,
    plural: str | None = None,
    singular: str | None = None,
    namespaced: bool = True,
    short_names: Sequence[str] = (),
    categories: Sequence[str] = (),
    columns: Sequence[Column] = (),
    status: bool | None = None,
    scale: ScaleInfo | None = None,
    served: bool = True,
    storage: bool = True,
    deprecated: bool = False,
    deprecation_warning: str | None = None,
    selectable_fields: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    in_crd: bool = True,
) -> Callable[[ClassT], ClassT]:
    """Say which kind a class is.

    Args:
        group: the API group; `""` is the core group, which only built-in kinds have.
        version: such as `v1`, `v1beta1`.
        kind: the class's name unless given.
        plural: derived from the kind unless given; the name in URLs.
        namespaced: False for a cluster-scoped kind.
        short_names: what kubectl takes in the place of the plural; others than the plural and the singular, which it
            takes anyway (a server refuses them, "already in use", when the CRD is changed).
        categories: names of groups of kinds, such as `all` in `kubectl get all`.
        columns: of `kubectl get`.
        status: whether the kind has the status subresource. Unless given: True when the class has a status type.
        scale: where the scale subresource finds its numbers.
        served: whether a server serves this version.
        storage: whether objects are stored in this version; True for exactly one version of a kind.
        deprecated: whether a server warns who uses this version, with `deprecation_warning` if given.
        selectable_fields: JSON paths of fields that field selectors may name, at most eight: `[".spec.color"]`.
        labels: of the CRD. Those of several versions are put together, and so are annotations.
        annotations: of the CRD.
        in_crd: False leaves the version out of the CRD: it is known to the operator and not (or no longer) to servers.

    Raises:
        TypeError: short names, categories or selectable fields are one text; the status cannot be made without
            arguments.
        ValueError: a short name is the plural or the singular.
    """
    texts = (("short_names", short_names), ("categories", categories), ("selectable_fields", selectable_fields))
    for option, given in texts:
        if isinstance(given, str):
            raise TypeError(f"resource({option}={given!r}): must be a list; write {option}=[{given!r}]")

    def describe(cls: ClassT) -> ClassT:
        name = kind or cls.__name__
        for short in short_names:
            if short in (plural or pluralize(name), singular or name.lower()):
                rule = "is the plural or the singular of the kind already"
                raise ValueError(
                    f"{cls.__name__}: short_names: {short!r} {rule}; choose a shorter one, or leave it out"
                )
        if issubclass(cls, Resource):
            _empty(cls, "status")
        has_status = _part_types(cls).get("status") not in (None, type(None)) if status is None else status
        describe_as(
            cls,
            ResourceInfo(
                group=group,
                version=version,
                kind=name,
                plural=plural or pluralize(name),
                namespaced=namespaced,
                singular=singular or name.lower(),
                list_kind=f"{name}List",
                short_names=tuple(short_names),
                categories=tuple(categories),
                columns=tuple(columns),
                status=has_status,
                scale=scale,
                served=served,
                storage=storage,
                deprecated=deprecated,
                deprecation_warning=deprecation_warning,
                selectable_fields=tuple(selectable_fields),
                labels=tuple((labels or {}).items()),
                annotations=tuple((annotations or {}).items()),
                in_crd=in_crd,
            ),
        )
        return cls

    return describe


def describe_as(cls: type[Object], info: ResourceInfo) -> None:
    """Give `cls` its kind. What `resource` does, for classes that are made and not written."""
    cls.__resource__ = info
    cls.api_version = info.api_version
    cls.kind = info.kind
    if "__parts__" in cls.__dict__:
        delattr(cls, "__parts__")  # how `codec` begins an object of it


def info_of(cls: type[Object]) -> ResourceInfo:
    """The kind of a class. Raises TypeError when it was not said."""
    info = getattr(cls, "__resource__", None)
    if info is None:
        raise TypeError(
            f"{cls.__name__}: its kind is not known; decorate the class with @resource(group=..., version=...)"
        )
    return cast("ResourceInfo", info)


def key_of(obj: Object) -> Key:
    """Namespace and name of an object."""
    return Key(obj.metadata.namespace, obj.metadata.name)
