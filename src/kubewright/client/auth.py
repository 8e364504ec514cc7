"""The headers that say who asks.

Owns the bearer token's life: bound service account tokens are replaced in their file after 80 % of their hour
(https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/), so the file is read again every
minute, as client-go does. A file that cannot be read is not an error as long as there is a token: the last good one
stays. It knows no request and no answer; who gets a 401 calls `refresh`.

The file is read by the caller's thread: it is some hundred bytes in memory (tmpfs), once a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .config import ClientConfig, ConfigError

__all__ = ["TOKEN_FILE_SECONDS", "Auth"]

TOKEN_FILE_SECONDS = 60.0
"""How long a token that was read from a file is used before the file is read again: client-go's period."""


class Auth:
    """The authorization and impersonation headers of one configuration. `now` is seconds on any steady clock.

    Caveats: values change under the caller only in `headers` and `refresh`, so one call's headers are of one token.
    """

    __slots__ = ("_config", "_headers", "_impersonation", "_read", "_read_at", "_token")

    def __init__(self, config: ClientConfig, *, read: Callable[[Path], str] = Path.read_text) -> None:
        self._config = config
        self._read = read
        self._impersonation = config.impersonation.headers() if config.impersonation else ()
        self._token = config.token
        self._read_at: float | None = None
        self._headers = self._built()

    def headers(self, now: float) -> tuple[tuple[str, str], ...]:
        """The headers to send; the same tuple until the token changes.

        Raises ConfigError if the token file cannot be read and there was never a token.
        """
        if self._config.token_file is not None and (self._read_at is None or now - self._read_at >= TOKEN_FILE_SECONDS):
            self._read_token(self._config.token_file, now)
        return self._headers

    def refresh(self, now: float) -> bool:
        """Read the token file now, as the server refused the token; return whether there is another one."""
        if self._config.token_file is None:
            return False
        before = self._token
        self._read_token(self._config.token_file, now)
        return self._token != before

    def _read_token(self, path: Path, now: float) -> None:
        cause = "is empty"
        try:
            token = self._read(path).strip()
        except (OSError, UnicodeDecodeError) as error:
            token = ""
            cause = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        self._read_at = now
        if token and token != self._token:
            self._token = token
            self._headers = self._built()
        if not self._token:
            self._read_at = None
            raise ConfigError(
                self._config.source, "token file", str(path), cause, "is the service account's token mounted there?"
            )

    def _built(self) -> tuple[tuple[str, str], ...]:
        bearer = (("Authorization", f"Bearer {self._token}"),) if self._token else ()
        return bearer + self._impersonation
