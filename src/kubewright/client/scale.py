"""The scale subresource's object (autoscaling/v1 Scale), which `Client.get_scale` and `update_scale` speak.

Owns three small classes, so that scaling needs no generated models. The numbers are those of the object it belongs to:
where they stand there is said by the kind (`ScaleInfo`).
"""

from __future__ import annotations

from ..model import Model, Object, field, resource

__all__ = ["Scale", "ScaleSpec", "ScaleStatus"]


class ScaleSpec(Model):
    """`replicas` is how many are wanted."""

    replicas: int = 0


class ScaleStatus(Model):
    """`replicas` is how many were seen; `selector` is the label selector of their Pods, as text."""

    replicas: int = 0
    selector: str = ""


@resource(group="autoscaling", version="v1")
class Scale(Object, dict=True):
    """How many replicas an object has and wants. `metadata` names the object it belongs to, with its version."""

    spec: ScaleSpec = field(default_factory=ScaleSpec)
    status: ScaleStatus | None = None
