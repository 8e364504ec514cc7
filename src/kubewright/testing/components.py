"""The command line of each program of a control plane, and where it says that it is ready.

Owns the flags, and nothing that runs: functions from a `Layout` (paths and ports of one control plane) to a `Command`.
The flags of etcd and kube-apiserver are those of controller-runtime's envtest, apart from these:

- the ServiceAccount admission plugin stays on if there is a controller manager to make the accounts, as in a real
  cluster; without one no Pod could ever be created, so then it is off, as in envtest;
- etcd never syncs to the disk: what a crash of the machine would lose is thrown away anyhow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kubewright.testing import programs
from kubewright.testing.binaries import Binaries
from kubewright.testing.processes import Command

ADDRESS = "127.0.0.1"
_QPS = 1000
"""Client-side rate limit of the programs: none to speak of. The API server has its own fair queueing."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of one control plane, all on 127.0.0.1."""

    etcd_client: int
    etcd_peer: int
    api_server: int
    controller_manager: int
    scheduler: int
    kwok: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one control plane keeps its things.

    `pki` holds serving-ca, client-ca, apiserver, kwok and admin (.crt and .key) and sa.pub, sa.key.
    """

    data_dir: Path
    ports: Ports

    @property
    def pki(self) -> Path:
        """Certificates and keys."""
        return self.data_dir / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, also used by the controllers, the scheduler and kwok."""
        return self.data_dir / "kubeconfig"

    @property
    def url(self) -> str:
        """The API server."""
        return f"https://{ADDRESS}:{self.ports.api_server}"


def etcd(binaries: Binaries, layout: Layout) -> Command:
    """The store. Ready when `etcd_health` answers 200."""
    client = f"http://{ADDRESS}:{layout.ports.etcd_client}"
    peer = f"http://{ADDRESS}:{layout.ports.etcd_peer}"
    return Command(
        programs.ETCD,
        [
            str(binaries[programs.ETCD]),
            f"--data-dir={layout.data_dir / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync=true",
            "--log-level=warn",
        ],
    )


def etcd_health(layout: Layout) -> str:
    """The URL at which etcd says that it is ready."""
    return f"http://{ADDRESS}:{layout.ports.etcd_client}/health"


def api_server(binaries: Binaries, layout: Layout, *, controllers: bool, extra: Sequence[str]) -> Command:
    """The API server. Ready when `/readyz` answers 200; `extra` flags come last and so win."""
    pki = layout.pki
    return Command(
        programs.API_SERVER,
        [
            str(binaries[programs.API_SERVER]),
            f"--etcd-servers=http://{ADDRESS}:{layout.ports.etcd_client}",
            f"--bind-address={ADDRESS}",
            f"--secure-port={layout.ports.api_server}",
            f"--cert-dir={layout.data_dir / 'apiserver'}",
            f"--tls-cert-file={pki / 'apiserver.crt'}",
            f"--tls-private-key-file={pki / 'apiserver.key'}",
            f"--client-ca-file={pki / 'client-ca.crt'}",
            # 65,000 Services, not envtest's 254: a test may well make more than that.
            "--service-cluster-ip-range=10.0.0.0/16",
            "--allow-privileged=true",
            "--authorization-mode=RBAC",
            # Not the URL, as envtest has it: the port changes from start to start, and tokens of kept data shall live.
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={pki / 'sa.pub'}",
            f"--service-account-signing-key-file={pki / 'sa.key'}",
            # The endpoint of the `kubernetes` service may not be a loopback address; by default it is that of the
            # default route, which a laptop without a network has not. TEST-NET-1 (RFC 5737) belongs to nobody.
            "--advertise-address=192.0.2.1",
            # A list that is given twice is added up, and could not be made shorter by `extra`.
            *([] if controllers or _says(extra, _DISABLE) else [f"{_DISABLE}=ServiceAccount"]),
            *extra,
        ],
    )


_DISABLE = "--disable-admission-plugins"


def _says(flags: Sequence[str], flag: str) -> bool:
    return any(each.partition("=")[0] == flag for each in flags)


def controller_manager(binaries: Binaries, layout: Layout) -> Command:
    """The controllers. Ready when `/healthz` on its port answers 200."""
    config = str(layout.kubeconfig)
    return Command(
        programs.CONTROLLER_MANAGER,
        [
            str(binaries[programs.CONTROLLER_MANAGER]),
            f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}",
            f"--service-account-private-key-file={layout.pki / 'sa.key'}",
            f"--root-ca-file={layout.pki / 'serving-ca.crt'}",
            "--use-service-account-credentials=true",
            # The defaults (20 and 30) make its own forty service accounts and tokens take six seconds.
            f"--kube-api-qps={_QPS}",
            f"--kube-api-burst={_QPS}",
            "--leader-elect=false",
            f"--bind-address={ADDRESS}",
            f"--secure-port={layout.ports.controller_manager}",
            f"--cert-dir={layout.data_dir / 'controller-manager'}",
        ],
    )


def scheduler(binaries: Binaries, layout: Layout) -> Command:
    """The scheduler. Ready when `/healthz` on its port answers 200."""
    return Command(
        programs.SCHEDULER,
        [
            str(binaries[programs.SCHEDULER]),
            f"--kubeconfig={layout.kubeconfig}",
            "--leader-elect=false",
            f"--bind-address={ADDRESS}",
            f"--secure-port={layout.ports.scheduler}",
        ],
    )


def kwok(binaries: Binaries, layout: Layout, stages: Sequence[Path]) -> Command:
    """The kubelets' stand-in. Ready when the nodes are; `stages` are files of kwok's configuration kinds."""
    server = f"{ADDRESS}:{layout.ports.kwok}"
    return Command(
        programs.KWOK,
        [
            str(binaries[programs.KWOK]),
            f"--kubeconfig={layout.kubeconfig}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40",
            # Pod addresses, apart from the service range.
            "--cidr=10.244.0.1/16",
            f"--node-ip={ADDRESS}",
            f"--node-port={layout.ports.kwok}",
            f"--server-address={server}",
            f"--tls-cert-file={layout.pki / 'kwok.crt'}",
            f"--tls-private-key-file={layout.pki / 'kwok.key'}",
            *(f"--config={stage}" for stage in stages),
        ],
    )
