"""What a kubeconfig means.

Owns the merge of several of them and the meaning of each field
(https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/, and client-go's tools/clientcmd where that page is
silent). It does not know which files are looked for (`config_sources` does), and only reads: no file is written, no
program is run, no server is asked.

The merge is clientcmd's: for each named entry and for current-context the first file that has it wins; a relative path
is relative to the file that it stands in. What a field asks for and this client cannot do yet is an error that names
the field: to leave a proxy or a credential plug-in out would only fail later, and worse.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from .config import ClientConfig, ConfigError, Impersonation

__all__ = ["KubeConfigError", "merged", "parse"]

T = TypeVar("T")
Content: TypeAlias = Mapping[str, Any]

_UNSUPPORTED_USER = {
    "exec": "use a token, a tokenFile or a client certificate; for EKS, GKE and AKS create a service account token",
    "auth-provider": "use a token, a tokenFile or a client certificate",
    "username": "use a token or a client certificate: basic authentication was removed in Kubernetes 1.19",
    "password": "use a token or a client certificate: basic authentication was removed in Kubernetes 1.19",
}
_UNSUPPORTED_CLUSTER = {"proxy-url": "remove it and use an address that is reached directly"}
_TYPES = {str: "a string", bool: "true or false", list: "a list", dict: "a mapping"}


class KubeConfigError(ConfigError):
    """A kubeconfig, or the search for one, failed; the attributes are those of ConfigError."""


class _Entry(Struct, frozen=True):
    """A named cluster, context or user with the file that it stands in."""

    file: str
    folder: Path
    path: str
    content: Content

    def get(self, key: str, kind: type[T], empty: T) -> T:
        """The value of a field, `empty` if it is absent or null. Raises KubeConfigError for another type."""
        return _typed(self.content, key, kind, empty, self.file, f"{self.path}.{key}")

    def error(self, key: str, value: str, rule: str, cure: str) -> KubeConfigError:
        """An error about a field of this entry."""
        return KubeConfigError(self.file, f"{self.path}.{key}" if key else self.path, value, rule, cure)

    def data(self, key: str) -> bytes | None:
        """The bytes of `<key>-data` (base64), else of the file that `<key>` names, else None."""
        encoded = self.get(f"{key}-data", str, "")
        if encoded:
            try:
                return base64.b64decode("".join(encoded.split()), validate=True)
            except (binascii.Error, ValueError) as error:
                raise self.error(
                    f"{key}-data", "", f"is not base64 ({error})", f"encode the PEM file, or use {key} with its path"
                ) from None
        path = self.file_path(key)
        return None if path is None else self.read(key, path)

    def read(self, key: str, path: Path) -> bytes:
        """The content of the file that a field names."""
        try:
            return path.read_bytes()
        except OSError as error:
            raise self.error(
                key, str(path), f"cannot be read ({error.strerror})", "correct the path or the file's permissions"
            ) from None

    def file_path(self, key: str) -> Path | None:
        """The path that a field holds, relative to the kubeconfig's folder; None if it is not set."""
        path = self.get(key, str, "")
        return self.folder / Path(path).expanduser() if path else None


class _Merged:
    """One or several kubeconfigs as one."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.current_context = ""
        self.clusters: dict[str, _Entry] = {}
        self.contexts: dict[str, _Entry] = {}
        self.users: dict[str, _Entry] = {}

    def add(self, document: object, file: str, folder: Path) -> None:
        """Take in one file's content; what is there already stays."""
        if document is None:  # an empty file
            return
        if not isinstance(document, Mapping):
            raise KubeConfigError(
                file, "", "", f"holds {_said(document)}, not a mapping", "give a kubeconfig (kind: Config)"
            )
        kind = document.get("kind") or "Config"
        if kind != "Config":
            raise KubeConfigError(file, "kind", str(kind), "is not Config", "give a kubeconfig")
        self.current_context = self.current_context or _typed(
            document, "current-context", str, "", file, "current-context"
        )
        for plural, singular, entries in (
            ("clusters", "cluster", self.clusters),
            ("contexts", "context", self.contexts),
            ("users", "user", self.users),
        ):
            seen: set[str] = set()
            for index, item in enumerate(_typed(document, plural, list, [], file, plural)):
                path = f"{plural}[{index}]"
                if not isinstance(item, Mapping):
                    raise KubeConfigError(
                        file, path, "", f"is {_said(item)}, not a mapping", f"give name and {singular}"
                    )
                name = _typed(item, "name", str, "", file, f"{path}.name")
                if not name:
                    raise KubeConfigError(file, f"{path}.name", "", "is missing", "give the entry a name")
                if name in seen:
                    raise KubeConfigError(file, f"{path}.name", name, "stands there twice", "remove one of the two")
                seen.add(name)
                content = _typed(item, singular, dict, {}, file, f"{path}.{singular}")
                entries.setdefault(name, _Entry(file, folder, f"{plural}[{name}].{singular}", content))

    def resolve(self, context: str | None) -> ClientConfig:
        """The configuration of a context, None: of the current one."""
        name = context or self.current_context
        if not name:
            cure = _choices("context", name, self.contexts)
            raise KubeConfigError(self.source, "current-context", "", "is not set", cure)
        entry = self.contexts.get(name)
        if entry is None:
            where = "context" if context else "current-context"
            cure = _choices("context", name, self.contexts)
            raise KubeConfigError(self.source, where, name, "is not among the contexts", cure)
        cluster = self._named(entry, "cluster", self.clusters)
        if cluster is None:
            raise entry.error("cluster", "", "is not set", _choices("cluster", "", self.clusters))
        user = self._named(entry, "user", self.users) or _Entry(entry.file, entry.folder, "users[].user", {})
        return _resolved(cluster, user, entry.get("namespace", str, "") or "default", f"{entry.file} (context {name})")

    def _named(self, entry: _Entry, key: str, entries: Mapping[str, _Entry]) -> _Entry | None:
        name = entry.get(key, str, "")
        if name and name not in entries:
            raise entry.error(key, name, f"is not among the {key}s", _choices(key, name, entries))
        return entries.get(name) if name else None


