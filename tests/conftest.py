"""Its place puts this folder on the import path, so that tests in all rooms can `import virtual`.

Examples of property tests have no deadline: how long one takes says more about the machine than about the code. CI
takes the same examples in every run, so that it fails for what a change did and for nothing else; elsewhere they are
new ones each time, and what they find becomes a test.

A test of a real control plane that fails in CI is run once more, and the summary says so: when a real server looks at
what has changed is nobody's to say, on a machine that is busy. All other tests have one try.

With `--kubewright-cluster=embedded` the tests of a real control plane run on the embedded API server, but for those
that `embedded_exclusions.toml` names, with reasons.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("kubewright", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("kubewright")

EXCLUSIONS = Path(__file__).parent / "embedded_exclusions.toml"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--embedded-strict",
        action="store_true",
        help="with --kubewright-cluster=embedded: run the tests that are excluded by name; one that passes fails",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("CI"):
        for item in items:
            if item.get_closest_marker("control_plane"):
                item.add_marker(pytest.mark.flaky(reruns=1))
    if (config.getoption("--kubewright-cluster") or os.environ.get("KUBEWRIGHT_CLUSTER")) != "embedded":
        return
    is_strict = config.getoption("--embedded-strict")
    excluded = tomllib.loads(EXCLUSIONS.read_text())["excluded"]
    kept, left = [], []
    for item in items:
        found = next((each for each in excluded if _is_excluded(item, each)), None)
        if item.get_closest_marker("control_plane") and "control_plane" not in _fixtures(item):
            left.append(item)
        elif found is None:
            kept.append(item)
        elif is_strict and not _uses(item, found) and not found.get("is_pointless"):
            item.add_marker(pytest.mark.xfail(strict=True, reason=found["reason"]))
            kept.append(item)
        else:
            left.append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def _is_excluded(item: pytest.Item, excluded: dict[str, Any]) -> bool:
    return _uses(item, excluded) or any(_is_at(item.nodeid, each) for each in excluded.get("tests", ()))


def _uses(item: pytest.Item, excluded: dict[str, Any]) -> bool:
    return not _fixtures(item).isdisjoint(excluded.get("fixtures", ()))


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


def _is_at(nodeid: str, place: str) -> bool:
    return nodeid == place or nodeid.startswith((f"{place}/", f"{place}::", f"{place}["))
