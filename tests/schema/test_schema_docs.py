"""Descriptions: docstrings and the strings under fields, found in the source where there is one."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from kubewright.schema.docs import Sources, description_of


@pytest.mark.parametrize(
    ("text", "description"),
    [
        (None, None),
        ("", None),
        ("  One line.  ", "One line."),
        ("Wrapped\n    and joined.", "Wrapped and joined."),
        ("One.\n\n\n    Two.", "One.\n\nTwo."),
        ("List:\n    - a\n    - b", "List:\n- a\n- b"),
        ("Steps:\n    1. a\n    2) b", "Steps:\n1. a\n2) b"),
        ("Code:\n\n        kept  as\n        it is\n\n    End.", "Code:\n\n    kept  as\n    it is\n\nEnd."),
        ("```\n    a\n\n    b\n    ```\n    after", "```\na\n\nb\n```\nafter"),
        ("| a | b |\n    |---|---|\n    after", "| a | b |\n|---|---|\nafter"),
        ("Said.\n\n    ---\n    Not said.", "Said."),
        ("---\n    Not said.", None),
    ],
)
def test_a_docstring_becomes_a_description(text: str | None, description: str | None) -> None:
    assert description_of(text) == description


SOURCE = '''
from kubewright.model import Model

class Base(Model):
    shared: int = 0
    """Said in the base."""
    hidden: int = 0
    """Replaced below."""

if True:
    class Outer(Base):
        hidden: int = 1
        """Said here."""

        class Inner(Model):
            deep: str = ""
            """Said deep inside."""
            none: str = ""
            number: int = 3
            3

def make():
    class Local(Model):
        here: int = 0
        """Said in a function."""
    return Local
'''


@pytest.fixture
def module(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "some_source.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("some_source", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["some_source"] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules["some_source"]


def test_strings_under_fields_are_found_wherever_the_class_stands(module: ModuleType) -> None:
    sources = Sources()
    assert sources.field(module.Outer, "hidden") == ("Said here.", "some_source.py:12")
    assert sources.field(module.Outer, "shared") == ("Said in the base.", "some_source.py:5")
    assert sources.field(module.Outer.Inner, "deep")[0] == "Said deep inside."
    assert sources.field(module.Outer.Inner, "none") == (None, "some_source.py:18")
    assert sources.field(module.Outer.Inner, "number")[0] is None
    assert sources.field(module.make(), "here")[0] == "Said in a function."
    assert sources.line(module.Base) == "some_source.py:4"


def test_without_a_source_there_are_no_descriptions_and_no_errors(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "some_source.py").write_text("this is ( not python")
    assert Sources().field(module.Outer, "hidden") == (None, "")
    (tmp_path / "some_source.py").unlink()
    assert Sources().field(module.Outer, "hidden") == (None, "")
    del sys.modules["some_source"]
    assert Sources().line(module.Outer) == ""
    sys.modules["some_source"] = module


def test_a_file_below_the_working_directory_is_shown_from_there(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path.parent)
    assert Sources().line(module.Base) == f"{tmp_path.name}/some_source.py:4"
