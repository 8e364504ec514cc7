"""Where the API server is and who we are: `ClientConfig`.

Owns the value, what follows from it (the TLS context, the impersonation headers, the words for the credentials) and
what must hold between its fields. It does not know the formats that it is read from (`kubeconfig` does), nor when a
token is read again (`auth` does).

Secrets: `repr()` shows that one is set, never which. Certificate data stays in memory: the CA is given to OpenSSL as
text, and the client certificate, which `ssl` takes from files only, through an anonymous file in memory where there
is one (Linux), else through a temporary file for its owner only that is gone before the call returns.

Trust is Go's: any certificate in the CA data is an anchor, intermediate or not, and names are looked for in the subject
alternative names only. Kubernetes certificates are made for that, and Python's strict mode refuses many of them.
"""

from __future__ import annotations

import os
import platform
import ssl
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from msgspec import Struct, field

from kubewright._version import __version__

from .der import not_after
from .trust import load_authorities, new_client_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

__all__ = ["ClientConfig", "ConfigError", "Impersonation"]

_HEADER_NAME_MARKS = "!#$&'*+-.^_`|~"  # RFC 9110, 5.6.2, without the percent sign
_SECRET = frozenset({"client_key_data", "token"})
_DATA = frozenset({"ca_data", "client_cert_data"})


class ConfigError(Exception):
    """The configuration of a client is wrong. `str()` is one line: where, which field, its value, the rule, the cure.

    `source` is the file or where else it comes from, `field` the path in it, `value` what stands there ("" if it is
    secret or absent), `rule` what it breaks, `cure` what to do.
    """

    def __init__(self, source: str, field: str, value: str, rule: str, cure: str) -> None:
        super().__init__(source, field, value, rule, cure)
        self.source = source
        self.field = field
        self.value = value
        self.rule = rule
        self.cure = cure

    def __str__(self) -> str:
        value = f" {self.value!r}" if self.value else ""
        where = f"{self.source}: {self.field}" if self.field else self.source
        return f"{where}:{value} {self.rule}; {self.cure}"


