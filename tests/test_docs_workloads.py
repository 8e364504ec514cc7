"""The python blocks of docs/workloads.md, word by word: they type-check, and print what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import check_types, run, write_blocks

PRINTED = {
    "example_rollout": "0 3 ReplicaSetUpdated\n3 3 NewReplicaSetAvailable\n3 1 ReplicaSetUpdated\n"
    "3 3 NewReplicaSetAvailable\nTrue\n",
    "example_failures": "2 1 ['SuccessCriteriaMet', 'Complete']\n"
    "work- Failed 0 -\nwork- Failed 0 -\nwork- Succeeded 0 -\nweb- Pending 0 ImagePullBackOff\n"
    "work- Failed 0 -\nwork- Failed 0 -\nwork- Succeeded 0 -\nweb- Running 0 -\n"
    "['Unknown']\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_blocks("docs/workloads.md", tmp_path_factory.mktemp("workloads"))


def test_what_each_block_prints_is_known(folder: Path) -> None:
    assert {path.stem for path in folder.glob("*.py")} == set(PRINTED)


def test_the_blocks_pass_mypy_in_strict_mode(folder: Path) -> None:
    check_types(folder)


@pytest.mark.parametrize("name", PRINTED)
def test_a_block_does_what_the_page_says(folder: Path, name: str) -> None:
    done = run(folder, f"{name}.py")
    assert sorted(done.stdout.splitlines()) == sorted(PRINTED[name].splitlines()), done.stdout + done.stderr
