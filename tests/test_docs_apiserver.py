"""The python blocks of docs/apiserver.md, word by word: they type-check, and print what the page is about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages import check_types, run, write_blocks

PRINTED = {
    "example_server": r"settings-[a-z0-9]{5} [0-9a-f-]{36}\nConflict\n",
    "example_clock": r"(2030-01-01 00:00:00\+00:00\n){4}True False\n",
    "example_https": r"\{'size': '1'\}\n",
    "example_thread": r"\['default', 'kube-node-lease', 'kube-public', 'kube-system'\]\n",
    "example_fork": r"\['mine', 'shared'\] \['shared'\]\n",
    "example_faults": r"Conflict\n",
    "example_audit": r"create secrets 201 False\n",
    "example_access": r'0\nGET .*: secrets is forbidden: User "system:serviceaccount:default:operator" cannot .*\n',
    "example_admission": (
        r"\{'seen': 'yes'\}\n"
        r"POST .*: 422 Invalid: .*ValidatingAdmissionPolicy 'small' with binding 'small' denied request: has 3\n"
    ),
    "example_rules": (
        r"\[''\] \['configmaps'\] \['list', 'create'\]\n"
        r"\[\] \[\(\['configmaps'\], \['get'\]\), \(\['secrets'\], \['get', 'list', 'create'\]\)\]\n"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_blocks("docs/apiserver.md", tmp_path_factory.mktemp("apiserver"))


def test_what_each_block_prints_is_known(folder: Path) -> None:
    assert {path.stem for path in folder.glob("*.py")} == set(PRINTED)


def test_the_blocks_pass_mypy_in_strict_mode(folder: Path) -> None:
    check_types(folder)


@pytest.mark.parametrize("name", PRINTED)
def test_a_block_does_what_the_page_says(folder: Path, name: str) -> None:
    first, second = run(folder, f"{name}.py"), run(folder, f"{name}.py")
    assert re.fullmatch(PRINTED[name], first.stdout), first.stderr
    assert first.stdout == second.stdout
