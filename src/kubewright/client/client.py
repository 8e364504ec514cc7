"""`Client`: the verbs of the Kubernetes API over any model type.

Owns how a client is made, derived and closed, and the way out for requests that no verb covers (`raw`). The verbs are
in `reads` and `writes`.

There is one API for every kind: generated classes, your own, and those of `unstructured(...)`; what it returns has the
type of what it was given. All calls go to the server. A client has no cache, no background task and no state that a
caller could observe but its defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

from ..model import Model
from ..model.codec import encode_value
from ..observe.instruments import RequestMetrics
from .calls import ACCEPT, JSON
from .config import ClientConfig
from .discovery import Discovery
from .http import HttpClient
from .options import Defaults, FieldValidation
from .paths import InvalidRequest
from .reads import Reads
from .transport import Headers, Response
from .writes import Writes

__all__ = ["Client"]


class Client(Reads, Writes):
    """A client of one API server.

    ```python
    async with Client.connect() as client:
        web = await client.get(Web, "a", namespace="prod")
        await client.patch(web, MergePatch({"spec": {"replicas": 3}}))
    ```

    Expected flow: make one, use it from any number of tasks of one event loop, close it last. `with_options` gives
    clients with other defaults on the same connections.

    Args:
        http: the requests, with credentials and retries.
        namespace: where a namespaced object is that does not say it.
        field_manager: the name under which fields are owned; `apply` needs one.
        dry_run: nothing is persisted by any write.
        field_validation: what becomes of unknown fields; the server's own default is to warn.

    Guarantees: G1 nothing is sent before the first call. G2 a call whose arguments cannot be meant is refused before it
    is sent (InvalidRequest). G3 objects that are passed in are not changed.

    Cancellation: a cancelled write may or may not have been carried out; a cancelled read leaves nothing behind.
    """

    __slots__ = ()

    def __init__(
        self,
        http: HttpClient,
        *,
        namespace: str = "default",
        field_manager: str | None = None,
        dry_run: bool = False,
        field_validation: FieldValidation | None = None,
    ) -> None:
        super().__init__(http, namespace, Defaults(dry_run, field_manager, field_validation))

    @classmethod
    def connect(
        cls,
        config: ClientConfig | None = None,
        *,
        namespace: str | None = None,
        field_manager: str | None = None,
        dry_run: bool = False,
        field_validation: FieldValidation | None = None,
        metrics: RequestMetrics | None = None,
    ) -> Client:
        """A client of the server that `config` names; without one, of that of the kubeconfig or the pod.

        Nothing is sent and no connection is made: the first call does. `namespace` is that of the configuration unless
        given; `metrics` counts its requests. Raises what `ClientConfig.load` raises.
        """
        config = config or ClientConfig.load()
        return cls(
            HttpClient(config, metrics=metrics),
            namespace=namespace or config.namespace,
            field_manager=field_manager,
            dry_run=dry_run,
            field_validation=field_validation,
        )

    def with_options(
        self,
        *,
        namespace: str | None = None,
        field_manager: str | None = None,
        dry_run: bool | None = None,
        field_validation: FieldValidation | None = None,
    ) -> Client:
        """A client with other defaults on the same connections; None leaves one as it is.

        Closing it does nothing: the connections are those of the client it was made from.
        """
        old = self._defaults
        derived = object.__new__(type(self))
        Reads.__init__(
            derived,
            self._http,
            namespace or self._namespace,
            Defaults(
                old.dry_run if dry_run is None else dry_run,
                field_manager or old.field_manager,
                field_validation or old.field_validation,
            ),
            self._discovery,
            self._paths,
        )
        return derived

    def over(self, http: HttpClient) -> Client:
        """This client, with its options and what it knows of the server, making its requests by `http`.

        Closing it does nothing; what the server serves is asked for on the old way.
        """
        derived = self.with_options()
        derived._http = http
        return derived

    def observed(self, metrics: RequestMetrics) -> Client:
        """This client, on the same connections, with its requests counted by `metrics`. Closing it does nothing."""
        derived = self.over(self._http.observed(metrics))
        derived._discovery = self._discovery.through(derived._http)
        return derived

    @property
    def namespace(self) -> str:
        """Where a namespaced object is that does not say it."""
        return self._namespace

    @property
    def field_manager(self) -> str | None:
        """The name under which this client's writes own fields, unless a call gives another."""
        return self._defaults.field_manager

    @property
    def http(self) -> HttpClient:
        """The requests underneath."""
        return self._http

    @property
    def discovery(self) -> Discovery:
        """What the server was found to serve."""
        return self._discovery

    async def raw(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Headers | None = None,
        body: bytes | Mapping[str, Any] | Model | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        """A request that no verb covers: `await client.raw("GET", "/version")`. The client's options do not apply.

        Args:
            path: already percent-encoded, and without a query.
            body: sent as it is when it is bytes, else as JSON.
            headers: instead of those for JSON.

        Raises:
            InvalidRequest: the path does not start with `/`, or has a query in it.
            ApiError (an answer that is not 2xx), TransportError.
        """
        if not path.startswith("/") or "?" in path or "#" in path:
            raise InvalidRequest("path", path, "is not a path that starts with '/', without a query", "use query=")
        if query:
            path += "?" + urlencode(query)
        sent = body if body is None or isinstance(body, bytes) else encode_value(body)
        if headers is None:
            headers = ACCEPT if sent is None else JSON
        return await self._http.request(method, path, headers=headers, body=sent, timeout_seconds=timeout_seconds)

    async def close(self) -> None:
        """Close the connections; calls that are under way end with TransportClosed. May be called again."""
        if self._owns_http:
            await self._http.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
