from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kubewright.testing import build as go_build
from kubewright.testing import gobuild
from kubewright.testing.errors import BuildFailed
from kubewright.testing.programs import PROGRAMS

MakeProgram = Callable[..., Path]

FAKE_GO = """#!/bin/sh
# Plays `go env GOVERSION`, `go list -m` and `go build`, and writes down what it was asked.
echo "$@" >> "$GO_CALLS"
case "$1" in
env) echo "${GO_VERSION:-go1.26.8}" ;;
list) echo "$GO_MODULE" ;;
build)
    for last; do :; done
    echo "$last" >&2
    if [ "$last" = "$GO_BREAKS" ]; then echo "undefined: everything" >&2; exit 3; fi
    while [ "$1" != -o ]; do shift; done
    echo "CGO_ENABLED=$CGO_ENABLED GOWORK=$GOWORK" > "$2"
    ;;
esac
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go modules with versions of their own in the place of the committed ones."""
    folder = tmp_path / "modules"
    for name in ("kubernetes", "kwok"):
        (folder / name).mkdir(parents=True)
    (folder / "kubernetes" / "go.mod").write_text(
        "require (\n\tgo.etcd.io/etcd/server/v3 v3.0.1\n\tk8s.io/kubernetes v1.2.3\n)\n"
    )
    (folder / "kwok" / "go.mod").write_text("require sigs.k8s.io/kwok v0.0.1\n")
    monkeypatch.setattr(go_build, "modules_dir", lambda: folder)
    monkeypatch.setattr(gobuild, "_USUAL_GO", "/nonexistent/go")
    return folder


@pytest.fixture
def go(env: dict[str, str], tmp_path: Path, program: MakeProgram) -> Path:
    """A fake Go in PATH; returns the file that lists its calls."""
    program(tmp_path / "bin" / "go", FAKE_GO)
    for stage in go_build._STAGES:
        file = tmp_path / "kwok-module" / "kustomize" / "stage" / stage
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(stage)
        file.chmod(0o444)
    calls = tmp_path / "calls"
    env |= {"GO_CALLS": str(calls), "GO_MODULE": str(tmp_path / "kwok-module"), "PATH": f"{env['PATH']}:/usr/bin:/bin"}
    return calls


def built(calls: Path) -> list[str]:
    """Return the packages that were built, as their last path element."""
    lines = calls.read_text().splitlines() if calls.exists() else []
    return [line.split()[-1].rpartition("/")[2] for line in lines if line.startswith("build ")]


@pytest.mark.usefixtures("modules")
def test_all_programs_are_built_once_into_a_folder_named_after_version_and_machine(
    env: dict[str, str], go: Path
) -> None:
    said: list[str] = []
    folder = go_build.build(env=env, progress=said.append)
    os_name, arch = go_build.go_platform()
    assert folder == Path(env["XDG_CACHE_HOME"]) / "kubewright" / "controlplane" / f"1.2.3-{os_name}-{arch}"
    assert sorted(go_build.cached(env)[1]) == sorted(PROGRAMS)
    assert len(built(go)) == len(PROGRAMS)
    assert said[0] == "[1/6] etcd v3.0.1: building"
    assert said[-1].startswith("[6/6] kwok v0.0.1: done in ")
    assert go_build.build(env=env, progress=said.append) == folder
    assert len(built(go)) == len(PROGRAMS)


@pytest.mark.usefixtures("modules", "go")
def test_kubernetes_programs_are_told_their_version_and_the_build_is_reproducible(env: dict[str, str]) -> None:
    folder = go_build.build(["kubectl"], env=env, progress=lambda _: None)
    call = Path(env["GO_CALLS"]).read_text().splitlines()[-1]
    assert "-mod=readonly -trimpath" in call
    assert "-X k8s.io/component-base/version.gitVersion=v1.2.3" in call
    assert "-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=2" in call
    assert (folder / "kubectl").read_text() == "CGO_ENABLED=0 GOWORK=off\n"


@pytest.mark.usefixtures("go")
def test_a_new_version_in_go_mod_rebuilds_what_it_concerns(env: dict[str, str], modules: Path) -> None:
    go_build.build(env=env, progress=lambda _: None)
    (modules / "kwok" / "go.mod").write_text("require sigs.k8s.io/kwok v0.0.2\n")
    assert "kwok" not in go_build.cached(env)[1]
    before = len(built(Path(env["GO_CALLS"])))
    go_build.build(env=env, progress=lambda _: None)
    assert built(Path(env["GO_CALLS"]))[before:] == ["kwok"]


