"""The pytest plugin: an API server for tests, by fixture.

Embedded, in this process, ready at once (`docs/testing.md` shows them in use):

    embedded_client           a `Client` on embedded_server, for `async with`
    embedded_server           a fresh `ApiServer` for each test: a fork of embedded_base
    embedded_workloads        `Workloads` on embedded_server with a node, for `async with`: Pods run
    embedded_base             what all forks begin with; override it in conftest.py to install CRDs once

Real, of processes:

    control_plane             etcd and kube-apiserver, one for the whole run (all xdist workers), started at first use
    control_plane_with_nodes  likewise, with controllers, scheduler and three nodes on which Pods run
    namespace                 a fresh namespace on control_plane, made in milliseconds, deleted afterwards
    namespace_with_nodes      a fresh namespace on control_plane_with_nodes
    private_control_plane     a factory: `private_control_plane(**options)` gives a started `ControlPlane` of one's own

The first two give a `ClusterAccess`: url, kubeconfig_path, kubeconfig(user, groups), kubectl(...), env.

`--kubewright-cluster=embedded` (or KUBEWRIGHT_CLUSTER=embedded) puts an embedded server behind HTTPS in the place of
control_plane, and another one, with simulated controllers and kubelets, in the place of control_plane_with_nodes, with
the same `ClusterAccess`. They need no programs and are ready in a moment. They are no processes: private_control_plane
stays real.

Owns the fixtures only. A control plane that cannot be had fails the tests that ask for it, with the cure in the text;
it never skips them: a skipped contract looks like a kept one. The module is imported by every pytest run of every
project that has Kubewright installed, so it imports nothing of Kubewright before a fixture is used.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kubewright.apiserver import ApiServer
    from kubewright.client import Client
    from kubewright.testing.access import ClusterAccess
    from kubewright.testing.controlplane import ControlPlane
    from kubewright.testing.namespaces import Namespaces
    from kubewright.testing.workloads import Workloads

_NODES = 3


_CLUSTERS = ("real", "embedded")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("kubewright").addoption(
        "--kubewright-cluster",
        choices=_CLUSTERS,
        default=None,
        help="what the fixture control_plane gives: a real kube-apiserver (default), or the embedded API server; "
        "KUBEWRIGHT_CLUSTER says the same",
    )


def pytest_configure(config: pytest.Config) -> None:
    said = os.environ.get("KUBEWRIGHT_CLUSTER") or "real"
    if config.getoption("--kubewright-cluster") is None and said not in _CLUSTERS:
        raise pytest.UsageError(f"KUBEWRIGHT_CLUSTER is {said!r}; it has to be real or embedded")


@pytest.fixture(scope="session")
def embedded_base() -> Iterator[ApiServer]:
    """An embedded server that every test's own begins as. Override it to put CRDs and objects there once."""
    from kubewright.apiserver import new_server

    with contextlib.closing(new_server(garbage=True)) as server:
        yield server


@pytest.fixture
def embedded_server(embedded_base: ApiServer) -> Iterator[ApiServer]:
    """A fresh embedded server of this test's own."""
    with contextlib.closing(embedded_base.fork()) as server:
        yield server


@pytest.fixture
def embedded_client(embedded_server: ApiServer) -> Client:
    """A client on `embedded_server`, in process. The test enters it: `async with embedded_client as kube:`."""
    from kubewright.apiserver.inprocess import in_process_client

    return in_process_client(embedded_server)


@pytest.fixture
def embedded_workloads(embedded_server: ApiServer) -> Workloads:
    """Controllers, scheduler and the kubelet of one node for `embedded_server`, on the event loop's time.

    The test enters it: `async with embedded_client as kube, embedded_workloads as workloads:`.
    """
    from kubewright.apiserver.inprocess import in_process_client
    from kubewright.testing.workloads import Workloads

    return Workloads(in_process_client(embedded_server), nodes=1)


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ClusterAccess]:
    """A real etcd and kube-apiserver, shared by the whole test run; or an embedded server, by option."""
    yield from _cluster(request, "plain")


