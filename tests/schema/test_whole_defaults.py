"""Defaults that rules look at: written whole, and refused where they break a rule."""

from __future__ import annotations

from typing import Annotated

import pytest
from annotated_types import Ge

from kubewright import Model, Resource, resource
from kubewright.schema import Rule, SchemaError, crd_of


@Rule("self.min <= self.max", message="min must not be above max")
class Range(Model):
    min: Annotated[int, Ge(0)] = 1
    max: int = 3


@Rule("self.min <= self.max", message="min must not be above max")
class Upside(Model):
    min: int = 5
    max: int = 3


class Spec(Model):
    replicas: Range = Range()


class Wrong(Model):
    replicas: Upside = Upside()


class Status(Model):
    ready: int = 0


@resource(group="example.com", version="v1")
class Web(Resource[Spec, Status]):
    """A web."""


@resource(group="example.com", version="v1")
class Broken(Resource[Wrong, Status]):
    """A broken one."""


def test_a_default_that_a_rule_looks_at_is_written_whole() -> None:
    schema = crd_of(Web)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema["properties"]["replicas"]["default"] == {"min": 1, "max": 3}
    assert schema["default"] == {"replicas": {"min": 1, "max": 3}}


def test_a_default_that_breaks_a_rule_is_refused_when_the_crd_is_made() -> None:
    with pytest.raises(SchemaError, match=r"Broken.spec.replicas.*default: min must not be above max"):
        crd_of(Broken)
