"""What type checkers know of the built-in kinds. Checked, not run."""

from __future__ import annotations

from datetime import datetime
from typing import assert_type

from kubewright.model import Condition, IntOrString, LabelSelector, ObjectMeta, Quantity, decode
from kubewright.models.apps.v1 import Deployment, DeploymentSpec
from kubewright.models.core.v1 import Container, Pod, PodSpec, PodTemplateSpec, Secret, Service
from kubewright.models.policy.v1 import PodDisruptionBudget


def reading(deployment: Deployment, pod: Pod, secret: Secret, service: Service, budget: PodDisruptionBudget) -> None:
    assert_type(deployment.metadata, ObjectMeta)
    assert_type(deployment.status.ready_replicas or 0, int)
    assert_type(deployment.spec.template, PodTemplateSpec)
    assert_type([container.name for container in pod.spec.containers], list[str])
    assert_type(pod.status.start_time, datetime | None)
    assert_type(secret.data, dict[str, bytes])
    assert_type([port.target_port for port in service.spec.ports], list[IntOrString | None])
    assert_type(budget.status.disruptions_allowed, int)
    assert_type(budget.status.conditions, list[Condition])
    for container in pod.spec.containers:
        if container.resources is not None:
            assert_type(container.resources.limits, dict[str, Quantity])


def writing() -> Deployment:
    container = Container(name="web", image="nginx", image_pull_policy="IfNotPresent")
    Container(name="web", image_pull_policy="Sometimes")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Container(image="nginx")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    return Deployment(
        metadata=ObjectMeta(name="web"),
        spec=DeploymentSpec(
            selector=LabelSelector(match_labels={"app": "web"}),
            template=PodTemplateSpec(spec=PodSpec(containers=[container])),
        ),
    )


def decoding(data: bytes) -> None:
    assert_type(decode(Pod, data), Pod)
