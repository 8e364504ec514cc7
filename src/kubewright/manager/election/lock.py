"""The requests of an election on the wire: Leases of coordination.k8s.io/v1.

Owns paths, bodies, and which answer means what. It decides nothing and tries nothing again: `Election` does, which is
why its `HttpClient` must have no retries of its own (`no_retries`).
"""

from __future__ import annotations

from urllib.parse import quote

import orjson
from msgspec.structs import replace

from kubewright.client import (
    AlreadyExists,
    ApiError,
    ClientConfig,
    ConfigError,
    Conflict,
    HttpClient,
    NotFound,
    TransportError,
)
from kubewright.client.errors import ResourceTypeNotFound
from kubewright.client.http import RetryPolicy
from kubewright.client.transport import Transport

from .settings import LeaderElection
from .steps import Answer, Create, Failed, Found, Get, Missing, Request

__all__ = ["LeaseLock", "election_http"]

_HEADERS = (("accept", "application/json"), ("content-type", "application/json"))


def election_http(config: ClientConfig, transport: Transport | None = None) -> HttpClient:
    """A client for elections only: no retries, and known by its user agent, as client-go's."""
    config = replace(config, user_agent=f"{config.user_agent}/leader-election")
    return HttpClient(config, transport, retry=RetryPolicy(max_tries=0))


class LeaseLock:
    """Sends the requests of one election."""

    def __init__(self, http: HttpClient, settings: LeaderElection) -> None:
        """`settings` with name and namespace."""
        assert settings.name is not None
        assert settings.namespace is not None
        self._http = http
        self._seconds = settings.request_seconds
        self._leases = f"/apis/coordination.k8s.io/v1/namespaces/{quote(settings.namespace, safe='')}/leases"
        self._lease = f"{self._leases}/{quote(settings.name, safe='')}"

    async def perform(self, request: Request) -> Answer:
        """The answer to a request. What went wrong is an answer too; nothing is raised."""
        if isinstance(request, Get):
            method, target, body = "GET", self._lease, None
        elif isinstance(request, Create):
            method, target, body = "POST", self._leases, orjson.dumps(request.lease)
        else:
            method, target, body = "PUT", self._lease, orjson.dumps(request.lease)
        try:
            response = await self._http.request(
                method, target, headers=_HEADERS, body=body, timeout_seconds=self._seconds
            )
            return Found(orjson.loads(response.body))
        except (Conflict, AlreadyExists) as error:
            return Failed(str(error), conflict=True)
        except NotFound as error:
            # On a create it is the namespace that is missing, or the kind.
            gone = not isinstance(request, Create) and not isinstance(error, ResourceTypeNotFound)
            return Missing() if gone else Failed(str(error))
        except (ApiError, TransportError, ConfigError) as error:
            return Failed(str(error))
        except ValueError as error:
            return Failed(f"{method} {target}: the answer is no Lease: {error}")