@pytest.fixture(scope="session")
def control_plane_with_nodes(request: pytest.FixtureRequest) -> Iterator[ClusterAccess]:
    """A real control plane with controllers, scheduler and three nodes, shared by the whole test run; or an embedded
    server with simulated ones, by option."""
    yield from _cluster(request, "nodes", controllers=True, scheduler=True, nodes=_NODES)


@pytest.fixture
def namespace(request: pytest.FixtureRequest, _kubewright_namespaces: Namespaces) -> Iterator[str]:
    """The name of a fresh namespace on `control_plane`."""
    yield from _namespace(request, _kubewright_namespaces)


@pytest.fixture
def namespace_with_nodes(
    request: pytest.FixtureRequest, _kubewright_namespaces_with_nodes: Namespaces
) -> Iterator[str]:
    """The name of a fresh namespace on `control_plane_with_nodes`; its default service account exists."""
    yield from _namespace(request, _kubewright_namespaces_with_nodes)


@pytest.fixture
def private_control_plane(request: pytest.FixtureRequest) -> Iterator[Callable[..., ControlPlane]]:
    """A factory for control planes of this test's own: takes the options of `ControlPlane`, returns it started."""
    from kubewright.testing.controlplane import ControlPlane

    with contextlib.ExitStack() as started:

        def make(**options: Any) -> ControlPlane:
            options.setdefault("progress", _progress(request))
            control_plane = ControlPlane(**options)
            with _failing():
                control_plane.start()
            started.callback(control_plane.stop)
            return control_plane

        yield make


@pytest.fixture(scope="session")
def _kubewright_namespaces(control_plane: ClusterAccess) -> Iterator[Namespaces]:
    yield from _namespaces(control_plane)


@pytest.fixture(scope="session")
def _kubewright_namespaces_with_nodes(control_plane_with_nodes: ClusterAccess) -> Iterator[Namespaces]:
    yield from _namespaces(control_plane_with_nodes)


def _cluster(request: pytest.FixtureRequest, kind: str, *, nodes: int = 0, **options: Any) -> Iterator[ClusterAccess]:
    said = request.config.getoption("--kubewright-cluster") or os.environ.get("KUBEWRIGHT_CLUSTER")
    if said == "embedded":
        from kubewright.testing.embedded_access import embedded_access

        with embedded_access(nodes=nodes) as access:
            yield access
    else:
        yield from _shared(request, kind, **options, **({"nodes": nodes} if nodes else {}))


def _shared(request: pytest.FixtureRequest, kind: str, **options: Any) -> Iterator[ClusterAccess]:
    from kubewright.testing.controlplane import ControlPlane
    from kubewright.testing.shared import join

    # xdist gives all workers of a run one id; without xdist there is one process, and any id will do.
    run = getattr(request.config, "workerinput", {}).get("testrunuid") or uuid.uuid4().hex
    with _failing():
        joined = join(f"{run}-{kind}", lambda: ControlPlane(progress=_progress(request), **options))
    try:
        yield joined.access
    finally:
        joined.leave()


def _namespaces(access: ClusterAccess) -> Iterator[Namespaces]:
    from kubewright.testing.namespaces import Namespaces

    with contextlib.closing(Namespaces(access)) as namespaces:
        yield namespaces


def _namespace(request: pytest.FixtureRequest, namespaces: Namespaces) -> Iterator[str]:
    with _failing():
        name = namespaces.create(request.node.name)
    try:
        yield name
    finally:
        namespaces.delete_later(name)


@contextlib.contextmanager
def _failing() -> Iterator[None]:
    """Turn an error of the control plane into a failed test with one clear text and no traceback of ours."""
    from kubewright.testing.errors import ControlPlaneError

    try:
        yield
    except ControlPlaneError as error:
        pytest.fail(f"a real control plane is needed: {error}", pytrace=False)


def _progress(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print progress past pytest's capture: a first build takes minutes, and silence looks like a hang."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            print(line, file=sys.stderr, flush=True)

    return say
