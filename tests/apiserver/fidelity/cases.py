"""The format of the cases: YAML to `Subject`, `Case` and `Step`, with their families unfolded.

Owns reading only. Who asks is `running`, whom is `doors`, and what of the answer counts is `normal`.

    subject: Deleting                     # a file
    setup: [step, ...]                    # done once per file; `$shared` is an API group of the file's own
    alone: true                           # not beside other files, and one case at a time: it disturbs them
    apart: true                           # not beside other files: they would make it late
    controllers: true                     # with kube-controller-manager; here, with garbage collection
    plugins: [ServiceAccount]             # admission plugins that the server has besides those of the others
    cases:
      - case: what must hold, as a sentence; ${value} is put in, which must make the name unique
        each: [{value: 1}, {value: 2}]    # a family: one case for each mapping of names to values
        steps: [step, ...]

    step:  do: GET $core/configmaps/a?limit=1   asked, and the answer recorded
           ok: POST $core/configmaps            asked, must be 2xx, not recorded
           as: merge | json | strategic | apply | yaml | text | none | (a media type)      the body's Content-Type
           headers: {Accept: ...}                a list for a header that is repeated
           user: jane                           act as this user; {name:, uid:, groups: [], extra: {key: []}} for more
           token: $token                        ask with this bearer token instead of as administrator; "" as nobody
           body: an object, sent as JSON
           raw: text, sent as it is; a list of texts and {of: text, times: 1000} for long ones
           save: {name: metadata.uid}           a later `$name`
           show: [spec.type, "items[*].metadata.name", "groups[name=apps]"]    record these parts of the answer only
           unordered: true                      the real server finds causes of the error, or rules, in any order
           until: 200                           ask again until the status is this one, or, with {path: value, ...},
                                                until the body has these values (10 s)
           watch: w                             the answer is a stream, called w
      or   read: w, events: 3                   wait for 3 events of w and record them; bookmarks that come when the
           bookmarks: true                      server likes are passed over unless asked for
      or   read: w, upto: NAME                  record what comes up to the first event of the object of that name
      or   end: w                               record all events of w until the server ends the stream
      or   close: w
      or   hook: NAME, answer: {...}            what the webhook $hooks/NAME answers from now on: response (laid over a
                                                uid and allowed: true), patch (operations), review (laid over it all),
                                                or status, text and kind; seconds to wait before
      or   asked: NAME                          record the requests that the webhook was asked, but for their uids

An object with `$like: NAME` is the one of that name in bases.yaml (or an object itself, for families), overlaid with
the other keys: mappings are merged, all else replaced, `$none` as a value removes. `$with: MAPPING` is laid over it
last (for families). In all strings of a step `$name` is replaced; a string that is only `$name` becomes the value with
its type. `$$` is a dollar. Known from the start: `$ns` a namespace of the case's own, `$group` and `$shared` API groups
of the case's and of the file's own, `$core`, `$apps`, `$batch`, `$crs`: the paths of the namespace's collections in v1,
apps/v1, batch/v1 and `$shared`/v1; `$hooks` and `$ca` for webhooks, `$admission` the path of
admissionregistration.k8s.io/v1.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
CASES = HERE / "cases"

_STEPS = ("do", "ok", "read", "end", "close", "hook", "asked")
_STEP_KEYS = {
    *("do", "ok", "as", "headers", "user", "token", "body", "raw", "save", "show", "until", "unordered"),
    *("watch", "read", "events", "upto", "bookmarks", "end", "close"),
    *("hook", "answer", "asked"),
}
_VARIABLE = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Step:
    """One step, as written, with the family's values put in."""

    data: Mapping[str, Any]

    @property
    def is_recorded(self) -> bool:
        return not ({"ok", "close", "hook"} & set(self.data))

    def __str__(self) -> str:
        for key in _STEPS:
            if key in self.data:
                return f"{key} {self.data[key]}"
        return str(self.data)


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a subject; `key` ("file/case") is unique."""

    subject: str
    name: str
    steps: Sequence[Step]

    @property
    def key(self) -> str:
        return f"{self.subject}/{self.name}"


@dataclass(frozen=True, slots=True)
class Subject:
    """A file of cases; `name` is the file's, without its ending."""

    name: str
    title: str
    setup: Sequence[Step]
    cases: Sequence[Case]
    alone: bool = False
    controllers: bool = False
    apart: bool = False
    plugins: tuple[str, ...] = ()


