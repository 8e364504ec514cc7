"""The embedded API server as a server of its own: HTTPS, credentials, a kubeconfig, a folder for its data, nodes.

Owns what turns `kubewright.apiserver` into something that kubectl can be pointed at. It refuses to know what is served
and how. Its certificates live for a year and are kept with the data, or in the user's cache folder: making them takes
longer than all else at a start.

    DIR/journal    every commit (see `kubewright.apiserver.journal`)
    DIR/token      the administrator's
    DIR/pki/       ca.crt, serving.crt, serving.key; the authority's key is thrown away
                   sa.key, sa.pub sign and verify the tokens of service accounts
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from kubewright.apiserver import ADMIN, ApiServer, Store, User, new_server
from kubewright.apiserver.access.authentication import Authentication
from kubewright.apiserver.front import HttpFront
from kubewright.apiserver.journal import Journal, open_store
from kubewright.apiserver.system import add_system_objects
from kubewright.httpd import Address
from kubewright.testing.files import write_private
from kubewright.testing.kubeconfig import ADMIN as ADMIN_NAME
from kubewright.testing.kubeconfig import refuse_foreign, render
from kubewright.testing.paths import cache_dir, runtime_dir

if TYPE_CHECKING:
    from kubewright.client import ClientConfig
    from kubewright.testing.workloads import Workloads

__all__ = ["EmbeddedServer", "EmbeddedThread"]

_RENEW_SECONDS: Final = 300 * 86400.0
"""Certificates are made for 365 days."""
_START_SECONDS: Final = 30.0
_NO_CHECK_TIME: Final = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which `ssl` has no name for."""


