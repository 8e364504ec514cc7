"""Which kinds a module has, and its manifests as files."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kubewright.cli.app import app
from kubewright.schema import SchemaError, crds_of_module, kinds_of_module, manifests

KINDS = """
from kubewright.model import Model, Resource, resource

class Spec(Model):
    size: int = 1

@resource(group="example.com", version="v1", kind="Web")
class Web(Resource[Spec]):
    pass

@resource(group="example.com", version="v1beta1", kind="Web", storage=False)
class OldWeb(Resource[Spec]):
    pass

@resource(group="example.com", version="v1")
class Job(Resource[Spec]):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()


def names(module: str) -> list[str]:
    return [crd["metadata"]["name"] for crd in crds_of_module(importlib.import_module(module))]


def test_versions_of_a_kind_are_one_crd_and_kinds_are_sorted(folder: Path) -> None:
    (folder / "m_kinds.py").write_text(KINDS)
    assert names("m_kinds") == ["jobs.example.com", "webs.example.com"]
    web = crds_of_module(sys.modules["m_kinds"])[1]
    assert [version["name"] for version in web["spec"]["versions"]] == ["v1", "v1beta1"]


def test_a_module_of_a_package_has_the_kinds_of_the_modules_that_it_draws_on(folder: Path) -> None:
    package = folder / "m_operator"
    (package / "parts").mkdir(parents=True)
    (folder / "m_other.py").write_text(KINDS.replace("example.com", "other.com"))
    (package / "__init__.py").write_text("")
    (package / "parts" / "__init__.py").write_text("")
    (package / "parts" / "types.py").write_text(KINDS)
    (package / "controller.py").write_text(
        "from m_other import Web\nfrom .parts.types import Job\nclass Controller: pass"
    )
    (package / "operator.py").write_text(
        "from .controller import Controller\nfrom kubewright.models.core.v1 import Pod"
    )
    assert names("m_operator.operator") == ["jobs.example.com", "webs.example.com"]
    assert names("m_operator.controller") == ["jobs.example.com", "webs.example.com"]


def test_a_file_outside_of_a_package_has_the_kinds_of_the_files_beside_it(folder: Path) -> None:
    (folder / "m_types.py").write_text(KINDS)
    (folder / "m_main.py").write_text("from m_types import Job as _Job\nfrom schema_kinds import Plain\n")
    assert names("m_main") == ["jobs.example.com", "webs.example.com"]


def test_a_module_without_kinds_is_an_error(folder: Path) -> None:
    (folder / "m_empty.py").write_text(
        "from kubewright.models.core.v1 import Pod\nfrom kubewright.model import Resource"
    )
    module = importlib.import_module("m_empty")
    assert kinds_of_module(module) == []
    with pytest.raises(SchemaError, match="m_empty: has no custom resource; name the module of a class with @resource"):
        crds_of_module(module)


def test_the_mistakes_of_all_kinds_are_told_together(folder: Path) -> None:
    (folder / "m_bad.py").write_text(KINDS.replace('example.com", version="v1"', 'example", version="v1"'))
    with pytest.raises(SchemaError) as error:
        crds_of_module(importlib.import_module("m_bad"))
    assert {cause.owner for cause in error.value.causes} >= {"Web", "Job"}


def test_a_version_that_is_not_for_the_crd_is_not_found(folder: Path) -> None:
    (folder / "m_skipped.py").write_text(KINDS.replace('version="v1"', 'version="v1", in_crd=False'))
    assert [cls.__name__ for (cls,) in kinds_of_module(importlib.import_module("m_skipped"))] == ["OldWeb"]


VALIDATED = """
import pydantic
from kubewright.model import Resource, resource

class Spec(pydantic.BaseModel):
    image: str
    '''The image. And more of it.'''

    @pydantic.field_validator("image")
    @classmethod
    def known(cls, value: str) -> str:
        return value

@resource(group="warned.example.com", version="v1")
class Warned(Resource[Spec]):
    pass
"""


def test_the_command_cuts_descriptions_and_tells_what_a_server_does_not_check(folder: Path) -> None:
    (folder / "m_warned.py").write_text(VALIDATED)
    result = CliRunner().invoke(app, ["manifests", "crd", str(folder / "m_warned.py"), "--max-description", "12"])
    assert result.exit_code == 0
    assert "description: The image.\n" in result.stdout
    assert result.stderr.startswith("warning: Spec.image (")
    assert "has the validator known, which no server runs" in result.stderr


def test_files_are_written_once_and_then_compared(folder: Path) -> None:
    (folder / "m_files.py").write_text(KINDS)
    rendered = manifests.render(importlib.import_module("m_files"))
    assert [manifest.name for manifest in rendered] == ["example.com_jobs.yaml", "example.com_webs.yaml"]
    target = folder / "config" / "crd"
    assert [str(drift) for drift in manifests.check(rendered, target)] == [
        f"{target}/example.com_jobs.yaml: is missing",
        f"{target}/example.com_webs.yaml: is missing",
    ]
    assert manifests.write(rendered, target) == [target / "example.com_jobs.yaml", target / "example.com_webs.yaml"]
    assert manifests.check(rendered, target) == []
    assert manifests.write(rendered, target) == []


def test_a_check_says_what_differs_and_what_is_left_over(folder: Path) -> None:
    (folder / "m_drift.py").write_text(KINDS)
    rendered = manifests.render(importlib.import_module("m_drift"))
    manifests.write(rendered, folder)
    changed = folder / "example.com_jobs.yaml"
    changed.write_text(changed.read_text().replace("default: 1", "default: 2"))
    (folder / "example.com_old.yaml").write_text("---\n")
    (folder / "other.com_things.yaml").write_text("---\n")
    drifts = manifests.check(rendered, folder)
    assert [(drift.path.name, drift.kind) for drift in drifts] == [
        ("example.com_jobs.yaml", "changed"),
        ("example.com_old.yaml", "stale"),
    ]
    assert "-                default: 2\n+                default: 1\n" in drifts[0].diff
    assert manifests.write(rendered, folder) == [changed]
    assert (folder / "example.com_old.yaml").exists()
