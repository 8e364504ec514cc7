"""`Model`: the base of every typed value that goes over the wire.

A Model is a msgspec Struct with the four habits that Kubernetes' JSON asks for:

| habit | why |
|---|---|
| snake_case in Python, camelCase on the wire | each side reads as its own |
| keyword-only, in any order | fields of an API come and go; positions would be a second contract |
| defaults of `None`, `[]`, `{}`, `UNSET` are left out when encoding | Kubernetes' `omitempty`; absent is "not mine" |
| every other default is always sent | what the server would default to may have changed since; an explicit 1 stays 1 |

Where absent and null are different things, declare `x: T | None | UnsetType = UNSET`: `UNSET` is absent, `None` null.
Unknown fields are ignored when decoding, unless the class has a field for them (`UnknownFields`, see `unknown.py`);
`kubewright.model.overlay` keeps them across a read-modify-write either way.

The garbage collector does not track Models: they are trees. Do not build reference cycles through one.

This module refuses to know what a Kubernetes object is: that is `resource.py`.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import (
    Annotated,
    Any,
    ClassVar,
    Protocol,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    runtime_checkable,
)

import msgspec
from msgspec import UNSET, StructMeta, UnsetType, field
from typing_extensions import TypeAliasType

from . import pydantics
from .pydantics import is_pydantic
from .unknown import WIRE_NAME, flattened, keeper_of, says_unknown

__all__ = [
    "Always",
    "Model",
    "ModelMeta",
    "UNSET",
    "UnsetType",
    "WireType",
    "builtins_of",
    "decode_hook",
    "encode_hook",
    "field",
    "model_fields",
    "plain_type",
    "takes_null",
    "unresolved",
]

_FIELD = type(field())
_OMITTED = (list, dict, set, frozenset)


@runtime_checkable
class WireType(Protocol):
    """A scalar with a form of its own on the wire, such as Quantity."""

    @classmethod
    def from_wire(cls, value: Any) -> Any:
        """From the decoded JSON value. Raises ValueError, TypeError: it is not one."""
        ...

    def to_wire(self) -> Any:
        """To a JSON value."""
        ...


def decode_hook(wanted: type, value: Any) -> Any:
    """msgspec's `dec_hook` for every decoder of Models."""
    from_wire = getattr(wanted, "from_wire", None)
    if from_wire is None and is_pydantic(wanted):
        return pydantics.from_wire(wanted, value)
    if from_wire is None:
        raise NotImplementedError(f"{wanted!r} is not a type that a Model can hold")
    return from_wire(value)


def encode_hook(value: Any) -> Any:
    """msgspec's `enc_hook` for every encoder of Models."""
    to_wire = getattr(value, "to_wire", None)
    if to_wire is None and is_pydantic(type(value)):
        return pydantics.to_wire(value)
    if to_wire is None:
        raise NotImplementedError(f"{type(value).__name__} is not a type that a Model can hold")
    return to_wire()


class Always:
    """The factory of a default that is sent also when nobody changed it.

    msgspec leaves out a field that holds its default; what comes from a factory is never taken for one.
    """

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __call__(self) -> object:
        value = self.value
        return copy.deepcopy(value) if isinstance(value, msgspec.Struct) else value


def _annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
    return cast("dict[str, Any]", namespace.get("__annotations__", {}))


def _is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar", "typing.ClassVar", "t.ClassVar"))
    return annotation is ClassVar or get_origin(annotation) is ClassVar


def _always_sent(default: Any, omit_zero: bool) -> Any:
    """The default to give to msgspec in place of `default`."""
    if isinstance(default, _FIELD):
        declared = cast("Any", default)
        if declared.default is msgspec.NODEFAULT:
            return default
        inner = _always_sent(declared.default, omit_zero)
        if not isinstance(inner, _FIELD):
            return default
        return field(default_factory=cast("Any", inner).default_factory, name=declared.name)
    if default is None or default is UNSET or isinstance(default, _OMITTED) or (omit_zero and not default):
        return default
    return field(default_factory=cast("Callable[[], Any]", Always(default)))


