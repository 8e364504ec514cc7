"""The python blocks of docs/testing.md, word by word, in a pytest run of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import blocks, check, check_types, write_blocks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_blocks("docs/testing.md", tmp_path_factory.mktemp("testing"))
    (made / "web.py").write_text(blocks("README.md")["web.py"])
    (made / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    return made


def test_the_blocks_pass_mypy_in_strict_mode(folder: Path) -> None:
    check_types(folder)


@pytest.mark.control_plane  # for kubectl
def test_the_tests_of_the_page_pass(folder: Path) -> None:
    assert "3 passed" in check(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--kubewright-cluster=embedded")
