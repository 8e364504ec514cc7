"""What a type checker sees of kinds that are made of pydantic models, and of unions."""

from __future__ import annotations

from typing import Annotated, Literal, assert_type

from annotated_types import MaxLen
from pydantic import BaseModel, Field

from kubewright.model import Condition, Model, Quantity, Resource, decode, resource
from kubewright.schema import AtMostOneOf, Discriminator, ExactlyOneOf


class CacheSpec(BaseModel):
    size: Quantity
    shards: int = Field(1, ge=1)


class CacheStatus(BaseModel):
    ready: int = 0
    conditions: list[Condition] = []


@resource(group="example.com", version="v1", selectable_fields=[".spec.shards"], labels={"a": "b"})
class Cache(Resource[CacheSpec, CacheStatus]):
    """A cache."""


cache = decode(Cache, b"{}")
assert_type(cache.spec, CacheSpec)
assert_type(cache.spec.size, Quantity)
assert_type(cache.status.conditions, list[Condition])


class S3(Model, tag="s3"):
    bucket: Annotated[str, MaxLen(63)]


class Disk(Model, tag="disk"):
    size: Quantity


@ExactlyOneOf("a", "b")
@AtMostOneOf("b", "c")
@Discriminator("kind", A="a", Rest=None)
class BackupSpec(Model):
    to: S3 | Disk
    kind: Literal["A", "Rest"] = "Rest"
    a: int | None = None
    b: int | None = None
    c: int | None = None


@resource(group="example.com", version="v1")
class Backup(Resource[BackupSpec]):
    """A backup."""


def bucket(backup: Backup) -> str:
    to = backup.spec.to
    if isinstance(to, S3):
        assert_type(to, S3)
        return to.bucket
    assert_type(to, Disk)
    return str(to.size)
