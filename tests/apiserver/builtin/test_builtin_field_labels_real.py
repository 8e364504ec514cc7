"""By which fields objects of a built-in kind can be selected, and what is said of all others."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from both import Both
from differential import CATALOG, Real, collection
from known_differences import KNOWN_OF_FIELD_LABELS

from kubewright.testing.access import ClusterAccess

pytestmark = pytest.mark.control_plane

LABELS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "involvedObject.name",
    "regarding.name",
    "reason",
    "reportingComponent",
    "reportingController",
    "source",
    "type",
    "spec.clusterIP",
    "spec.host",
    "spec.hostNetwork",
    "spec.nodeName",
    "spec.podName",
    "spec.driver",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.signerName",
    "spec.type",
    "spec.unschedulable",
    "status.nominatedNodeName",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.replicas",
    "status.successful",
    "nonsense",
)
KINDS = {f"{each.api_version} {each.plural}": each for each in CATALOG.types if "list" in each.verbs}


@pytest.fixture(scope="module")
def both(control_plane: ClusterAccess) -> Both:
    return Both(Real(control_plane.url, control_plane.pki), "default")


@pytest.mark.parametrize("name", sorted(KINDS))
def test_the_fields_that_select_are_those_of_a_real_server(name: str, both: Both) -> None:
    path = collection(KINDS[name], "default")
    said: list[dict[str, tuple[int, str]]] = [{}, {}]
    for label in LABELS:
        answers = both.ask("GET", f"{path}?limit=1&fieldSelector={quote(f'{label}=none-such')}")
        for of, (code, body) in zip(said, answers, strict=True):
            of[label] = (code, body.get("message", ""))
    differs = tuple(label for label in LABELS if said[0][label] != said[1][label])
    assert differs == KNOWN_OF_FIELD_LABELS.get(name, ())
