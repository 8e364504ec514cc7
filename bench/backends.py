"""The API servers that operators are measured on: a real one, and a stub that costs next to nothing.

Both are given by a kubeconfig and can say what an operator asked of them. The stub counts by who sent a request. A real
API server counts by verb and resource only: there the load's own requests are taken off, and what concerns other
resources than the benchmark's is left out.
"""

from __future__ import annotations

import base64
import contextlib
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from ssl import create_default_context
from typing import Protocol

import orjson
import yaml

from kubewright.testing import ControlPlane

from . import programs
from .load import Credentials

RESOURCES = ("widgets", "configmaps")
_COUNTER = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.M)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class Backend(Protocol):
    """An API server with the CRD installed."""

    name: str
    version: str
    kubeconfig: Path

    def requests(self) -> dict[str, int]:
        """What operators asked for since the start, `verb resource` to count."""
        ...

    def is_own(self) -> bool:
        """Whether requests of the load are counted too."""
        ...


class Real:
    """kube-apiserver and etcd."""

    name = "real"

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self.kubeconfig = folder / "real.kubeconfig"
        self.kubeconfig.write_text(plane.kubeconfig())
        facts = orjson.loads(plane.kubectl("version", "--output=json"))
        self.version = f"kube-apiserver {facts['serverVersion']['gitVersion']}"

    def requests(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for labels, value in _COUNTER.findall(self._plane.kubectl("get", "--raw", "/metrics")):
            facts = dict(_LABEL.findall(labels))
            if facts["resource"] not in RESOURCES:
                continue
            name = f"{facts['verb'].lower()} {facts['resource']}"
            if facts["subresource"]:
                name += f"/{facts['subresource']}"
            found[name] = found.get(name, 0) + int(float(value))
        return found

    def is_own(self) -> bool:
        return True


class Stub:
    """The stub of `bench/stub`."""

    name = "stub"
    version = "stub"

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        cluster = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]
        self._server: str = cluster["server"]
        self._context = create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())

    def requests(self) -> dict[str, int]:
        with urllib.request.urlopen(f"{self._server}/bench/counters", context=self._context) as answer:  # noqa: S310
            found: dict[str, int] = orjson.loads(answer.read())["operator"]
            return found

    def is_own(self) -> bool:
        return False

    def install(self, crd: dict[str, object], name: str) -> None:
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=bench"
        headers = {"Content-Type": "application/apply-patch+yaml"}
        request = urllib.request.Request(self._server + path, orjson.dumps(crd), headers, method="PATCH")  # noqa: S310
        with urllib.request.urlopen(request, context=self._context):  # noqa: S310
            pass


@contextmanager
def real(folder: Path, crd: dict[str, object]) -> Iterator[Real]:
    """A control plane of its own, with the CRD."""
    with ControlPlane(name="bench") as plane:
        plane.kubectl("apply", "--server-side", "-f", "-", stdin=orjson.dumps(crd).decode())
        plane.kubectl("wait", "--for=condition=Established", f"crd/{crd['metadata']['name']}")  # type: ignore[index]
        time.sleep(2.0)  # a new resource answers 429 for about a second, and starting up costs CPU for another
        yield Real(plane, folder)


@contextmanager
def stub(folder: Path, crd: dict[str, object], *, extra_kinds: int = 0) -> Iterator[Stub]:
    """A new stub, with the CRD."""
    kubeconfig = folder / "stub.kubeconfig"
    kubeconfig.unlink(missing_ok=True)
    command = [str(programs.go_program(programs.BENCH / "stub")), "-kubeconfig", str(kubeconfig)]
    with (
        (folder / "stub.log").open("ab") as log,
        subprocess.Popen([*command, "-extra-kinds", str(extra_kinds)], stderr=log, stdout=log) as process,
    ):
        try:
            deadline = time.monotonic() + 10
            while not kubeconfig.exists():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the stub does not start; see {folder / 'stub.log'}")
                time.sleep(0.01)
            found = Stub(kubeconfig)
            found.install(crd, crd["metadata"]["name"])  # type: ignore[index]
            yield found
        finally:
            process.terminate()


@contextmanager
def credentials(kubeconfig: Path) -> Iterator[Credentials]:
    """What is in a kubeconfig, as files."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        files = {}
        for name, data in {**cluster, **user}.items():
            if name.endswith("-data"):
                files[name] = folder / name
                files[name].write_bytes(base64.b64decode(data))
        yield Credentials(
            server=cluster["server"],
            authority=files["certificate-authority-data"],
            certificate=files.get("client-certificate-data"),
            key=files.get("client-key-data"),
            token=user.get("token"),
        )
