"""What is generated from the test data, byte for byte.

After a change on purpose, write the files anew and review the difference:

    KUBEWRIGHT_WRITE_GOLDEN=1 pytest tests/generate/test_golden.py
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import orjson
import pytest

from kubewright.generate import Documents, generate, load_documents

DATA = Path(__file__).with_name("testdata")
GOLDEN = Path(__file__).with_name("golden")
CASES = {"shop": ("shop.openapi.json", False), "learning": ("model.crd.yaml", True)}


def made(case: str) -> dict[str, str]:
    source, field_docs = CASES[case]
    return generate(load_documents(DATA / source), field_docs=field_docs)


@pytest.mark.parametrize("case", CASES)
def test_the_modules_are_what_they_were(case: str) -> None:
    # Not called *.py: what formats and checks the repository leaves them alone.
    files = {f"{name}.golden": text for name, text in made(case).items()}
    folder = GOLDEN / case
    if os.environ.get("KUBEWRIGHT_WRITE_GOLDEN"):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    assert files == {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.golden")}


def test_the_order_of_schemas_and_paths_does_not_matter() -> None:
    document = orjson.loads((DATA / "shop.openapi.json").read_bytes())
    for part in ("paths", "schemas"):
        holder = document if part == "paths" else document["components"]
        items = list(holder[part].items())
        random.Random(7).shuffle(items)
        holder[part] = dict(items)
    assert generate(Documents(openapi=[document])) == made("shop")