class Impersonation(Struct, frozen=True):
    """Ask as somebody else (https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/)."""

    user: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The request headers that say so."""
        found = [("Impersonate-User", self.user)]
        if self.uid:
            found.append(("Impersonate-Uid", self.uid))
        found += (("Impersonate-Group", group) for group in self.groups)
        for key, values in self.extra.items():
            # What a header name may not hold is percent-encoded, as the server decodes it.
            name = "Impersonate-Extra-" + quote(key, safe=_HEADER_NAME_MARKS)
            found += ((name, value) for value in values)
        return tuple(found)


class ClientConfig(Struct, frozen=True, kw_only=True, dict=True):
    """How to reach an API server. Made by `load`, `from_kubeconfig`, `in_cluster`, or field by field.

    Attributes:
        server: "https://host[:port][/path]"; a path is put before that of each request.
        namespace: where namespaced calls go that do not say.
        ca_data: PEM of the authorities to trust; None: those of the system.
        client_cert_data, client_key_data: PEM of the client certificate; both or none.
        token: bearer token; with `token_file` too, the one to use until the file can be read.
        token_file: file with the token, read again every minute.
        tls_server_name: the name that the server's certificate must hold, if it is not the host.
        insecure: take any certificate. Not with `ca_data`.
        gzip: ask for compressed answers; of use over slow networks only (see http1_request).
        source: where this was read from, for messages.

    Raises ConfigError for fields that do not go together.
    """

    server: str
    namespace: str = "default"
    ca_data: bytes | None = None
    client_cert_data: bytes | None = None
    client_key_data: bytes | None = None
    token: str | None = None
    token_file: Path | None = None
    tls_server_name: str | None = None
    insecure: bool = False
    impersonation: Impersonation | None = None
    user_agent: str = field(default_factory=lambda: default_user_agent())
    gzip: bool = False
    source: str = "the program's own ClientConfig"

    def __post_init__(self) -> None:
        parts = urlsplit(self.server)
        try:
            sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            sound = False
        if not sound or parts.username is not None or parts.query or parts.fragment:
            raise self._error(
                "server", self.server, "is not a URL of the form https://host[:port][/path]", "correct the address"
            )
        if self.insecure and self.ca_data is not None:
            raise self._error(
                "insecure",
                "true",
                "and certificate authority data exclude one another",
                "remove one: with an authority the server's certificate is verified",
            )
        if (self.client_cert_data is None) != (self.client_key_data is None):
            missing = "client_key_data" if self.client_key_data is None else "client_cert_data"
            raise self._error(missing, "", "is missing: a client certificate needs its key", "set both or none")

    @classmethod
    def load(
        cls,
        kubeconfig: str | os.PathLike[str] | None = None,
        context: str | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> ClientConfig:
        """Find the configuration where controller-runtime does, in this order:

        1. `kubeconfig`, which must exist;
        2. the files of the environment variable KUBECONFIG, merged;
        3. the service account of the pod we run in, unless a `context` is asked for;
        4. ~/.kube/config.

        `environ` is the environment to look into, by default the process's. Raises ConfigError.
        """
        from .config_sources import load

        return load(kubeconfig, context, os.environ if environ is None else environ)

    @classmethod
    def from_kubeconfig(
        cls, source: str | os.PathLike[str] | Mapping[str, Any], context: str | None = None
    ) -> ClientConfig:
        """Read one kubeconfig: a path, or its text (a `str` with a newline), or its content as a mapping.

        Raises ConfigError.
        """
        from .config_sources import from_kubeconfig

        return from_kubeconfig(source, context)

    @classmethod
    def in_cluster(
        cls,
        *,
        environ: Mapping[str, str] | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> ClientConfig:
        """Use the service account of the pod we run in, mounted at `folder`. Raises ConfigError if there is none."""
        from .config_sources import in_cluster

        return in_cluster(os.environ if environ is None else environ, folder)

    @cached_property
    def client_certificate_expires_at(self) -> datetime | None:
        """Until when the client certificate is valid, in UTC; None if there is none, or it cannot be read."""
        if self.client_cert_data is None:
            return None
        try:
            return not_after(self.client_cert_data)
        except ValueError:
            return None

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        """What is likely to fail or to be unsafe, one line each."""
        found = []
        expired = self._expired(now)
        if expired:
            found.append(f"{self.source}: the client certificate {expired}; renew it")
        if self.insecure:
            found.append(f"{self.source}: insecure-skip-tls-verify is set: anybody can pose as {self.server}")
        return tuple(found)

    def credentials(self, now: datetime | None = None) -> str:
        """The credentials in words, such as "client certificate (it was valid until ...)"; never a secret."""
        if self.token_file is not None:
            return f"bearer token in {self.token_file}"
        if self.token is not None:
            return f"bearer token of {self.source}"
        if self.client_cert_data is not None:
            expired = self._expired(now)
            return f"client certificate of {self.source}" + (f" (it {expired})" if expired else "")
        return f"absence of any credentials (anonymous) in {self.source}"

    def ssl_context(self) -> ssl.SSLContext | None:
        """A new context for this server, None for http. Raises ConfigError for certificates that cannot be used."""
        if urlsplit(self.server).scheme == "http":
            return None
        context = new_client_context()
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        else:
            try:
                load_authorities(context, self.ca_data)
            except (ssl.SSLError, ValueError) as error:
                raise self._error(
                    "certificate-authority(-data)",
                    "",
                    f"holds no usable certificate ({error})",
                    "give one or more certificates in PEM form",
                ) from error
        if self.client_cert_data is not None and self.client_key_data is not None:
            try:
                with _as_file(self.client_cert_data + b"\n" + self.client_key_data) as path:
                    # Without this call-back OpenSSL would ask for the password of an encrypted key on the terminal.
                    context.load_cert_chain(path, password=lambda: b"")
            except (ssl.SSLError, OSError, ValueError) as error:
                rule = "do not match" if getattr(error, "reason", "") == "KEY_VALUES_MISMATCH" else "cannot be used"
                raise self._error(
                    "client-certificate(-data), client-key(-data)",
                    "",
                    f"{rule} ({getattr(error, 'reason', None) or error})",
                    "give a certificate and its unencrypted key, both in PEM form",
                ) from error
        return context

    def __repr__(self) -> str:
        shown = []
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is None:
                continue
            if name in _SECRET:
                text = "***"
            elif name in _DATA:
                text = f"<{len(value)} bytes>"
            else:
                text = repr(value)
            shown.append(f"{name}={text}")
        return f"ClientConfig({', '.join(shown)})"

    def _expired(self, now: datetime | None) -> str:
        from datetime import UTC, datetime

        until = self.client_certificate_expires_at
        if until is None or until > (now or datetime.now(UTC)):
            return ""
        return f"was valid until {until:%Y-%m-%d %H:%M:%S} UTC"

    def _error(self, field: str, value: str, rule: str, cure: str) -> ConfigError:
        return ConfigError(self.source, field, value, rule, cure)


def default_user_agent() -> str:
    """The User-Agent header. Its part before "/" is what the server takes for a field manager that is not given."""
    return f"kubewright/{__version__} ({sys.platform}/{platform.machine()}) python/{platform.python_version()}"


@contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """A path under which OpenSSL finds `data` while the context lasts, and nobody after."""
    memfd_create = getattr(os, "memfd_create", None)
    if memfd_create is not None and os.path.isdir("/proc/self/fd"):
        descriptor = memfd_create("kubewright", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, data)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    import tempfile  # only where there are no files in memory

    descriptor, path = tempfile.mkstemp(prefix="kubewright-")  # mode 0600
    try:
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
        yield path
    finally:
        os.unlink(path)
