"""JSON paths of printer columns, scale and rules, followed through a schema.

A path is a chain of steps: `.name`, `['odd name']`, and on a list `[*]`, `[0]` or a filter `[?(@.type=="Ready")]`. A
step below preserved unknown fields can be anything. This module knows schemas as dictionaries and nothing of Python
types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

__all__ = ["Element", "PathError", "closest", "follow", "parse"]

Schema = dict[str, Any]

_STEP: Final = r"""(?x)
      \.(?P<name>(?:[^.\[\]\\\s]|\\.)+)
    | \['(?P<single>[^']*)'\]
    | \["(?P<double>[^"]*)"\]
    | \[(?P<index>\*|-?\d+|-?\d*:-?\d*(?::-?\d+)?)\]
    | \[\?\((?P<filter>.*?)\)\]
    """
_MOST_PATHS: Final = 2_000
"""An embedded Pod template has more; a suggestion is not worth their time."""


class PathError(ValueError):
    """A path that is malformed or names nothing. The text is the rule that it breaks."""


class Element(msgspec.Struct, frozen=True):
    """An item of a list, chosen by `text`."""

    text: str


def parse(path: str) -> list[str | Element]:
    """The steps of a path that starts with a dot. Raises PathError."""
    if not path.startswith((".", "[")):
        raise PathError("does not start with a dot")
    steps: list[str | Element] = []
    position = 0
    while position < len(path):
        match = re.compile(_STEP).match(path, position)
        if match is None:
            raise PathError(f"cannot be read from {path[position:]!r} on")
        name = match["name"] or match["single"] or match["double"]
        if name is not None:
            steps.append(re.sub(r"\\(.)", r"\1", name) if match["name"] else name)
        else:
            steps.append(Element(match["index"] or match["filter"]))
        position = match.end()
    return steps


def follow(schema: Schema, path: str) -> Schema:
    """The schema at the end of a path; empty where nothing is known of it. Raises PathError."""
    here, walked = schema, ""
    for step in parse(path):
        if "properties" not in here and "additionalProperties" not in here and "items" not in here:
            if here.get("x-kubernetes-preserve-unknown-fields"):
                return {}
            raise PathError(f"goes on below {walked or '.'}, which is {describe(here)}")
        if isinstance(step, Element):
            if here.get("type") != "array":
                raise PathError(f"takes an item of {walked or '.'}, which is {describe(here)}")
            here, walked = here["items"], f"{walked}[{step.text}]"
            continue
        if here.get("type") == "array":
            raise PathError(
                f"names {step!r} of {walked}, which is a list; take an item first, as in {walked}[0].{step}"
            )
        known = here.get("properties", {})
        if step in known:
            here = known[step]
        elif isinstance(here.get("additionalProperties"), dict):
            here = here["additionalProperties"]
        elif here.get("x-kubernetes-preserve-unknown-fields"):
            return {}
        else:
            raise PathError(f"names {step!r}, which {walked or 'the object'} does not have")
        walked = f"{walked}.{step}"
    return here


def describe(schema: Schema) -> str:
    """A schema in two words, for messages."""
    if schema.get("x-kubernetes-int-or-string"):
        return "an integer or a string"
    kind = schema.get("type")
    names = {"array": "a list", "object": "an object", "integer": "an integer"}
    return names.get(str(kind), f"a {kind}" if kind else "of any type")


def closest(schema: Schema, path: str) -> str | None:
    """The path of the schema that was probably meant."""
    known = dict.fromkeys(_paths(schema, ""))
    camel = re.sub(r"_+([a-z0-9])", lambda match: match[1].upper(), path)
    for prefix in ("", ".", ".spec", ".status", ".spec.", ".status."):
        if prefix + camel in known:
            return prefix + camel
    folded = {each.lower(): each for each in known}
    import difflib  # only where something is wrong

    near = difflib.get_close_matches(camel.lower(), folded, 1)
    return folded[near[0]] if near else None


def _paths(schema: Schema, prefix: str) -> Iterator[str]:
    # Breadth first: what an author means is rarely deep.
    level = [(prefix, schema)]
    count = 0
    while level:
        below: list[tuple[str, Schema]] = []
        for path, here in level:
            if "items" in here:
                below.append((f"{path}[*]", here["items"]))
            for name, child in here.get("properties", {}).items():
                yield f"{path}.{name}"
                below.append((f"{path}.{name}", child))
                count += 1
                if count > _MOST_PATHS:
                    return
        level = below