class EmbeddedServer:
    """An embedded API server that listens.

    port        0 for any that is free
    data_dir    keep everything here; a new start goes on from it (default: nothing is kept)
    sync        each write waits for the disk, so that a power failure takes nothing either
    nodes       make sure that there are so many Nodes, node-0 and on; where there is one, `Workloads` live there: Pods
                run, and Deployments and the like have their controllers (default: 0, there is only the API server)
    garbage     clear away what has lost its owners, and what is in namespaces that go, as a cluster's controllers do
    name        of cluster and context in the kubeconfig
    server      serve this one (default: a new one)
    pki         folder of its certificates; made if there are none (default: below data_dir, or in the cache folder)
    client_ca   PEM file of the authority whose client certificates are users: CN, with O as groups (default: nobody has
                any, and the token is the only way in)

    Expected flow: `async with EmbeddedServer(...) as served:`, or `start` and `close`.
    Guarantees: G1 after `start` every request is answered. G2 what was answered is in the data folder, after SIGKILL
    too. G3 after `close` no socket, no task and no lock is left.
    Cancellation: a cancelled `start` leaves nothing.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        data_dir: Path | None = None,
        sync: bool = False,
        nodes: int = 0,
        garbage: bool = True,
        name: str = "kubewright-embedded",
        server: ApiServer | None = None,
        client_ca: Path | None = None,
        pki: Path | None = None,
    ) -> None:
        self._port, self._data_dir, self._sync, self._nodes, self._name = port, data_dir, sync, nodes, name
        self._server, self._client_ca, self._pki, self._garbage = server, client_ca, pki, garbage
        self._journal: Journal | None = None
        self._front: HttpFront | None = None
        self._workloads: Workloads | None = None
        self._known: Authentication | None = None
        self._token = ""
        self._ca = b""

    @property
    def server(self) -> ApiServer:
        """The server inside. After `start`."""
        assert self._server is not None
        return self._server

    @property
    def workloads(self) -> Workloads:
        """What lives on its nodes. After `start`, with `nodes`."""
        assert self._workloads is not None
        return self._workloads

    @property
    def url(self) -> str:
        """Where it listens. After `start`."""
        assert self._front is not None
        return f"https://127.0.0.1:{self._front.port}"

    @property
    def ca(self) -> bytes:
        """The authority that signs its certificate, PEM. After `start`."""
        return self._ca

    @property
    def config(self) -> ClientConfig:
        """How the administrator reaches it. After `start`."""
        return self.config_of(ADMIN)

    def config_of(self, user: User) -> ClientConfig:
        """How somebody reaches it, who may what roles allow. After `start`.

        Args:
            user: with its groups, as a token of its would say it: `system:authenticated` is not added.
        """
        from kubewright.client import ClientConfig  # a server without clients of its own starts faster

        token = self._token_of(user)
        return ClientConfig(server=self.url, ca_data=self._ca, token=token, source="the embedded API server")

    def kubeconfig(self, user: User = ADMIN) -> str:
        """The administrator's kubeconfig, or somebody else's, as text. After `start`."""
        name = ADMIN_NAME if user is ADMIN else user.name
        return render(name=self._name, url=self.url, ca=self._ca, user=name, credentials=self._token_of(user))

    def _token_of(self, user: User) -> str:
        """A token that says who one is: the one that there is already, or a new one."""
        assert self._known is not None
        for token, known in self._known.tokens.items():
            if known == user:
                return token
        token = secrets.token_urlsafe(32)
        self._known.tokens[token] = user
        return token

    def write_kubeconfig(self, path: Path) -> None:
        """Write it to a file. Raises ClusterError: the file holds another's."""
        refuse_foreign(path, self._name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, self.kubeconfig().encode())

    @contextmanager
    def lent_kubeconfig(self, path: Path | None = None) -> Iterator[Path]:
        """The administrator's kubeconfig in a file, for as long as the block lasts. After `start`.

        A file that is named stays, as does the one in the data folder, which is taken if there is one. Otherwise it is
        a file of this block: it goes at its end, and if this process is killed, at the next call of anybody.

        Raises:
            ClusterError: the file holds another's.
        """
        if path is None and self._data_dir is not None:
            path = self._data_dir / "kubeconfig"
        if path is not None:
            self.write_kubeconfig(path)
            yield path
            return
        from kubewright.testing.processes import new_data_dir, sweep

        base = runtime_dir()
        sweep(base)
        folder = new_data_dir(base)
        try:
            self.write_kubeconfig(folder / "kubeconfig")
            yield folder / "kubeconfig"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def start(self) -> None:
        """Listen. Raises JournalError, httpd.BindError."""
        try:
            store = self._opened()
            pki = self._pki or (self._data_dir or cache_dir() / "embedded") / "pki"
            if self._server is None:
                key = _account_key(pki) if self._pki or self._data_dir else None
                self._server = new_server(store=store, garbage=self._garbage, account_key=key)
            self._token = self._kept_token()
            tls = _tls(pki, self._name)
            self._ca = (pki / "ca.crt").read_bytes()
            if self._client_ca is not None:
                tls.load_verify_locations(self._client_ca)
                tls.verify_mode = ssl.CERT_OPTIONAL
                # One that has expired is let in, to be told 401 as by the real server.
                tls.verify_flags |= ssl.VerifyFlags(_NO_CHECK_TIME)
            await self._server.settle()
            known = self._known = self._server.backend.authentication or Authentication()
            known.tokens[self._token] = ADMIN
            front = HttpFront(self._server, known, Address("127.0.0.1", self._port), tls=tls)
            await front.start()
            self._front = front
            # Without an authority of clients it is the one of its certificate: nobody has a key that it signs with.
            client_ca = self._ca if self._client_ca is None else self._client_ca.read_bytes()
            await add_system_objects(self._server, port=front.port, client_ca=client_ca.decode())
            if self._nodes:
                await self._start_workloads(self._server)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop. May be called again."""
        if self._workloads is not None:
            await self._workloads.close()
            self._workloads = None
        if self._server is not None:
            self._server.close()
        if self._front is not None:
            await self._front.close()
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _opened(self) -> Store | None:
        if self._data_dir is None:
            return None
        store, self._journal = open_store(self._data_dir, sync=self._sync)
        return store

    async def _start_workloads(self, server: ApiServer) -> None:
        from kubewright.apiserver.inprocess import in_process_client  # a server without clients starts faster
        from kubewright.testing.workloads import Workloads

        client = in_process_client(server)
        self._workloads = Workloads(client, nodes=self._nodes, root_ca=self._ca.decode())
        await self._workloads.start()

    def _kept_token(self) -> str:
        if self._data_dir is None:
            return secrets.token_urlsafe(32)
        path = self._data_dir / "token"
        if not path.exists():
            write_private(path, secrets.token_urlsafe(32).encode())
        return path.read_text().strip()


class EmbeddedThread:
    """An embedded server on a thread of its own, for programs whose event loop is somebody else's.

    Expected flow: `with EmbeddedThread() as served:`; `served.server` is not to be touched from other threads.
    """

    def __init__(self, make: Callable[[], EmbeddedServer] = EmbeddedServer) -> None:
        self.served = make()
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="embedded API server", daemon=True)

    def __enter__(self) -> EmbeddedServer:
        """Start it and wait until it listens. Raises what `EmbeddedServer.start` raises."""
        self._thread.start()
        if not self._ready.wait(_START_SECONDS):
            raise TimeoutError(f"the embedded API server was not ready within {_START_SECONDS:g} s")
        if self._error is not None:
            raise self._error
        return self.served

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_START_SECONDS)

    def _run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            await self.served.start()
        except BaseException as error:
            self._error = error
            return
        finally:
            self._ready.set()
        await self._stop.wait()
        await self.served.close()


def _tls(folder: Path, name: str) -> ssl.SSLContext:
    """The serving certificate in a folder, made anew where there is none, or one that is old."""
    certificate, key = folder / "serving.crt", folder / "serving.key"
    try:
        is_fresh = key.exists() and time.time() - certificate.stat().st_mtime < _RENEW_SECONDS
    except OSError:
        is_fresh = False
    if not is_fresh:
        _make_certificates(folder, name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError:
        # Two starts at the same moment may have mixed their files.
        _make_certificates(folder, name)
        context.load_cert_chain(certificate, key)
    return context


def _account_key(folder: Path) -> bytes:
    """The key of service account tokens in a folder, made anew where there is none: tokens outlive a start."""
    path = folder / "sa.key"
    if not path.exists():
        from kubewright.testing.certs import service_account_keys

        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        pair = service_account_keys()
        write_private(folder / "sa.pub", pair.certificate)
        write_private(path, pair.key)
    return path.read_bytes()


def _make_certificates(folder: Path, name: str) -> None:
    from kubewright.testing.certs import Authority

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority = Authority.create(f"{name} serving CA")
    pair = authority.serving("kubewright", ("localhost", "kubernetes", "kubernetes.default.svc"), ("127.0.0.1", "::1"))
    write_private(folder / "ca.crt", authority.pair.certificate)
    write_private(folder / "serving.key", pair.key)
    write_private(folder / "serving.crt", pair.certificate)
