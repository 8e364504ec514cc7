"""Health checks, and what `/healthz` and `/readyz` say of them, in the words of Kubernetes' own components.

Owns names, outcomes and texts; no sockets. The API server has the same pages
(https://kubernetes.io/docs/reference/using-api/health-checks/), and controller-runtime writes them like this:

    GET /readyz                     200 `ok`, or 500 with one line a check
    GET /readyz?verbose             one line a check in either case
    GET /readyz?exclude=caches      as if that check did not exist; may be repeated
    GET /readyz/caches              that check alone; 404 if there is none

    [+]ping ok
    [-]caches failed: reason withheld
    healthz check failed

Why a check fails is not for everybody who can reach the port: it is in the log.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from kubewright import httpd

__all__ = ["OWN_HEALTH", "OWN_READY", "Check", "Health", "check_names", "ping"]

logger = logging.getLogger(__name__)

CHECK_SECONDS = 5.0

Check = Callable[[], Awaitable[None] | None]
"""Returns when all is well, else raises; the text is for the log. One that takes longer than 5 s has failed."""


OWN_HEALTH = ("ping", "leaderElection")
OWN_READY = ("caches",)
"""The checks that every manager has."""


def check_names(health: Mapping[str, Check], ready: Mapping[str, Check]) -> None:
    """Raises ValueError when a name is taken by a check of the manager, or cannot be part of a path."""
    for path, own, checks in (("/healthz", OWN_HEALTH, health), ("/readyz", OWN_READY, ready)):
        there = Health(path, **dict.fromkeys(own, ping))
        for name, check in checks.items():
            there.add(name, check)


def ping() -> None:
    """Well, as long as there is somebody to ask."""


class Health:
    """The checks behind one path.

    Guarantees: a check that raises, or does not end, fails that check and nothing else.
    """

    def __init__(self, path: str, **checks: Check) -> None:
        self.path = path
        self._checks: dict[str, Check] = dict(checks)
        self._failing: frozenset[str] = frozenset()

    def add(self, name: str, check: Check) -> None:
        """One more check. Raises ValueError when the name is taken, or cannot be part of a path."""
        if name in self._checks:
            raise ValueError(f"check {name!r}: the name is taken on {self.path}; choose another one")
        if not name or not name.isascii() or not all(char.isalnum() or char in "-_." for char in name):
            raise ValueError(f"check {name!r}: must be letters, digits, '-', '_' and '.', as it is part of a path")
        self._checks[name] = check

    async def problems(self) -> dict[str, str]:
        """Why each check that fails does; what is not for everybody who can reach the port."""
        return await self._problems(self._checks)

    async def answer(self, request: httpd.Request) -> httpd.Answer:
        """What the page says; `request.path` begins with `path`."""
        checks = self._checks or {"ping": ping}
        name = request.path.removeprefix(self.path).strip("/")
        if name:
            return await self._one(name, checks.get(name))
        query = parse_qsl(request.query, keep_blank_values=True)
        excluded = {value for key, value in query if key == "exclude" and value}
        asked = {name: check for name, check in checks.items() if name not in excluded}
        problems = await self._problems(asked)
        if not problems and all(key != "verbose" for key, _ in query):
            return httpd.Answer(200, b"ok")
        lines = [_line(name, name in excluded, name in problems) for name in sorted(checks)]
        unknown = sorted(excluded - checks.keys())
        if unknown:
            names = ",".join(f'"{name}"' for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
        lines.append("healthz check failed" if problems else "healthz check passed")
        return httpd.Answer.text(500 if problems else 200, "\n".join(lines))

    async def _one(self, name: str, check: Check | None) -> httpd.Answer:
        if check is None:
            return httpd.Answer.text(404, "404 page not found")
        problems = await self._problems({name: check})
        if name in problems:
            return httpd.Answer.text(500, "internal server error: reason withheld")
        return httpd.Answer(200, b"ok")

    async def _problems(self, checks: dict[str, Check]) -> dict[str, str]:
        outcomes = await asyncio.gather(*map(_outcome, checks.values()))
        problems = {name: text for name, text in zip(checks, outcomes, strict=True) if text is not None}
        for name in problems.keys() - self._failing:
            logger.info("%s: check %s fails: %s", self.path, name, problems[name])
        for name in self._failing & checks.keys() - problems.keys():
            logger.info("%s: check %s passes again", self.path, name)
        self._failing = self._failing - checks.keys() | problems.keys()
        return problems


async def _outcome(check: Check) -> str | None:
    """Why it fails; None when all is well."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            outcome = check()
            if inspect.isawaitable(outcome):
                await outcome
    except TimeoutError as error:
        return str(error) or f"did not end within {CHECK_SECONDS:g} s"
    except Exception as error:
        return str(error) or type(error).__name__
    return None


def _line(name: str, is_excluded: bool, fails: bool) -> str:
    if is_excluded:
        return f"[+]{name} excluded: ok"
    return f"[-]{name} failed: reason withheld" if fails else f"[+]{name} ok"
