r"""Python types to structural schemas (apiextensions.k8s.io/v1 JSONSchemaProps), as dictionaries.

| Python | schema |
|---|---|
| field without a default | required |
| `x: T = value` | optional, `default: value`, rendered by `defaults` |
| `x: T | None = None` | optional; absent, never null |
| `Annotated[T | None, Nullable()]`, `T | None | UnsetType` | `nullable: true`: null is a value of its own |
| `list[T | None]`, `dict[str, T | None]` | nullable items |
| a Model in a Model | inlined; a recursion is refused |
| a built-in kind as a field | its fields; apiVersion and kind optional; labels of its metadata are kept |
| a pydantic model | as a Model, see `pydantics` |
| `A \| B` of Models with a tag | one object, see `unions` |

The walk knows types and nothing of single markers (`constraints`), scalars (`known`) or default values (`defaults`). It
does not stop at an error: what is wrong is reported, the position becomes `broken`, and the walk goes on.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec import StructMeta
from msgspec.structs import FieldInfo

from ..model import Condition, Object, ObjectMeta, Resource, Unstructured
from ..model.unknown import is_unknown
from .defaults import NOTHING, DefaultError, default_of, fill, minimal, on_the_wire, violations
from .docs import Sources, description_of
from .errors import Place, Problems
from .facts import class_facts, field_facts
from .foreign import Base64
from .keys import constrain_keys
from .known import KIND_DOC, VERSION_DOC, int_or_string, known_node
from .markers import Default, Example, Immutable, ListAtomic, ListMap, ListSet, Nullable, Schemaless, class_markers
from .node import Node, Schema, cel_name
from .pydantics import class_markers_of, fields_of, is_pydantic, literal_tag, pydantic_node, root_type
from .spelling import Spelled, name_of, spell_out

__all__ = ["Builder", "schema_of"]

_REFUSED: Final[dict[Any, str]] = {
    "set": "declare list[T] and mark it ListSet()",
    "frozenset": "declare list[T] and mark it ListSet()",
    "tuple": "declare list[T], or a Model with a field for each part",
    "timedelta": "declare a Duration",
    "Decimal": "declare a Quantity, or a str with a Pattern",
    "time": "declare a str with a Pattern",
    "complex": "declare a Model",
    "NoneType": "take it away",
    "object": "declare Any",
    "SecretStr": "refer to a Secret by its name: who can read an object reads all of it",
    "Unstructured": "declare Annotated[dict[str, Any], EmbeddedResource()]",
}


def schema_of(wanted: Any) -> Schema:
    """The structural schema of a type: of a Model, a list, an `Annotated[int, Ge(1)]`, ...

    Raises:
        SchemaError: the type has no structural schema; all causes together.
    """
    problems = Problems()
    builder = Builder(problems)
    node = builder.node(wanted, Place(name_of(wanted)), "")
    problems.raise_if_any()
    return node.schema


class Builder:
    """One walk over classes. `problems` gets what is wrong; the schema is worth something only if there is nothing."""

    def __init__(self, problems: Problems, sources: Sources | None = None) -> None:
        self._problems = problems
        self._sources = sources or Sources()
        self._open: list[Any] = []

    def place_of(self, cls: type[Any]) -> Place:
        """The place of a class itself."""
        return Place(name_of(cls), "", self._sources.line(cls))

    def root(self, cls: type[Object]) -> Schema:
        """The schema of a kind: apiVersion, kind, metadata, and the fields of the class."""
        node = self._object(cls, self.place_of(cls), "", root=True)
        return node.schema

    # -- any type -----------------------------------------------------------------------------------------------------

    def node(self, wanted: Any, place: Place, uncorrelated: str) -> Node:
        """The node of a type with its markers, where None means null."""
        spelled = spell_out(wanted)
        node = self._bare(spelled, place, uncorrelated)
        if spelled.none:
            node.allow_null()
        self._mark(node, spelled, place)
        return node

    def _bare(self, spelled: Spelled, place: Place, uncorrelated: str) -> Node:
        if any(isinstance(marker, Schemaless) for marker in spelled.markers):
            return self._schemaless(spelled)
        node = self._core(spelled, place, uncorrelated)
        node.uncorrelated = uncorrelated
        return node

    def _mark(self, node: Node, spelled: Spelled, place: Place) -> None:
        self._constrain(node, spelled.markers, place)
        for marker in spelled.markers:
            if isinstance(marker, Nullable):
                node.allow_null()
            elif isinstance(marker, Example):
                self._say(node, "example", marker.value, place)
            elif isinstance(text := getattr(marker, "documentation", None), str):
                node.schema["description"] = description_of(text)

    def _constrain(self, node: Node, markers: Sequence[Any], place: Place) -> None:
        if markers:
            from .constraints import constrain  # a start of an operator whose types have no markers does without

            constrain(node, markers, place, self._problems)

    def _say(self, node: Node, keyword: str, value: Any, place: Place) -> None:
        try:
            node.schema[keyword] = on_the_wire(value)
        except DefaultError as error:
            self._problems.add(place, error.rule.replace("default", keyword), error.cure)

    def _core(self, spelled: Spelled, place: Place, uncorrelated: str) -> Node:
        core = spelled.core
        if spelled.arms:
            return self._union(spelled.arms, place, uncorrelated)
        known = self._pydantic(spelled, place) if self._open and is_pydantic(self._open[-1]) else None
        known = known or known_node(core)
        if known is not None:
            return known
        origin = get_origin(core) or core
        if origin is list:
            return self._list(spelled, place, uncorrelated)
        if origin is dict:
            return self._dict(core, place, uncorrelated)
        if origin is Literal:
            return self._choice(get_args(core), place)
        if isinstance(core, type) and issubclass(core, enum.Enum):
            return self._enum(core, place)
        if isinstance(origin, StructMeta) and not issubclass(cast("type", origin), Unstructured):
            if cast("Any", origin).__struct_config__.tag is not None:
                return self._tagged((core,), place, uncorrelated)
            return self._object(core, place, uncorrelated)
        if is_pydantic(core):
            root = root_type(core)
            return self._object(core, place, uncorrelated) if root is None else self.node(root, place, uncorrelated)
        return self._refuse(core, place)

    def _pydantic(self, spelled: Spelled, place: Place) -> Node | None:
        """A type that means something else in a pydantic model than it does in ours."""
        core = spelled.core
        if core is bytes and not any(isinstance(marker, Base64) for marker in spelled.markers):
            rule = "bytes are text in pydantic's JSON, not base64"
            self._problems.add(place, rule, "declare pydantic.Base64Bytes, or str")
            return Node("broken", {})
        found = pydantic_node(core)
        if found is None:
            return None
        node, unchecked = found
        if unchecked is not None:
            self._problems.warn(place, f"has {unchecked}, which no server runs", "check it when reconciling")
        return node

    def _refuse(self, core: Any, place: Place) -> Node:
        name = name_of(core)
        if isinstance(core, TypeVar):
            cure = f"say what {name} is, as in Box[int]"
        elif isinstance(core, str) or type(core).__name__ == "ForwardRef":
            cure = "define the class at the top level of its module"
        else:
            cure = _REFUSED.get(name.partition("[")[0]) or "declare a Model, a scalar, or Any"
        self._problems.add(place, f"{name} has no schema", cure)
        return Node("broken", {})

    def _union(self, arms: tuple[Any, ...], place: Place, uncorrelated: str) -> Node:
        if set(arms) == {int, str}:
            return int_or_string()
        if set(arms) == {int, float}:
            return Node("number", {"type": "number"})
        if literal_tag(arms) or any(_tag(arm) is not None for arm in arms):
            return self._tagged(arms, place, uncorrelated)
        shown = " | ".join(map(name_of, arms))
        tag = "kind: Literal['a']" if any(map(is_pydantic, arms)) else "class A(Model, tag='a')"
        cure = f"give each class a tag ({tag}), declare a Model with one optional field each, or Any"
        self._problems.add(place, f"{shown} has no structural schema: a field has one type", cure)
        return Node("broken", {})

    def _tagged(self, arms: tuple[Any, ...], place: Place, uncorrelated: str) -> Node:
        """A union of classes that a field tells apart."""
        literal = literal_tag(arms)
        known = [(_tag(arm), arm) for arm in arms]
        fields = {literal} if literal else {tag[0] if tag else None for tag, _ in known}
        if len(fields) > 1 or not all(literal or (tag and isinstance(tag[1], str)) for tag, _ in known):
            shown = " | ".join(map(name_of, arms))
            cure = "give every class of the union a text as tag=, and all the same tag_field="
            self._problems.add(place, f"{shown} are not told apart by one field", cure)
            return Node("broken", {})
        made: list[tuple[str, Node]] = []
        for tag, arm in known:
            node = self._object(arm, place, uncorrelated)
            if node.kind == "broken":
                return node
            value = str(tag[1]) if tag else node.schema["properties"].pop(literal)["enum"][0]
            node.schema["required"] = [name for name in node.schema.get("required", ()) if name != literal]
            made.append((value, node))
        from .unions import merge_arms

        return merge_arms(str(fields.pop()), made, place, self._problems)

    def _schemaless(self, spelled: Spelled) -> Node:
        origin = get_origin(spelled.core) or spelled.core
        schema: Schema = {"x-kubernetes-preserve-unknown-fields": True}
        if origin is dict or isinstance(origin, StructMeta):
            return Node("object", {"type": "object", **schema})
        if origin is list:
            return Node("list", {"type": "array", "items": schema}, item=Node("any", schema))
        return Node("any", schema)

    # -- containers and choices ---------------------------------------------------------------------------------------

    def _list(self, spelled: Spelled, place: Place, uncorrelated: str) -> Node:
        (wanted,) = get_args(spelled.core) or (Any,)
        if spell_out(wanted).core is Condition and not any(
            isinstance(marker, ListMap | ListSet | ListAtomic) for marker in spelled.markers
        ):
            # What every Kubernetes API does with conditions: each type belongs to whoever reports it.
            spelled.markers.append(ListMap("type"))
        keyed = any(isinstance(marker, ListMap) for marker in spelled.markers)
        below = uncorrelated or ("" if keyed else f"{place.owner}.{place.field}".rstrip("."))
        item = self.node(wanted, place.below("[]"), below)
        return Node("list", {"type": "array", "items": item.schema}, item=item)

    def _dict(self, core: Any, place: Place, uncorrelated: str) -> Node:
        key, value = get_args(core) or (str, Any)
        if spell_out(value).core is Any:
            node = Node("dict", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
        else:
            item = self.node(value, place.below("{}"), uncorrelated)
            node = Node("dict", {"type": "object", "additionalProperties": item.schema}, item=item)
        at_key = place.below("{key}")
        constrain_keys(node, self.node(key, at_key, ""), name_of(key), at_key, self._problems)
        return node

    def _enum(self, core: type[enum.Enum], place: Place) -> Node:
        if issubclass(core, enum.Flag):
            self._problems.add(place, f"{core.__name__} is a Flag", "declare list[Literal[...]] marked ListSet()")
            return Node("broken", {})
        node = self._choice(tuple(member.value for member in core), place)
        if (text := description_of(core.__dict__.get("__doc__"))) is not None:
            node.schema["description"] = text
        return node

    def _choice(self, values: Sequence[Any], place: Place) -> Node:
        kinds = {type(value) for value in values}
        if kinds == {str}:
            return Node("choice", {"enum": list(values), "type": "string"})
        if kinds == {int}:
            return Node("choice", {"enum": list(values), "format": "int64", "type": "integer"})
        self._problems.add(
            place, f"the choice {values!r} is not of one type", "use only str values, or only int values"
        )
        return Node("broken", {})

    # -- objects ------------------------------------------------------------------------------------------------------

    def _object(self, core: Any, place: Place, uncorrelated: str, root: bool = False) -> Node:
        cls = cast("type[Any]", get_origin(core) or core)
        if core in self._open:
            way = " -> ".join(name_of(each) for each in [*self._open[self._open.index(core) :], core])
            cure = "cut it with Annotated[..., Schemaless()], refer to others by name, or flatten it into a list"
            self._problems.add(place, f"the type contains itself ({way}), which a structural schema cannot say", cure)
            return Node("broken", {})
        theirs = is_pydantic(cls)
        if not theirs and cast("Any", cls).__struct_config__.array_like:
            rule = f"{cls.__name__} is array_like, which has no structural schema"
            self._problems.add(place, rule, "declare a plain Model")
            return Node("broken", {})
        try:
            fields = fields_of(core) if theirs else msgspec.structs.fields(core)
        except NameError as error:
            cure = "define the types at the top level of a module, or import them there and not for type checking only"
            self._problems.add(self.place_of(cls), f"its annotations cannot be read ({error})", cure)
            return Node("broken", {})
        self._open.append(core)
        try:
            node = self._fields(cls, core, fields, uncorrelated, root)
        finally:
            self._open.pop()
        node.uncorrelated = uncorrelated
        said = class_markers_of(cls) if theirs else ()
        self._constrain(node, [*class_facts(cls), *said, *class_markers(cls)], self.place_of(cls))
        return node

    def _fields(self, cls: type[Any], core: Any, fields: Sequence[FieldInfo], uncorrelated: str, root: bool) -> Node:
        names = {field.name: field.encode_name for field in fields if not is_unknown(field.type)}
        node = Node("object", {"type": "object"}, names=names)
        if (text := description_of(cls.__dict__.get("__doc__"))) is not None:
            node.schema["description"] = text
        properties: dict[str, Schema] = {}
        required: list[str] = []
        if root or issubclass(cls, Object):
            properties["apiVersion"] = {"type": "string"} | ({"description": VERSION_DOC} if root else {})
            properties["kind"] = {"type": "string"} | ({"description": KIND_DOC} if root else {})
        for field in fields:
            if field.type is type(None):
                continue  # the status of a Resource that has none
            if is_unknown(field.type):
                node.schema["x-kubernetes-preserve-unknown-fields"] = True
                continue
            if root and field.type is ObjectMeta:
                properties[field.encode_name] = {"type": "object"}
                continue
            doc, line = self._sources.field(cls, field.name)
            place = Place(name_of(core), field.name, line)
            properties[field.encode_name], is_required = self._field(node, cls, field, place, doc, uncorrelated)
            if is_required:
                required.append(field.encode_name)
        if properties:
            node.schema["properties"] = properties
        if required:
            node.schema["required"] = sorted(required)
        return node

    def _field(
        self, parent: Node, cls: type[Any], field: FieldInfo, place: Place, doc: str | None, uncorrelated: str
    ) -> tuple[Schema, bool]:
        """The schema of a field, and whether it is required."""
        spelled = spell_out(field.type)
        spelled.markers[:0] = field_facts(cls, field.encode_name)
        node = self._bare(spelled, place, uncorrelated)
        if (text := description_of(doc)) is not None:
            node.schema["description"] = text
        self._mark(node, spelled, place)
        if spelled.unset and (spelled.none or spelled.core is Any):
            node.allow_null()
        parts = ("spec", "status") if issubclass(cls, Resource) else ("status",) if issubclass(cls, Object) else ()
        if field.name in parts:
            required = self._part(node, field.name)
        else:
            required = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
            if required and spelled.none and "nullable" not in node.schema:
                cure = "add `= None` (it may be absent), or mark it Nullable() (it may be null)"
                self._problems.add(place, "is required and may be None, which is neither absent nor null", cure)
            self._default(node, cls, field, place)
        stated = [marker for marker in spelled.markers if isinstance(marker, Default)]
        if stated:
            required = False
            self._check_default(node, place, stated[-1].value)
        immutable = any(isinstance(marker, Immutable) for marker in spelled.markers)
        if immutable and not required and "default" not in node.schema and not uncorrelated:
            name = cel_name(field.encode_name)
            parent.rule(
                f"!has(oldSelf.{name}) || has(self.{name})",
                message=f"{field.encode_name} is immutable and cannot be removed once it is set",
            )
        return node.schema, required

    def _part(self, node: Node, name: str) -> bool:
        """`spec` and `status` of a Resource: made by the class, so their default is what they are made with."""
        if name == "status":
            return False
        if node.schema.get("required"):
            return True
        if fill(node.schema, {}):
            node.schema["default"] = {}
        return False

    def _default(self, node: Node, cls: type[Any], field: FieldInfo, place: Place) -> None:
        try:
            value = default_of(cls, field)
        except DefaultError as error:
            self._problems.add(place, error.rule, error.cure)
            return
        if value is NOTHING or node.kind == "broken":
            return
        value = minimal(node.schema, value)
        if node.kind == "object" and value == {} and not fill(node.schema, {}):
            return
        self._set_default(node, place, value)

    def _check_default(self, node: Node, place: Place, value: Any) -> None:
        try:
            self._set_default(node, place, on_the_wire(value))
        except DefaultError as error:
            self._problems.add(place, error.rule, error.cure)

    def _set_default(self, node: Node, place: Place, value: Any) -> None:
        node.schema["default"] = value
        if node.kind == "broken":
            return
        for broken in violations(node.schema, value):
            self._problems.add(place, f"default: {broken}", "change the default, or what the type allows")


def _tag(arm: Any) -> tuple[str, Any] | None:
    """Name and value of the tag of a class, or None."""
    config = getattr(get_origin(arm) or arm, "__struct_config__", None)
    return None if config is None or config.tag is None else (config.tag_field, config.tag)
