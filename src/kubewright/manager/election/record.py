"""The record of an election, and the Lease that it lies in (coordination.k8s.io/v1).

Owns the spelling. A Lease is kept as the JSON it came as, so that what others have put on it stays: an update changes
the spec, and of the labels only those that are ours, as client-go's resourcelock does. Times are text that is only
passed on: no decision ever depends on what another machine's clock says.

Two records are compared to see whether somebody has renewed. It is the five fields that count: labels and annotations
are anybody's, and changing them renews nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

__all__ = ["LeaseObject", "Record", "lease_of", "with_record"]

LeaseObject = Mapping[str, Any]
"""A Lease as JSON."""


class Record(Struct, frozen=True):
    """Who holds a lease, since when, and for how long after each renewal.

    `holder` "": nobody, it is free at once. `transitions` counts the changes of holder. Times are metav1.MicroTime's.
    """

    holder: str = ""
    duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    transitions: int = 0

    @classmethod
    def of(cls, lease: LeaseObject) -> Record:
        """The record in a Lease; what is missing in its spec is empty, or 0."""
        spec = lease.get("spec") or {}
        return cls(
            spec.get("holderIdentity") or "",
            spec.get("leaseDurationSeconds") or 0,
            spec.get("acquireTime") or "",
            spec.get("renewTime") or "",
            spec.get("leaseTransitions") or 0,
        )

    def spec(self) -> dict[str, Any]:
        """As the spec of a Lease."""
        return {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.duration_seconds,
            "acquireTime": self.acquire_time,
            "renewTime": self.renew_time,
            "leaseTransitions": self.transitions,
        }


def lease_of(record: Record, name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """A new Lease."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = dict(labels)
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": record.spec()}


def with_record(lease: LeaseObject, record: Record, labels: Mapping[str, str]) -> dict[str, Any]:
    """A Lease that was read, with another record; for an update that fails if it was changed since."""
    metadata = dict(lease.get("metadata") or {})
    if labels:
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    return {**lease, "metadata": metadata, "spec": record.spec()}
