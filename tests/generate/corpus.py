"""Models of other people's CRDs, and their own manifests through them. Run: python -m tests.generate.corpus FOLDER...

For each folder (a checkout of a project, for instance) it makes models of all CRDs of `apiextensions.k8s.io/v1` in it,
reads each object of their kinds that lies beside them, and writes it again. What comes back otherwise is printed with
its path. Nothing is fetched: bring the folders.

Objects that their own CRD refuses are told apart: a decoder may refuse them as well. `--keep-empty` makes the models
with that option; without it a null, an empty list and an empty map count as absent, as they do there.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from kubewright.generate import generate, write
from kubewright.generate.sources import Documents
from kubewright.model import DecodeError, decode, encode
from kubewright.model.documents import DocumentError, read_documents
from kubewright.model.overlay import overlaid
from kubewright.schema.structural import Kind

__all__ = ["differences", "main", "without_empty"]


def documents(folder: Path) -> Iterator[tuple[str, Any]]:
    """What is in the YAML and JSON files of a folder that is an object, with its place."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".yaml", ".yml", ".json") or not path.is_file():
            continue
        data = path.read_bytes()
        if b"apiVersion" not in data or b"{{" in data:  # templates are no YAML
            continue
        try:
            for document in read_documents(data):
                if isinstance(document.value, dict):
                    yield f"{path}:{document.line}", document.value
        except DocumentError as error:
            print(f"{path}: {error}", file=sys.stderr)


def without_empty(value: Any) -> Any:
    """A JSON value without nulls, empty lists and empty objects in objects."""
    if isinstance(value, list):
        return [without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: without_empty(item) for name, item in value.items()}
    return {name: item for name, item in kept.items() if item not in (None, [], {})}


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values differ. `1` and `1.0` are one number, `1` and `true` are not one value."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            where = f"{path}.{name}"
            if name not in after:
                yield f"{where}: {before[name]!r:.60} is gone"
            elif name not in before:
                yield f"{where}: {after[name]!r:.60} is new"
            else:
                yield from differences(before[name], after[name], where)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{path}[{place}]")
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield f"{path}: {before!r:.60} became {after!r:.60}"


def _with_metadata(obj: dict[str, Any]) -> dict[str, Any]:
    """Metadata is Kubernetes' own: what a server makes of it is what counts."""
    kept = {name: value for name, value in (obj.get("metadata") or {}).items() if value not in (None, "", [], {})}
    rest = {name: value for name, value in obj.items() if name != "metadata"}
    return {**rest, "metadata": kept} if kept else rest


def check(crds: list[dict[str, Any]], objects: list[tuple[str, dict[str, Any]]], *, keep_empty: bool) -> Counter[str]:
    """Prints what comes back otherwise; how many objects there were of each fate."""
    counts: Counter[str] = Counter()
    kinds: dict[tuple[str, str], Any] = {}
    for crd in crds:
        spec = crd["spec"]
        for version in spec["versions"]:
            name = f"{spec['group']}/{version['name']}"
            kinds[name, spec["names"]["kind"]] = Kind(crd).version(version["name"])
    wanted = [(where, obj) for where, obj in objects if (obj.get("apiVersion"), obj.get("kind")) in kinds]
    with tempfile.TemporaryDirectory() as folder:
        write(generate(Documents(crds=crds), keep_empty=keep_empty), Path(folder) / "made_of_corpus")
        sys.path.insert(0, folder)
        try:
            classes = dict(_classes(Path(folder) / "made_of_corpus"))
            for where, obj in wanted:
                key = (obj["apiVersion"], obj["kind"])
                checked = kinds[key].create(obj)
                stored = checked.object if not checked.errors and isinstance(checked.object, dict) else None
                counts[_fate(where, classes[key], obj, stored, keep_empty)] += 1
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules if name.partition(".")[0] == "made_of_corpus"]:
                del sys.modules[name]
    return counts


def _classes(package: Path) -> Iterator[tuple[tuple[str, str], Any]]:
    for path in package.glob("*/*.py"):
        if path.stem == "__init__":
            continue
        module = importlib.import_module(f"made_of_corpus.{path.parent.name}.{path.stem}")
        for cls in vars(module).values():
            if hasattr(cls, "__resource__") and "__resource__" in vars(cls):
                yield (cls.api_version, cls.kind), cls


def _fate(where: str, cls: Any, obj: dict[str, Any], stored: dict[str, Any] | None, keep_empty: bool) -> str:
    given = obj if stored is None else stored
    try:
        made = decode(cls, orjson.dumps(given))
    except DecodeError as error:
        print(f"{where}: {'refused by its CRD' if stored is None else 'NOT READ'}: {error}")
        return "refused by both" if stored is None else "not read"
    if overlaid(made) != given:
        print(f"{where}: AN UPDATE CHANGES IT")
        return "an update changes it"
    back = orjson.loads(encode(made))
    before, after = (_with_metadata(each) for each in (given, back))
    if not keep_empty:
        before, after = without_empty(before), without_empty(after)
    found = list(differences(before, after))
    for each in found:
        print(f"{where}: {'' if stored else '(refused by its CRD) '}{cls.__name__}{each}")
    if found:
        return "comes back otherwise" if stored else "comes back otherwise (refused by its CRD)"
    return "comes back as it was"


def main(arguments: list[str]) -> int:
    """See the module. Returns the exit code: 1 where a valid object comes back otherwise."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--keep-empty", action="store_true")
    options = parser.parse_args(arguments)
    total: Counter[str] = Counter()
    for folder in options.folders:
        crds: dict[str, dict[str, Any]] = {}
        objects = []
        for where, value in documents(folder):
            is_crd = value.get("kind") == "CustomResourceDefinition"
            if is_crd and str(value.get("apiVersion")).endswith("/v1") and (value.get("spec") or {}).get("versions"):
                crds.setdefault(value["metadata"]["name"], value)
            elif isinstance(value.get("kind"), str) and not is_crd:
                objects.append((where, value))
        if crds:
            counts = check(list(crds.values()), objects, keep_empty=options.keep_empty)
            print(f"{folder}: {len(crds)} CRDs; {dict(counts)}")
            total += counts
    print(f"total: {dict(total)}")
    return 1 if total["comes back otherwise"] + total["not read"] + total["an update changes it"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
