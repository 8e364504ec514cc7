"""Manifests as YAML, the way `controller-gen` and `kubectl` write it: sorted keys, block style, `---` first.

The same dictionary gives the same bytes. Two habits guard against readers that are not PyYAML. Go's YAML takes `y`,
`on` or `1e3` for a boolean or a number where PyYAML does not, so a text that begins like a number or is such a word is
quoted. And what has several lines is written as a literal block, not folded, so that a diff shows the line that
changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

__all__ = ["to_yaml"]

_WIDTH: Final = 120
_NOT_A_TEXT_ELSEWHERE: Final = re.compile(r"[-+.]?[0-9].*|[yn]|yes|no|on|off|true|false|null|~|[-+]?\.(inf|nan)", re.I)
_BREAKS: Final = re.compile("[\r\x85\u2028\u2029\ufeff]")
"""What some readers take for the end of a line, and others do not."""


@lru_cache(maxsize=1)
def _dumper() -> Any:
    # Loading PyYAML takes as long as all the rest of the room, and a program that only declares kinds needs none of it.
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_representer(str, _text)
    return Dumper


def _text(dumper: Any, value: str) -> Any:
    style = None
    if _BREAKS.search(value):
        style = '"'
    elif "\n" in value and not any(line.endswith((" ", "\t")) for line in value.split("\n")):
        style = "|"
    elif _NOT_A_TEXT_ELSEWHERE.fullmatch(value):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def to_yaml(*documents: Mapping[str, Any]) -> str:
    """Decoded JSON as YAML, each document after a `---`."""
    import yaml

    written = yaml.dump_all(
        documents,
        Dumper=_dumper(),
        explicit_start=True,
        default_flow_style=False,
        sort_keys=True,
        allow_unicode=True,
        width=_WIDTH,
    )
    return str(written)