def _resolved(cluster: _Entry, user: _Entry, namespace: str, source: str) -> ClientConfig:
    for entry, unsupported in ((cluster, _UNSUPPORTED_CLUSTER), (user, _UNSUPPORTED_USER)):
        for key, cure in unsupported.items():
            if entry.content.get(key):
                value = entry.content[key] if key == "proxy-url" else ""
                raise entry.error(key, str(value), "is not supported yet", cure)
    ca_data, insecure = cluster.data("certificate-authority"), cluster.get("insecure-skip-tls-verify", bool, False)
    if insecure and ca_data is not None:
        raise cluster.error(
            "insecure-skip-tls-verify",
            "true",
            "and a certificate authority exclude one another",
            "remove one: with an authority the server's certificate is verified",
        )
    cert_data, key_data = user.data("client-certificate"), user.data("client-key")
    if (cert_data is None) != (key_data is None):
        missing, other = ("client-key", "client-certificate")[:: 1 if key_data is None else -1]
        raise user.error(missing, "", f"is missing, while {other} is set", "set both or none, each by path or as -data")
    for entry, key, data in (
        (cluster, "certificate-authority", ca_data),
        (user, "client-certificate", cert_data),
        (user, "client-key", key_data),
    ):
        if data is not None and b"-----BEGIN " not in data:
            raise entry.error(
                f"{key}-data" if entry.content.get(f"{key}-data") else key,
                str(entry.content.get(key) or ""),
                "holds no PEM block (-----BEGIN ...)",
                "give the certificate or key in PEM form",
            )
    token, token_file = user.get("token", str, ""), user.file_path("tokenFile")
    if token_file is not None and not token:
        user.read("tokenFile", token_file)
    server = cluster.get("server", str, "").rstrip("/")
    if not server:
        raise cluster.error("server", "", "is not set", "give the address of the API server, https://host:port")
    if "://" not in server:
        # clientcmd's rule: what has to do with TLS makes it https.
        server = f"{'https' if ca_data is not None or cert_data is not None or insecure else 'http'}://{server}"
    impersonation = _impersonation(user)
    try:
        return ClientConfig(
            server=server,
            namespace=namespace,
            ca_data=ca_data,
            client_cert_data=cert_data,
            client_key_data=key_data,
            token=token or None,
            token_file=token_file,
            tls_server_name=cluster.get("tls-server-name", str, "") or None,
            insecure=insecure,
            impersonation=impersonation,
            source=source,
        )
    except ConfigError as error:
        raise cluster.error(error.field, error.value, error.rule, error.cure) from None


def _impersonation(user: _Entry) -> Impersonation | None:
    name, uid = user.get("as", str, ""), user.get("as-uid", str, "")
    groups = user.get("as-groups", list, [])
    extra = user.get("as-user-extra", dict, {})
    for key, values in {"as-groups": groups, **{f"as-user-extra.{key}": value for key, value in extra.items()}}.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise user.error(key, "", "is not a list of strings", "give a list of strings")
    if name:
        return Impersonation(name, tuple(groups), uid, {str(key): tuple(values) for key, values in extra.items()})
    for key, value in (("as-uid", uid), ("as-groups", groups), ("as-user-extra", extra)):
        if value:
            raise user.error(key, "", "is set without as", "name the user to impersonate in as")
    return None


def merged(documents: Sequence[tuple[object, str, Path]], source: str, context: str | None) -> ClientConfig:
    """Return the configuration of a context of kubeconfigs, given as (content, file name, folder), first one first.

    `source` names them all in errors that are about none of them. Raises KubeConfigError.
    """
    result = _Merged(source)
    for document, file, folder in documents:
        result.add(document, file, folder)
    return result.resolve(context)


def parse(text: str | bytes, file: str) -> object:
    """Return the content of a kubeconfig's text (YAML, so JSON as well). Raises KubeConfigError with the line."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, loader)  # noqa: S506  (it is one of the safe loaders)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise KubeConfigError(
            file, where, "", f"is not YAML: {error.problem or error.context}", "correct the file"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise KubeConfigError(
            file, "", "", f"is not YAML: {' '.join(str(error).split())}", "correct the file"
        ) from None


def _typed(content: Content, key: str, kind: type[T], empty: T, file: str, path: str) -> T:
    value = content.get(key)
    if value is None:
        return empty
    if not isinstance(value, kind):
        cure = f'put it in quotes: {key}: "..."' if kind is str else f"give {_TYPES[kind]}"
        raise KubeConfigError(file, path, "", f"is {_said(value)}, not {_TYPES[kind]}", cure)
    return value


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return _TYPES.get(type(value), f"a {type(value).__name__}")


def _choices(noun: str, name: str, entries: Mapping[str, _Entry]) -> str:
    if not entries:
        return f"there are no {noun}s: is this the right kubeconfig?"
    import difflib  # only where something is wrong

    close = difflib.get_close_matches(name, entries, n=1)
    meant = f"did you mean {close[0]}? " if close else ""
    return f"{meant}choose one of: {', '.join(sorted(entries))}"
