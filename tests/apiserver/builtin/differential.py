"""One write, on the strategies of the built-in kinds and on a real server.

`create` and `update` do what the generic registry does around a strategy, and no more: enough to compare the object
that would be stored, or the errors. `Real` asks the server with `dryRun=All`, so that nothing stays.
"""

from __future__ import annotations

import copy
import json
import re
import ssl
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kubewright.apiserver.builtin import builtin_catalog
from kubewright.apiserver.catalog import Catalog, ResourceType
from kubewright.apiserver.errors import StatusError, bad_request, invalid
from kubewright.apiserver.strategy import Context, Malformed

UID = "00000000-0000-4000-8000-000000000000"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CATALOG: Catalog = builtin_catalog()

Object = dict[str, Any]


def kind_of(obj: Object) -> ResourceType:
    found = CATALOG.of_kind(obj["apiVersion"], obj["kind"])
    assert found is not None, (obj["apiVersion"], obj["kind"])
    return found


def context(**options: Any) -> Context:
    return Context(now=NOW, new_uid=lambda: UID, new_suffix=lambda: "abcde", **options)


def decoded(obj: Object) -> Object:
    kind = kind_of(obj)
    made = copy.deepcopy(obj)
    try:
        kind.strategy.decode(made)
    except Malformed as error:
        said = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {error}'
        raise bad_request(said) from None
    kind.strategy.default(made)
    return made


def create(obj: Object, namespace: str = "default") -> Object:
    """The object as it would be stored. Raises StatusError."""
    kind, made = kind_of(obj), decoded(obj)
    strategy, meta = kind.strategy, made["metadata"]
    if kind.namespaced:
        meta.setdefault("namespace", namespace)
    meta["uid"], meta["creationTimestamp"] = UID, "2026-01-02T03:04:05Z"
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = f"{meta['generateName']}abcde"
    asked = context(is_dry_run=True)
    strategy.prepare_create(made, asked)
    errors = strategy.metadata_errors(meta, namespaced=kind.namespaced) + strategy.validate_create(made, asked)
    if errors:
        raise invalid(kind, meta.get("name", ""), errors)
    return made


def update(old: Object, obj: Object) -> Object:
    """The changed object as it would be stored. Raises StatusError."""
    kind, made = kind_of(obj), decoded(obj)
    strategy, meta = kind.strategy, made["metadata"]
    for name in ("uid", "creationTimestamp", "namespace", "generation"):
        meta.pop(name, None)
        if name in old["metadata"]:
            meta[name] = old["metadata"][name]
    asked = context()
    strategy.prepare_update(made, old, asked)
    errors = strategy.metadata_update_errors(meta, old["metadata"]) + strategy.validate_update(made, old, asked)
    if errors:
        raise invalid(kind, meta.get("name", ""), errors)
    return made


def answer(call: Any, *arguments: Any) -> tuple[int, Object]:
    """Code and body, as over HTTP."""
    try:
        return 200, call(*arguments)
    except StatusError as error:
        return error.code, error.status


class Real:
    """A real server, as administrator."""

    def __init__(self, url: str, pki: Path) -> None:
        self._url = url
        self._context = ssl.create_default_context(cafile=str(pki / "serving-ca.crt"))
        self._context.load_cert_chain(str(pki / "admin.crt"), str(pki / "admin.key"))

    def send(
        self, method: str, path: str, body: Any = None, *, media: str = "application/json", accept: str = ""
    ) -> tuple[int, Object]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": media, "Accept": accept or "application/json"}
        request = urllib.request.Request(f"{self._url}{path}", data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=30) as answered:
                return answered.status, json.loads(answered.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def warnings(self, path: str, body: Any) -> list[str]:
        """The Warning headers of the answer to a POST. The answer has to be one of success."""
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self._url}{path}", data=json.dumps(body).encode(), method="POST", headers=headers
        )
        with urllib.request.urlopen(request, context=self._context, timeout=30) as answered:
            return answered.headers.get_all("Warning") or []

    def create(self, obj: Object, namespace: str = "default", *, dry_run: bool = True) -> tuple[int, Object]:
        kind = kind_of(obj)
        query = "?dryRun=All" if dry_run else ""
        return self.send("POST", collection(kind, namespace) + query, obj)

    def update(self, obj: Object, namespace: str = "default") -> tuple[int, Object]:
        kind = kind_of(obj)
        return self.send("PUT", f"{collection(kind, namespace)}/{obj['metadata']['name']}?dryRun=All", obj)


def collection(kind: ResourceType, namespace: str) -> str:
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    return f"{root}/namespaces/{namespace}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"


_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
_ADDRESS = re.compile(r"\b10\.(0|96)\.\d+\.\d+(/\d+)?\b")


def normalized(value: Any) -> Any:
    """A stored object, or what is said of one, without what differs from run to run."""
    if isinstance(value, dict):
        made = {name: normalized(each) for name, each in value.items()}
        if "metadata" in made and "kind" in made and isinstance(made["metadata"], dict):
            meta = made["metadata"]
            for name in ("uid", "creationTimestamp", "managedFields", "resourceVersion", "namespace"):
                meta.pop(name, None)
            if "generateName" in meta:
                meta["name"] = "<generated>"
        return made
    if isinstance(value, list):
        return [normalized(each) for each in value]
    if isinstance(value, str):
        return _ADDRESS.sub("<address>", _TIME.sub("<time>", _UID.sub("<uid>", value)))
    return value


def comparable(answered: tuple[int, Object]) -> Any:
    """What has to be equal: the object, or what a Status says."""
    code, body = answered
    if body.get("kind") == "Status":
        causes = (body.get("details") or {}).get("causes", [])
        return code, body.get("reason", ""), normalized(body.get("message", "")), normalized(causes)
    return "object", normalized(body)
