"""Makes `kubewright.models`: the built-in kinds of a Kubernetes release.

    python -m kubewright.generate.built_in SOURCE [--check]

`SOURCE` is a server of the release with its default settings, such as `http://127.0.0.1:8001` behind `kubectl proxy`,
or a folder with its OpenAPI v3 documents. (The documents in Kubernetes' source tree will not do: they lack
enumerations, and have versions that are off by default.)

Custom resources that the server has are passed over. Unlike in what users generate, enumerations are open, and an index
of the kinds is written beside the modules.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import kubewright.models

from .classes import Class
from .definitions import GenerateError, Home
from .modules import build_modules, render, write
from .naming import module_path, version_module
from .render import MARK
from .sources import Documents, load_documents
from .text import literal, literal_tuple

__all__ = ["generate_built_in", "main"]

NOTICE: Final = (
    "Types and descriptions come from the OpenAPI documents of Kubernetes 1.37,\n"
    "Copyright The Kubernetes Authors, licensed under the Apache License 2.0."
)


def generate_built_in(documents: Documents) -> dict[str, str]:
    """The files of `kubewright.models` that are generated, by path. Raises GenerateError."""
    modules = build_modules(documents, lambda kind: not kind.structural, lambda home, name: None, "open")
    return {**render(modules, notice=NOTICE), "_index.py": _index(modules)}


def _index(modules: dict[Home, dict[str, Class]]) -> str:
    packages = module_path(group for group, _ in modules)
    lines = [f'"""Group versions of the built-in kinds: their module and the kinds in it.\n\n{MARK}\n"""', ""]
    lines += ["MODULES: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {"]
    for (group, version), classes in sorted(modules.items()):
        module = f"kubewright.models.{packages[group]}.{version_module(version)}"
        kinds = sorted(cls.resource.kind for cls in classes.values() if cls.resource is not None)
        lines += [f"    ({literal(group)}, {literal(version)}): (", f"        {literal(module)},"]
        lines += [f"        {literal_tuple(kinds)},", "    ),"]
    return "\n".join([*lines, "}"]) + "\n"


def main(arguments: Sequence[str]) -> int:
    """See the module. Returns the exit code: 1 for bad input, or where `--check` found a difference."""
    sources = [argument for argument in arguments if argument != "--check"]
    if len(sources) != 1:
        print("usage: python -m kubewright.generate.built_in SOURCE [--check]", file=sys.stderr)
        return 2
    check = "--check" in arguments
    try:
        files = generate_built_in(load_documents(sources[0]))
    except GenerateError as error:
        print(error, file=sys.stderr)
        return 1
    changed = write(files, Path(kubewright.models.__file__).parent, check=check)
    for path in changed:
        print(path)
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
