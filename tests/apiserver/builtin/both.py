"""The same requests to a real server and to one in this process with the built-in kinds."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Coroutine
from typing import Any

from base_objects import put
from differential import Object, Real, collection, comparable, kind_of, normalized

from kubewright.apiserver import Request, Stream
from kubewright.apiserver.assembly import new_server

Answers = tuple[tuple[int, Any], tuple[int, Any]]


def done(call: Coroutine[Any, Any, Any]) -> Any:
    """The result of a call that waits for nobody."""
    try:
        call.send(None)
    except StopIteration as end:
        return end.value
    call.close()
    raise AssertionError("the call waits for something")


class Both:
    """Two servers with the same objects, in one namespace.

    Others use the same real server, so what there is once on it is this one's: `$namespace` in an object is replaced,
    and the node ports from 31000 are moved to a range that belongs to `slot` and this process.
    """

    def __init__(self, real: Real, namespace: str, slot: int = 0) -> None:
        self.real, self.namespace = real, namespace
        worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        self._shift = 20 * (3 * worker + slot)
        self.ours = new_server(seed=1)
        self._ours("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})

    def ask(self, method: str, path: str, body: Any = None, media: str = "", accept: str = "") -> Answers:
        """Code and body of both, ours first."""
        media, accept = media or "application/json", accept or "application/json"
        theirs = self.real.send(method, path, body, media=media, accept=accept)
        return self._ours(method, path, body, media, accept), theirs

    def make(self, obj: Object) -> Object:
        """An object on both, with its status if it has one. What the real server has of it."""
        path = collection(kind_of(obj), self.namespace)
        obj = self.here(obj)
        for code, body in self.ask("POST", path, obj):
            assert code == 201, body
        name = obj["metadata"]["name"]
        if "status" in obj:
            wanted = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": {"name": name}}
            patch = {**wanted, "status": obj["status"]}
            media = "application/merge-patch+json"
            for code, body in self.ask("PATCH", f"{path}/{name}/status", patch, media):
                assert code == 200, body
        return self.ask("GET", f"{path}/{name}")[1][1]

    def change(self, obj: Object, part: str, change: dict[str, Any]) -> Answers:
        """A dry run of a PUT of what each has of an object, changed; `part` is "" or `/status`."""
        path = self.path(obj)
        answers = []
        for (code, body), send in zip(self.ask("GET", path), (self._ours, self.real.send), strict=True):
            assert code == 200, body
            for place, value in change.items():
                put(body, place, value + self._shift if place.endswith("nodePort") else copy.deepcopy(value))
            answers.append(send("PUT", f"{path}{part}?dryRun=All", body))
        return answers[0], answers[1]

    def warnings(self, path: str, body: Any) -> tuple[list[str], list[str]]:
        """The Warning headers of both to a POST."""
        headers = {"content-type": "application/json"}
        answer = done(self.ours.handle(Request.of("POST", path, headers=headers, body=json.dumps(body).encode())))
        assert answer.status == 201, answer.body
        ours = [value for name, value in answer.headers if name == "warning"]
        return ours, self.real.warnings(path, body)

    def path(self, obj: Object) -> str:
        """Where an object is."""
        return f"{collection(kind_of(obj), self.namespace)}/{self.here(obj)['metadata']['name']}"

    def here(self, obj: Object) -> Object:
        """A copy of an object that names the namespace where it stands for it."""
        made: Object = json.loads(json.dumps(obj).replace("$namespace", self.namespace))
        for port in (made.get("spec") or {}).get("ports") or ():
            if "nodePort" in port:
                port["nodePort"] += self._shift
        return made

    def remove(self, obj: Object) -> None:
        """Take an object away on both, at once, whoever holds it."""
        patch = {"metadata": {"finalizers": None}}
        self.ask("PATCH", self.path(obj), patch, "application/merge-patch+json")
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        self.ask("DELETE", self.path(obj), options)

    def _ours(self, method: str, path: str, body: Any, media: str = "application/json", accept: str = "") -> Any:
        headers = {"content-type": media, "accept": accept or "application/json"}
        data = b"" if body is None else json.dumps(body).encode()
        answer = done(self.ours.handle(Request.of(method, path, headers=headers, body=data)))
        assert not isinstance(answer, Stream)
        return answer.status, json.loads(answer.body)


_DIFFERENCE = re.compile(r"\n(@@[^\n]*\n([ +-][^\n]*\n)+)+")


def compared(answers: Answers) -> tuple[Any, Any]:
    """What has to be equal of two answers: codes, and what `comparable` leaves.

    Errors of what cannot change show the difference of the two objects as they are inside of the real server: its own
    structs, line by line. That is left out.
    """

    def cut(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: cut(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [cut(each) for each in value]
        return _DIFFERENCE.sub("\n", value) if isinstance(value, str) else value

    ours, theirs = answers
    return (ours[0], cut(comparable(ours))), (theirs[0], cut(comparable(theirs)))


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_AGE = re.compile(r"\d+s")


def _cell(cell: Any) -> Any:
    return _AGE.sub("<age>", normalized(cell)) if isinstance(cell, str) else cell


def tables(answers: Answers) -> tuple[Any, Any]:
    """The columns and rows of two Tables, without what the time of the day says."""

    def of(answer: tuple[int, Any]) -> Any:
        code, table = answer
        assert code < 300, table
        return table["columnDefinitions"], [list(map(_cell, row["cells"])) for row in table["rows"]]

    return of(answers[0]), of(answers[1])