@dataclass
class Variables:
    """What `$name` stands for in one case."""

    values: dict[str, Any] = field(default_factory=dict)

    def fill(self, node: Any) -> Any:
        """Return `node` with variables replaced and `$like` resolved."""
        return put_in(resolved(node), self.values)


def load_all() -> list[Subject]:
    """Return all subjects, by file name. Raises ValueError for what is not in the format, naming file and case."""
    return [load(path) for path in sorted(CASES.glob("*.yaml"))]


def load(path: Path) -> Subject:
    """Read one file."""
    data = yaml.load(path.read_text(), _LOADER)
    unknown = set(data) - {"subject", "setup", "alone", "apart", "controllers", "plugins", "cases"}
    if unknown:
        raise ValueError(f"{path.name}: unknown keys {sorted(unknown)}")
    cases: dict[str, Case] = {}
    for written in data["cases"]:
        for case in _unfolded(path, written):
            if case.name in cases:
                raise ValueError(f"{path.name}: two cases are called {case.name!r}")
            cases[case.name] = case
    setup = [_step(path, "setup", each) for each in data.get("setup", ())]
    return Subject(
        path.stem,
        data["subject"],
        setup,
        list(cases.values()),
        alone=bool(data.get("alone")),
        apart=bool(data.get("apart")),
        controllers=bool(data.get("controllers")),
        plugins=tuple(data.get("plugins", ())),
    )


def _unfolded(path: Path, written: dict[str, Any]) -> list[Case]:
    unknown = set(written) - {"case", "each", "steps"}
    if unknown or "case" not in written or not written.get("steps"):
        raise ValueError(f"{path.name}: {written.get('case')!r}: a case has case, steps and perhaps each; {unknown}")
    members = written.get("each", [{}])
    cases = []
    for member in members:
        values = {name: resolved(value) for name, value in member.items()}
        name = put_in(written["case"], {key: _name_of(value) for key, value in values.items()})
        steps = [_step(path, name, put_in(step, values)) for step in written["steps"]]
        cases.append(Case(path.stem, name, steps))
    return cases


def _name_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).split("\n")[0]


def _step(path: Path, name: str, data: Any) -> Step:
    if not isinstance(data, dict) or set(data) - _STEP_KEYS:
        raise ValueError(f"{path.name}: {name}: not a step: {data}")
    if len(set(_STEPS) & set(data)) != 1:
        raise ValueError(f"{path.name}: {name}: a step is one of {', '.join(_STEPS)}: {data}")
    return Step(data)


def put_in(node: Any, values: Mapping[str, Any]) -> Any:
    """Return `node` with the variables of `values` replaced in all strings and keys; others are left as they are."""
    if isinstance(node, str):
        return _put_in_text(node, values)
    if isinstance(node, dict):
        return {_put_in_key(key, values): put_in(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [put_in(value, values) for value in node]
    return node


def _put_in_key(key: Any, values: Mapping[str, Any]) -> Any:
    return _put_in_text(key, values) if isinstance(key, str) and key not in ("$like", "$with") else key


def _put_in_text(text: str, values: Mapping[str, Any]) -> Any:
    whole = _VARIABLE.fullmatch(text)
    if whole and (name := whole[1] or whole[2]) in values:
        return copy.deepcopy(values[name])

    def replaced(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return str(values[name]) if name in values else match[0]

    return _VARIABLE.sub(replaced, text)


@cache
def _bases() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((HERE / "bases.yaml").read_text(), _LOADER)
    return loaded


def resolved(node: Any) -> Any:
    """Return `node` with each `$like` replaced by its object."""
    if isinstance(node, list):
        return [resolved(each) for each in node]
    if not isinstance(node, dict):
        return node
    rest = {key: resolved(value) for key, value in node.items() if key not in ("$like", "$with")}
    if "$like" in node:
        like = node["$like"]
        rest = overlaid(resolved(_bases()[like] if isinstance(like, str) else like), rest)
    return overlaid(rest, resolved(node["$with"])) if "$with" in node else rest


def overlaid(base: Any, over: Any) -> Any:
    """Return `over` laid over `base`."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    merged = {key: value for key, value in base.items() if over.get(key) != "$none"}
    for key, value in over.items():
        if value != "$none":
            merged[key] = overlaid(base.get(key), value)
    return merged
