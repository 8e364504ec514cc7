"""Where options come from: flags, over the environment, over a file, over what the program says.

    --metrics-bind-address :8443          a flag; a switch is --leader-elect, --no-leader-elect or --leader-elect=false
    KUBEWRIGHT_METRICS_BIND_ADDRESS       its name in capitals, behind KUBEWRIGHT_
    metrics-bind-address: ":8443"         its name in the YAML file that --config or KUBEWRIGHT_CONFIG names

It knows nothing of the options but what their parser does: every option of the parser has all three names. What a
source says is checked as if it were the flag, and an error names the source.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["parse"]

_PREFIX = "KUBEWRIGHT_"
_YES = ("true", "1", "yes", "on")
_NO = ("false", "0", "no", "off")


class _Wrong(Exception):
    """What a source says cannot be meant."""


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str], environ: Mapping[str, str]) -> argparse.Namespace:
    """Parse `arguments`, with the environment and the file for what they leave out.

    The parser gets the option `--config`. Exits with code 2 and one line for what cannot be meant, as the parser does.
    """
    parser.add_argument("--config", type=Path, metavar="FILE", help="a YAML file with options, by their names")
    options = {action.option_strings[0]: action for action in _options(parser)}
    arguments = [_switched(argument, options) for argument in arguments]
    try:
        file = _file(arguments, environ)
        defaults = _from_file(file, options) if file is not None else {}
        defaults.update(_from_environment(environ, options))
    except _Wrong as error:
        parser.error(str(error))
    parser.set_defaults(**defaults)
    return parser.parse_args(arguments)


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if action.option_strings and action.dest != "help":
            yield action


def _is_switch(action: argparse.Action) -> bool:
    return isinstance(action, argparse.BooleanOptionalAction)


def _name(action: argparse.Action) -> str:
    return action.dest.replace("_", "-")


def _switched(argument: str, options: Mapping[str, argparse.Action]) -> str:
    """`--x=false` as `--no-x`: how flags of Go programs are written."""
    name, equals, text = argument.partition("=")
    action = options.get(name)
    if not equals or action is None or not _is_switch(action) or text.lower() not in (*_YES, *_NO):
        return argument
    return name if text.lower() in _YES else f"--no-{name.removeprefix('--')}"


def _file(arguments: Sequence[str], environ: Mapping[str, str]) -> Path | None:
    given = None
    if any(argument.startswith("--config") for argument in arguments):
        first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        first.add_argument("--config", type=Path)
        given = first.parse_known_args(list(arguments))[0].config
    named = environ.get(f"{_PREFIX}CONFIG")
    return given or (Path(named) if named else None)


def _from_environment(environ: Mapping[str, str], options: Mapping[str, argparse.Action]) -> dict[str, Any]:
    found = {}
    for action in options.values():
        name = _PREFIX + action.dest.upper()
        if name in environ and action.dest != "config":
            found[action.dest] = _converted(action, environ[name], name)
    return found


def _from_file(path: Path, options: Mapping[str, argparse.Action]) -> dict[str, Any]:
    import yaml

    try:
        said = yaml.safe_load(path.read_text()) or {}
    except OSError as error:
        raise _Wrong(f"--config {path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _Wrong(f"--config {path}: is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(said, dict):
        raise _Wrong(f"--config {path}: must be a mapping of option names to values, such as log-level: debug")
    by_name = {_name(action): action for action in options.values() if action.dest != "config"}
    found = {}
    for name, value in said.items():
        action = by_name.get(str(name))
        if action is None:
            import difflib

            near = difflib.get_close_matches(str(name), by_name, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(sorted(by_name))}"
            raise _Wrong(f"--config {path}: {name!r} is not an option{hint}")
        if value is not None:
            found[action.dest] = _converted(action, value, f"--config {path}: {name}")
    return found


def _converted(action: argparse.Action, value: Any, where: str) -> Any:
    """As the flag would have it."""
    if _is_switch(action):
        text = str(value).lower()
        if text not in (*_YES, *_NO):
            raise _Wrong(f"{where}: {value!r} is neither true nor false")
        return text in _YES
    if isinstance(value, bool | dict | list):
        raise _Wrong(f"{where}: {value!r} must be one text or number; put it in quotes")
    made: Any = str(value)
    if callable(action.type):
        try:
            made = action.type(made)
        except (ValueError, TypeError, argparse.ArgumentTypeError) as error:
            raise _Wrong(f"{where}: {value!r}: {error}") from None
    if action.choices is not None and made not in action.choices:
        raise _Wrong(f"{where}: {value!r} is not one of {', '.join(map(str, action.choices))}")
    return made
