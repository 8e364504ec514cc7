"""What a type checker sees of types with markers: the bare types."""

from __future__ import annotations

from typing import Annotated, Any, assert_type

from annotated_types import Ge, Le, MaxLen

from kubewright.model import Model, Resource, resource
from kubewright.schema import (
    Default,
    Immutable,
    ListMap,
    MapAtomic,
    Pattern,
    Rule,
    SchemaCause,
    Title,
    crd_of,
    manifests,
    schema_of,
    to_yaml,
)


@MapAtomic()
class Port(Model):
    name: Annotated[str, Pattern("^[a-z]+$"), MaxLen(15)]
    port: Annotated[int, Ge(1), Le(65535)] = 80


@Title("A web")
@Rule("self.ports.size() > 0", message="needs a port", reason="FieldValueRequired", field_path=".ports")
class WebSpec(Model):
    image: Annotated[str, Immutable()]
    ports: Annotated[list[Port], ListMap("name")] = []
    tier: Annotated[str | None, Default("silver")] = None


@Rule("self.metadata.name.size() < 20")
@resource(group="example.com", version="v1")
class Web(Resource[WebSpec]):
    """A web application."""


web = Web(spec=WebSpec(image="nginx", ports=[Port(name="http")]))
assert_type(web, Web)
assert_type(web.spec.image, str)
assert_type(web.spec.ports, list[Port])
assert_type(web.spec.tier, str | None)
assert_type(web.spec.ports[0].port, int)
assert_type(crd_of(Web), dict[str, Any])
assert_type(schema_of(Annotated[int, Ge(1)]), dict[str, Any])
assert_type(to_yaml(crd_of(Web)), str)


def names(cause: SchemaCause, files: list[manifests.Manifest]) -> list[str]:
    return [cause.owner, cause.field, *(file.name for file in files)]


Rule("self", reason="Bad")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ListMap(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@Pattern("a")  # pyright: ignore
class NotForClasses(Model):  # type: ignore[operator]
    a: int
