"""Where the input comes from: a server, a file, a folder, or standard input.

A file may be JSON or YAML, and hold one document or many: OpenAPI v3 documents, CustomResourceDefinitions, lists of
them, and anything else, which is passed over (installation bundles have Deployments beside their CRDs).

How to reach a server that asks for credentials is not known here: `fetch` is given. Without it a server is read with
plain HTTP(S), which is enough for `kubectl proxy`.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from ..model.documents import DocumentError, read_documents
from .crd import is_crd
from .definitions import GenerateError
from .openapi import is_openapi

__all__ = ["Documents", "Fetch", "load_documents"]

Fetch: TypeAlias = Callable[[str], bytes]
"""Path with query (`/openapi/v3`) to the body of the answer."""

_SUFFIXES: Final = (".json", ".yaml", ".yml")
_INDEX: Final = "/openapi/v3"
_TIMEOUT_SECONDS: Final = 30.0


@dataclass
class Documents:
    """What was read: OpenAPI v3 documents and CustomResourceDefinitions, as decoded JSON."""

    openapi: list[dict[str, Any]] = field(default_factory=list)
    crds: list[dict[str, Any]] = field(default_factory=list)

    def take(self, document: Any) -> None:
        """Keep a document that models can be made of; of a list, its items."""
        if is_openapi(document):
            self.openapi.append(document)
        elif is_crd(document):
            self.crds.append(document)
        elif isinstance(document, dict) and str(document.get("kind", "")).endswith("List"):
            for item in document.get("items") or ():
                # The items of a typed list do not repeat its kind.
                self.take({"kind": str(document["kind"])[:-4], "apiVersion": document.get("apiVersion"), **item})


def load_documents(source: str | Path, *, fetch: Fetch | None = None) -> Documents:
    """Read `source`.

    Args:
        source: an address (`https://...`), a file, a folder (read with all below it), or `-` for standard input.
        fetch: how to read a path of the server; `source` is then only a name for messages, when it is an address.

    Raises:
        GenerateError: cannot be read, is not JSON or YAML, or has neither an OpenAPI v3 document nor a CRD.
    """
    documents = Documents()
    text = str(source)
    if text.startswith(("http://", "https://")):
        for document in _of_server(text.rstrip("/"), fetch or _plain(text.rstrip("/"))):
            documents.take(document)
    else:
        for name, data in _of_files(text):
            for document in _parse(name, data):
                documents.take(document)
    if not documents.openapi and not documents.crds:
        raise GenerateError(
            f"{text}: has no OpenAPI v3 document and no CustomResourceDefinition; "
            "try `kubectl get crd -o yaml`, or the address of a server"
        )
    return documents


def _of_files(source: str) -> Iterator[tuple[str, bytes]]:
    if source == "-":
        yield "standard input", sys.stdin.buffer.read()
        return
    path = Path(source)
    paths = [path]
    if path.is_dir():
        paths = sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES and each.is_file())
    for each in paths:
        try:
            yield str(each), each.read_bytes()
        except OSError as error:
            raise GenerateError(f"{each}: cannot be read: {error.strerror}") from None


def _parse(name: str, data: bytes) -> Iterator[Any]:
    try:
        for document in read_documents(data):
            yield document.value
    except DocumentError as error:
        raise GenerateError(f"{name}:{error.line}: {error.rule}") from None
    except RecursionError:
        raise GenerateError(f"{name}: is nested too deeply") from None


def _of_server(address: str, fetch: Fetch) -> Iterator[Any]:
    index = _json(address, _INDEX, fetch(_INDEX))
    paths = index.get("paths") if isinstance(index, dict) else None
    if not isinstance(paths, dict):
        raise GenerateError(f"{address}{_INDEX}: is not an index of OpenAPI v3 documents; the server may be too old")
    for name in sorted(paths):
        if name == "api/v1" or (name.startswith("apis/") and name.count("/") == 2):
            path = paths[name]["serverRelativeURL"]
            yield _json(address, path, fetch(path))


def _json(address: str, path: str, data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise GenerateError(f"{address}{path}: the answer is not JSON: {error}") from None


def _plain(address: str) -> Fetch:
    def fetch(path: str) -> bytes:
        try:
            with urllib.request.urlopen(f"{address}{path}", timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
                body: bytes = answer.read()
                return body
        except urllib.error.HTTPError as error:
            with error:
                raise GenerateError(
                    f"{address}{path}: {error.code} {error.reason}; where the server asks for credentials, "
                    "use a kubeconfig or `kubectl proxy`"
                ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise GenerateError(f"{address}{path}: {reason}; check the address") from None

    return fetch
