"""The page on running an operator: its programs type-check and are what the command line takes, its flags exist."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kubewright.cli.load import load_operator
from kubewright.cli.run import _parser
from kubewright.manager import LeaderElection

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "operations.md"
BLOCK = re.compile(r"^```(?:python|yaml)\n# (\S+\.(?:py|yaml))\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("operations")
    for name, text in BLOCK.findall(PAGE.read_text()):
        (made / name).write_text(text)
    return made


def options() -> dict[str, argparse.Action]:
    return {name: action for action in _parser()._actions for name in action.option_strings}


def test_every_block_is_a_file_with_a_name(folder: Path) -> None:
    assert len(re.findall(r"^```\w", PAGE.read_text(), re.MULTILINE)) == len(list(folder.iterdir())) == 4


def test_the_programs_type_check(folder: Path) -> None:
    names = [path.name for path in sorted(folder.glob("*.py"))]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *names], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["checks.py", "cleaner.py", "embedded.py"])
def test_the_programs_are_what_run_takes(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(folder)
    operator = load_operator(f"{folder / name}:operator")
    assert operator.name == "web-operator"


def test_every_flag_is_one_of_run_and_those_of_the_election_are_all_there() -> None:
    text = PAGE.read_text()
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert flags <= options().keys()
    assert {name for name in options() if name.startswith("--leader-elect")} <= flags


def test_the_arguments_of_the_pod_are_understood(folder: Path) -> None:
    given = _parser().parse_args(["web.py", *yaml.safe_load((folder / "probes.yaml").read_text())["args"]])
    assert given.leader_elect
    assert given.health_probe_bind_address == ":8081"


def test_the_times_are_those_of_the_defaults() -> None:
    settings, text = LeaderElection(), PAGE.read_text()
    dead = settings.renew_seconds + settings.grace_seconds
    table = text[text.index("What becomes of a leader") : text.index("A blocked event loop")]
    last = dead + settings.grace_seconds / 4
    wanted = [f"{settings.renew_seconds:g}", f"{dead:g}", f"{last:.1f}", f"{settings.lease_seconds:g}"]
    assert re.findall(r"^\| ([\d.]+) \|", table, re.MULTILINE) == wanted
    for flag, seconds in (
        ("lease-duration", settings.lease_seconds),
        ("renew-deadline", settings.renew_seconds),
        ("retry-period", settings.retry_seconds),
    ):
        assert f"| `--leader-elect-{flag}` | `{seconds:g}s` |" in text