def _check_unknown(cls: str, attribute: str, default: Any) -> None:
    if default != {} and getattr(default, "default_factory", None) is not dict:
        rule = "UnknownFields needs an empty default"
        raise TypeError(f"{cls}.{attribute}: {rule}; write {attribute}: UnknownFields = {{}}")


class ModelMeta(StructMeta):
    """Sets a Model's habits. `omit_zero=True` on a class also leaves out `""`, `0` and `False` (Go's zero values)."""

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, omit_zero: bool = False, **config: Any
    ) -> Any:
        inherited = [base.__struct_config__ for base in bases if isinstance(base, StructMeta)]
        config.setdefault("kw_only", True)
        config.setdefault("omit_defaults", True)
        config.setdefault("gc", config.get("dict", False) or any(parent.dict for parent in inherited))
        config.setdefault("rename", "camel")
        for attribute, annotation in _annotations(namespace).items():
            if says_unknown(annotation, namespace.get("__module__", "")):
                _check_unknown(name, attribute, namespace.get(attribute))
                namespace[attribute] = field(default_factory=dict, name=WIRE_NAME)
                continue
            if attribute not in namespace or _is_class_variable(annotation):
                continue
            namespace[attribute] = _always_sent(namespace[attribute], omit_zero)
        return super().__new__(mcls, name, bases, namespace, **config)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Model(msgspec.Struct, metaclass=ModelMeta):
    """Base of typed values: a spec, a status, and everything inside them.

    ```python
    class WebSpec(Model):
        image: str
        replicas: int = 1
    ```

    Declare a wire name that camelCase does not give with `x: str = field(name="clusterIP")`.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """A Model may be a field of a pydantic model."""
        return pydantics.core_schema_of(cls, partial(_read, cls), builtins_of)


def _read(cls: Any, value: Any) -> Any:
    made = msgspec.convert(value, cls, dec_hook=decode_hook)
    if "__keeper__" not in cls.__dict__:
        cls.__keeper__ = keeper_of(cls)
    if cls.__keeper__ is not None:
        cls.__keeper__(made, value)
    return made


def builtins_of(value: Any) -> Any:
    """A value with Models in it as decoded JSON. Raises TypeError, ValueError, NotImplementedError: it has no JSON."""
    return flattened(msgspec.to_builtins(value, str_keys=True, enc_hook=encode_hook))


# -- what is known of a model's fields --------------------------------------------------------------------------------


def model_fields(model: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a Model with their types resolved. Raises TypeError: an annotation names something unknown."""
    try:
        return msgspec.structs.fields(model)
    except NameError as error:
        raise unresolved(model, error) from None


def unresolved(model: Any, error: NameError) -> TypeError:
    """The error of a model whose annotations cannot be evaluated."""
    return TypeError(
        f"{model.__name__}: an annotation of it, or of a model inside it, names {error.name!r}, which is not known at "
        "run time; define or import it at the top of the module, not in a function and not under TYPE_CHECKING"
    )


def plain_type(wanted: Any, *, unions: bool = True) -> tuple[Any, tuple[Any, ...]]:
    """A type without what surrounds it (`Annotated`, aliases, `| None`, `| UnsetType`), and the markers it had.

    A union of several other types is `Any`; with `unions=False` all unions stay as they are.
    """
    markers: tuple[Any, ...] = ()
    while True:
        origin = get_origin(wanted)
        if origin is Annotated:
            wanted, *more = get_args(wanted)
            markers += tuple(more)
        elif unions and origin in (Union, types.UnionType):
            arms = [arm for arm in get_args(wanted) if arm not in (type(None), UnsetType)]
            if len(arms) != 1:
                return Any, markers
            wanted = arms[0]
        elif isinstance(wanted, TypeAliasType):
            wanted = wanted.__value__
        else:
            return wanted, markers


def takes_null(wanted: Any) -> bool:
    """Whether null is a value of the type."""
    plain, _ = plain_type(wanted, unions=False)
    return plain in (Any, object, type(None)) or any(takes_null(arm) for arm in _arms(plain))


def _arms(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else ()
