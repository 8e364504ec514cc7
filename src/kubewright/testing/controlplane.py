"""A real Kubernetes control plane, started and stopped by a test or a person.

Owns the order of things: certificates, ports, etcd, API server, then side by side what was asked for (controllers,
scheduler, kwok with its nodes), each judged ready by asking it. Refuses to know where programs come from (`binaries`),
what their flags are (`components`), how they are kept from outliving us (`processes`, `supervisor`), what can be done
with a running one (`access`), and where the logs of a failure are (`kept_logs`).

    etcd --------------+    +--> kube-controller-manager --> default service account --+
    kube-apiserver ----+----+--> kube-scheduler ---------------------------------------+--> ready
          2.5 s, /readyz    +--> kwok, Node objects --> every Node Ready --------------+
                                                                       0.8 s

The later three are not started before the API server is ready, though they would wait for it: they look again only
once a second, and two cores are better left to the API server.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from kubewright.testing import components, programs
from kubewright.testing.access import ADMIN, ClusterAccess
from kubewright.testing.binaries import Binaries, find_binaries
from kubewright.testing.build import say_to_stderr
from kubewright.testing.credentials import write_credentials
from kubewright.testing.errors import RequestFailed, StartFailed
from kubewright.testing.kept_logs import keep_logs
from kubewright.testing.nodes import add_nodes, ready_nodes
from kubewright.testing.paths import runtime_dir
from kubewright.testing.ports import reserve_ports
from kubewright.testing.processes import Supervised, new_data_dir, sweep
from kubewright.testing.rest import Rest, answers

_POLL_SECONDS = 0.03
_STOP_GRACE_SECONDS = 10.0
_NAME = "kubewright"


class ControlPlane:
    """A private etcd and kube-apiserver, on request with controllers, scheduler and nodes.

    controllers   run kube-controller-manager: garbage collection, namespace deletion, service accounts, workloads
    scheduler     run kube-scheduler
    nodes         make this many nodes, played by kwok; Pods bound to them run at once, claims are bound at once
    data_dir      have the data here and start from what is there (default: a new folder, removed at the end)
    keep_data     keep a given `data_dir` at the end
    keep_logs     keep the logs of a failure in the cache folder and name the place in the error (the newest 10)
    start_timeout_seconds   for all of it, not counting a download or build of programs
    binaries      the programs, if not to be searched (`find_binaries`)
    api_server_args         more flags for kube-apiserver; they come last and so win
    kwok          run kwok even without nodes, to play those that are made later (default: if there are nodes)
    stages        more files for kwok: Stage objects of your own, ClusterLogs, ...
    name          names cluster and context in kubeconfigs

    Expected flow: `with ControlPlane(...) as cp:` or `async with`; or `start()` and `stop()`, or `await astart()` and
    `await astop()`. After `stop` it can be started again. Everything else needs a started one.
    Guarantees: G1 when the owner's process is gone, for whatever reason, so are all processes and the data folder; what
    a killed supervisor left is removed by the next start of anybody. G2 a failed or cancelled start leaves nothing
    (but the kept logs). G3 several live side by side, in one process or many. G4 ready means: /readyz is 200 and the
    default namespace exists; with controllers its service account too; with nodes, each is Ready (and with controllers
    free of the not-ready taint).
    Cancellation: a cancelled `astart` ends what it has started before the cancellation goes on; a cancelled `astop`
    still stops.
    Caveats: start and stop are not to be called from two threads at a time. A `fork` without exec of the owner shares
    the lifetime only as long as the owner itself lives.
    """

    def __init__(
        self,
        *,
        controllers: bool = False,
        scheduler: bool = False,
        nodes: int = 0,
        kwok: bool = False,
        data_dir: Path | None = None,
        keep_data: bool = True,
        keep_logs: bool = True,
        start_timeout_seconds: float = 60.0,
        binaries: Binaries | None = None,
        api_server_args: Sequence[str] = (),
        stages: Sequence[Path] = (),
        name: str = _NAME,
        env: Mapping[str, str] | None = None,
        progress: Callable[[str], None] = say_to_stderr,
    ) -> None:
        if nodes < 0:
            raise ValueError(f"nodes={nodes}: use 0 or more")
        self.controllers = controllers
        self.scheduler = scheduler
        self.nodes = nodes
        self._runs_kwok = kwok or nodes > 0
        self._given_data_dir = None if data_dir is None else Path(data_dir).absolute()
        self._removes_data = data_dir is None or not keep_data
        self._keep_logs = keep_logs
        self._timeout = start_timeout_seconds
        self._given_binaries = binaries
        self._api_server_args = tuple(api_server_args)
        self._stages = tuple(Path(stage).absolute() for stage in stages)
        self._name = name
        self._env = dict(os.environ if env is None else env)
        self._progress = progress
        self._cancelled = threading.Event()
        self._supervised: Supervised | None = None
        self._binaries: Binaries | None = None
        self._layout: components.Layout | None = None
        self._access: ClusterAccess | None = None

    # -- lifetime

    def start(self) -> Self:
        """Start everything and wait until it is ready; return self.

        Raises BinariesNotFound, StartFailed (with the last lines of the failing program's log and the folder where
        all logs are kept), RuntimeError if it is already started.
        """
        return self._start(threading.Event())

    def stop(self) -> None:
        """End everything and, unless a given `data_dir` is kept, remove the data. Does nothing if not started."""
        if self._supervised is not None and not self._removes_data:
            # Only etcd has anything to bring to an end; the others would wait in vain for one another.
            for name in self._supervised.children:
                if name != programs.ETCD:
                    self._supervised.stop(name, 0.0)
            self._supervised.stop(programs.ETCD, _STOP_GRACE_SECONDS)
        # Data that is thrown away needs no farewell: SIGKILL, and all is over in some 50 ms.
        self._end()

    async def astart(self) -> Self:
        """Like `start`, without blocking the event loop."""
        import asyncio

        cancelled = threading.Event()
        starting = asyncio.create_task(asyncio.to_thread(self._start, cancelled))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            cancelled.set()
            await asyncio.wait([starting])
            if not starting.cancelled() and starting.exception() is None:
                await asyncio.to_thread(self.stop)
            raise

    async def astop(self) -> None:
        """Like `stop`, without blocking the event loop."""
        import asyncio

        stopping = asyncio.create_task(asyncio.to_thread(self.stop))
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            await asyncio.wait([stopping])
            raise

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._note_logs(error)
        self.stop()

    async def __aenter__(self) -> Self:
        return await self.astart()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._note_logs(error)
        await self.astop()

    # -- use

    @property
    def access(self) -> ClusterAccess:
        """How to use it: a value that may be handed to other processes. Raises RuntimeError if not started."""
        if self._access is None:
            raise RuntimeError("this control plane is not started; use `with ControlPlane() as cp:` or call start()")
        return self._access

    @property
    def url(self) -> str:
        """The API server, https://127.0.0.1:PORT."""
        return self.access.url

    @property
    def ca(self) -> str:
        """The certificate authority that signs the API server's certificate, PEM."""
        return self.access.ca

    @property
    def env(self) -> dict[str, str]:
        """The variables by which kubectl and other clients find this control plane as administrator."""
        return self.access.env

    def kubeconfig(self, user: str = ADMIN, groups: Sequence[str] | None = None) -> str:
        """Return a kubeconfig (YAML) for any user and groups; see `ClusterAccess.kubeconfig`."""
        return self.access.kubeconfig(user, groups)

    def kubectl(self, *args: str, stdin: str | None = None, timeout_seconds: float = 120.0) -> str:
        """Run kubectl as administrator and return its stdout; see `ClusterAccess.kubectl`."""
        return self.access.kubectl(*args, stdin=stdin, timeout_seconds=timeout_seconds)

    @property
    def supervised(self) -> Supervised:
        """The processes: for a test that stops one, and for handing over the lifetime."""
        if self._supervised is None:
            raise RuntimeError("this control plane is not started; use `with ControlPlane() as cp:` or call start()")
        return self._supervised

    def restart_api_server(self, *, grace_seconds: float = 0.0) -> None:
        """End the API server, start it again on the same port and data, and wait until it is ready.

        Every watch is cut by that; with grace the server closes them itself, without they just break. Raises
        StartFailed.
        """
        self.stop_api_server(grace_seconds=grace_seconds)
        self.start_api_server()

    def stop_api_server(self, *, grace_seconds: float = 0.0) -> None:
        """End the API server; etcd and the others stay. Nothing listens on its port until `start_api_server`."""
        self.supervised.stop(programs.API_SERVER, grace_seconds)

    def start_api_server(self) -> None:
        """Start the API server that was stopped, on the same port and data, and wait until it is ready.

        Raises StartFailed.
        """
        assert self._binaries is not None
        assert self._layout is not None
        self._start_api_server(self.supervised, self._binaries, self._layout)
        with contextlib.closing(self.access.rest()) as rest:
            self._await_api_server(rest, time.monotonic() + self._timeout)

    def let_go(self) -> None:
        """Forget a control plane whose lifetime was handed over (`supervised.share` or `.detach`); it lives on."""
        self.supervised.let_go()
        self._supervised = self._access = None

    # -- starting

    def _start(self, cancelled: threading.Event) -> Self:
        if self._supervised is not None:
            raise RuntimeError("this control plane is already started")
        self._cancelled = cancelled
        wanted = programs.needed(controllers=self.controllers, scheduler=self.scheduler, nodes=self._runs_kwok)
        self._binaries = self._given_binaries or find_binaries(
            wanted, env=self._env, progress=self._progress, cancelled=cancelled.is_set
        )
        self._check_cancelled()
        ports = components.Ports(*reserve_ports(6))
        base = runtime_dir()
        sweep(base)
        data_dir = self._given_data_dir or new_data_dir(base)
        layout = self._layout = components.Layout(data_dir, ports)
        try:
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_credentials(layout, self._name)
            self._supervised = Supervised(data_dir, remove=self._removes_data)
            self._run(self._supervised, self._binaries, layout)
        except StartFailed as error:
            error.log_dir = self._keep()
            self._end()
            raise
        except BaseException as error:
            self._note_logs(error)
            self._end()
            raise
        return self

    def _run(self, supervised: Supervised, binaries: Binaries, layout: components.Layout) -> None:
        deadline = time.monotonic() + self._timeout
        # Side by side: the API server loads for half a second before it needs etcd, and asks again if it is early.
        supervised.start(components.etcd(binaries, layout), self._env)
        self._start_api_server(supervised, binaries, layout)
        health = components.etcd_health(layout)
        self._await(programs.ETCD, deadline, health, lambda: answers(health))
        access = ClusterAccess(
            name=self._name,
            url=layout.url,
            kubeconfig_path=layout.kubeconfig,
            pki=layout.pki,
            kubectl_path=binaries[programs.KUBECTL],
            controllers=self.controllers,
            nodes=self.nodes,
        )
        with contextlib.closing(access.rest()) as rest:
            self._await_api_server(rest, deadline)
            self._start_others(supervised, binaries, layout)
            self._await_others(rest, layout, deadline)
        self._access = access

    def _start_api_server(self, supervised: Supervised, binaries: Binaries, layout: components.Layout) -> None:
        command = components.api_server(binaries, layout, controllers=self.controllers, extra=self._api_server_args)
        supervised.start(command, self._env)

    def _start_others(self, supervised: Supervised, binaries: Binaries, layout: components.Layout) -> None:
        if self.controllers:
            supervised.start(components.controller_manager(binaries, layout), self._env)
        if self.scheduler:
            supervised.start(components.scheduler(binaries, layout), self._env)
        if self._runs_kwok:
            stages = binaries.stages(self._env)
            if not stages:
                raise StartFailed(
                    programs.KWOK,
                    f"has no stage files beside {binaries[programs.KWOK]} nor in the cache; run `make controlplane`",
                )
            supervised.start(components.kwok(binaries, layout, [*stages, *self._stages]), self._env)

    def _await_api_server(self, rest: Rest, deadline: float) -> None:
        for path in ("/readyz", "/api/v1/namespaces/default"):
            self._await(programs.API_SERVER, deadline, f"GET {path}", functools.partial(_found, rest, path))

    def _await_others(self, rest: Rest, layout: components.Layout, deadline: float) -> None:
        if self._runs_kwok:
            add_nodes(rest, self.nodes)
        if self.controllers:
            url = f"https://{components.ADDRESS}:{layout.ports.controller_manager}/healthz"
            self._await(programs.CONTROLLER_MANAGER, deadline, url, lambda: answers(url))
            path = "/api/v1/namespaces/default/serviceaccounts/default"
            self._await(programs.CONTROLLER_MANAGER, deadline, f"GET {path}", functools.partial(_found, rest, path))
        if self.scheduler:
            url = f"https://{components.ADDRESS}:{layout.ports.scheduler}/healthz"
            self._await(programs.SCHEDULER, deadline, url, lambda: answers(url))
        if self._runs_kwok:
            what = f"{self.nodes} nodes Ready"
            self._await(programs.KWOK, deadline, what, functools.partial(self._has_nodes, rest))

    def _has_nodes(self, rest: Rest) -> bool:
        try:
            return ready_nodes(rest, untainted=self.controllers) >= self.nodes
        except RequestFailed:
            return False

    def _await(self, name: str, deadline: float, what: str, is_ready: Callable[[], bool]) -> None:
        """Ask until `is_ready`; raise as soon as any program ends, or at the deadline."""
        while True:
            self._check_cancelled()
            self._check_alive()
            if is_ready():
                return
            if time.monotonic() >= deadline:
                reason = f"was not ready within {self._timeout:g} s ({what})"
                raise StartFailed(name, reason, self.supervised.last_lines(name))
            self.supervised.watch(_POLL_SECONDS)

    def _check_alive(self) -> None:
        for name, code in self.supervised.exited.items():
            if name in self.supervised.stopped:
                continue
            ended = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise StartFailed(name, ended, self.supervised.last_lines(name))

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise InterruptedError("the start of the control plane was cancelled")

    # -- ending

    def _end(self) -> None:
        supervised, self._supervised, self._access = self._supervised, None, None
        if supervised is not None:
            supervised.shutdown(0.0)
        elif self._layout is not None and self._removes_data:
            # The start failed before there was a supervisor to remove it.
            shutil.rmtree(self._layout.data_dir, ignore_errors=True)

    def _note_logs(self, error: BaseException | None) -> None:
        """Keep the logs of a failure, and say where on the error itself."""
        if (
            isinstance(error, Exception)
            and not isinstance(error, InterruptedError)
            and (kept := self._keep()) is not None
        ):
            error.add_note(f"the logs of the control plane are kept in {kept}")

    def _keep(self) -> Path | None:
        if not self._keep_logs or self._supervised is None or not self._supervised.logs.is_dir():
            return None
        return keep_logs(self._supervised.logs, self._env)


def _found(rest: Rest, path: str) -> bool:
    return rest.status(path) == http.client.OK
