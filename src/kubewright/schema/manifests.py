"""Manifests of a module as files: what `kubewright manifests crd` prints, writes and checks.

One file per kind, `<group>_<plural>.yaml` as controller-gen names it. Files are compared byte by byte: a check that
passes means that generating again would change nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal

import msgspec

from .budget import fits_annotation
from .crd import crds_of_module
from .yaml import to_yaml

__all__ = ["Drift", "Manifest", "check", "render", "write"]


class Manifest(msgspec.Struct, frozen=True):
    """A file to be: its name and its YAML. `fits_annotation`: whether client-side `kubectl apply` can write it."""

    name: str
    text: str
    fits_annotation: bool = True


class Drift(msgspec.Struct, frozen=True):
    """How a folder differs from what would be generated.

    `kind` is `missing` (no such file), `changed`, or `stale`: a file of one of the groups for a kind that is no more.
    `diff` is a unified diff, from the file to what would be generated.
    """

    path: Path
    kind: Literal["missing", "changed", "stale"]
    diff: str = ""

    def __str__(self) -> str:
        said = {
            "missing": "is missing",
            "changed": "differs from what the classes say",
            "stale": "belongs to no class any more",
        }
        return f"{self.path}: {said[self.kind]}"


def render(module: ModuleType, *, max_description: int | None = None) -> list[Manifest]:
    """The CRDs of a module; see `crd_of`. Raises SchemaError."""
    return [
        Manifest(f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml", to_yaml(crd), fits_annotation(crd))
        for crd in crds_of_module(module, max_description=max_description)
    ]


def write(manifests: Sequence[Manifest], directory: Path) -> list[Path]:
    """Write files that differ from what is there; make the folder. Returns the paths written. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for drift in check(manifests, directory):
        if drift.kind != "stale":
            text = next(manifest.text for manifest in manifests if manifest.name == drift.path.name)
            drift.path.write_text(text, encoding="utf-8", newline="\n")
            written.append(drift.path)
    return written


def check(manifests: Sequence[Manifest], directory: Path) -> list[Drift]:
    """What writing would change; empty when nothing. Raises OSError: a file cannot be read."""
    found = []
    for manifest in manifests:
        path = directory / manifest.name
        if not path.is_file():
            found.append(Drift(path, "missing"))
            continue
        text = path.read_bytes().decode("utf-8", errors="replace")
        if text != manifest.text:
            lines = difflib.unified_diff(
                text.splitlines(keepends=True),
                manifest.text.splitlines(keepends=True),
                str(path),
                "generated",
            )
            found.append(Drift(path, "changed", "".join(lines)))
    names = {manifest.name for manifest in manifests}
    for group in sorted({name.partition("_")[0] for name in names}):
        found += [Drift(path, "stale") for path in sorted(directory.glob(f"{group}_*.yaml")) if path.name not in names]
    return found