@pytest.mark.usefixtures("modules", "go")
def test_kwoks_stage_files_are_copied_beside_it_and_may_be_replaced(env: dict[str, str]) -> None:
    folder = go_build.build(["kwok"], env=env, progress=lambda _: None)
    stages = folder / go_build.STAGES_FOLDER
    assert sorted(path.name for path in stages.iterdir()) == sorted(Path(stage).name for stage in go_build._STAGES)
    (folder / "versions.json").unlink()
    go_build.build(["kwok"], env=env, progress=lambda _: None)


@pytest.mark.usefixtures("modules", "go")
def test_a_failed_build_shows_the_compilers_words_and_keeps_what_was_built_before(env: dict[str, str]) -> None:
    env["GO_BREAKS"] = "k8s.io/kubernetes/cmd/kubectl"
    with pytest.raises(BuildFailed) as caught:
        go_build.build(env=env, progress=lambda _: None)
    assert "cannot build kubectl v1.2.3" in str(caught.value)
    assert "exit code 3" in str(caught.value)
    assert "undefined: everything" in str(caught.value)
    assert sorted(go_build.cached(env)[1]) == ["etcd", "kube-apiserver", "kube-controller-manager"]
    folder = go_build.cached(env)[0]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.usefixtures("modules", "go")
def test_a_build_can_be_cancelled_and_ends_the_compiler(
    env: dict[str, str], tmp_path: Path, program: MakeProgram
) -> None:
    pid = tmp_path / "pid"
    program(
        tmp_path / "bin" / "go", f"#!/bin/sh\n[ $1 = env ] && echo go1.26.8 && exit\necho $$ > {pid}; exec sleep 600\n"
    )
    with pytest.raises(InterruptedError, match=r"kwok .* cancelled"):
        go_build.build(["kwok"], env=env, progress=lambda _: None, cancelled=pid.exists)
    with pytest.raises(ProcessLookupError):
        os.killpg(int(pid.read_text()), 0)


@pytest.mark.usefixtures("modules")
def test_without_go_the_error_says_where_to_get_it(env: dict[str, str]) -> None:
    with pytest.raises(BuildFailed, match=r"no go command in PATH; install Go from https://go\.dev/dl/"):
        go_build.build(env=env, progress=lambda _: None)


@pytest.mark.usefixtures("modules", "go")
def test_a_go_that_cannot_fetch_a_newer_one_is_refused(env: dict[str, str]) -> None:
    env["GO_VERSION"] = "go1.20.14"
    with pytest.raises(BuildFailed, match=r"is go1\.20\.14; install Go"):
        go_build.build(env=env, progress=lambda _: None)


def test_without_the_go_modules_the_error_says_what_to_do(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_build, "modules_dir", lambda: None)
    with pytest.raises(BuildFailed, match="run `make controlplane` in a checkout"):
        go_build.build(env=env, progress=lambda _: None)


def test_without_the_go_modules_the_newest_folder_of_the_cache_is_used(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch, program: MakeProgram
) -> None:
    monkeypatch.setattr(go_build, "modules_dir", lambda: None)
    for version in ("1.9.0", "1.37.2", "1.36.5"):
        program(go_build.cache_folder(version, env) / "etcd")
    assert go_build.cached(env)[1] == {"etcd": go_build.cache_folder("1.37.2", env) / "etcd"}


def test_the_committed_modules_require_every_program(env: dict[str, str]) -> None:
    modules = go_build.modules_dir()
    assert modules is not None
    assert sorted(go_build.versions(modules)) == sorted(PROGRAMS)
    for name in ("kubernetes", "kwok"):
        assert (modules / name / "go.sum").stat().st_size > 0


TWO_BUILDERS = """
import sys
from pathlib import Path
from kubewright.testing import build
build.modules_dir = lambda: Path(sys.argv[1])
print(build.build(progress=lambda line: None))
"""


@pytest.mark.usefixtures("go")
def test_two_processes_that_want_the_same_build_it_once(env: dict[str, str], modules: Path) -> None:
    builders = [
        subprocess.Popen([sys.executable, "-c", TWO_BUILDERS, str(modules)], env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    shown = [builder.communicate(timeout=60)[0] for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0]
    assert shown[0] == shown[1] != ""
    assert len(built(Path(env["GO_CALLS"]))) == len(PROGRAMS)


@pytest.mark.usefixtures("modules")
def test_the_command_ends_with_one_clear_text_and_exit_code_one(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "environ", env)
    assert go_build.main([]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "install Go" in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.usefixtures("modules", "go")
def test_the_command_builds_and_says_where(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "environ", env)
    assert go_build.main(["etcd"]) == 0
    assert capsys.readouterr().out == f"the control plane is ready in {go_build.cached(env)[0]}\n"


def test_the_command_refuses_unknown_programs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        go_build.main(["kubelet"])
    assert "unknown program kubelet" in capsys.readouterr().err
