"""`kubewright cel eval`: an expression, as an API server would see it, over files."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kubewright.schema.cel.schema_types import SchemaType
    from kubewright.schema.cel.values import Misfit

__all__ = ["cel"]

cel = typer.Typer(help="CEL expressions as Kubernetes evaluates them.", no_args_is_help=True)

_NOTHING: Any = object()


@cel.callback()
def _group() -> None:
    """Keeps `eval` a subcommand."""


@cel.command("eval")
def cel_eval(
    expression: Annotated[str, typer.Argument(help="Such as 'self.min <= self.max'.")],
    self_file: Annotated[
        Path | None, typer.Option("--self", help="JSON or YAML of `self`; - for standard input.")
    ] = None,
    old_self_file: Annotated[Path | None, typer.Option("--old-self", help="JSON or YAML of `oldSelf`.")] = None,
    crd: Annotated[
        Path | None,
        typer.Option(help="The file or folder with the CRD (one) whose schema types `self`; - for standard input."),
    ] = None,
    path: Annotated[str, typer.Option(help="Where in the schema the rule stands, such as spec.ports[*].")] = "",
    version: Annotated[str | None, typer.Option(help="The version of the CRD; the stored one unless given.")] = None,
    var: Annotated[list[str] | None, typer.Option(help="A further variable, name=JSON; may be repeated.")] = None,
) -> None:
    """Print the value as JSON, then the cost. Exit 1 on an evaluation error, 2 on one of compilation."""
    from kubewright.schema.cel import CompileError, EvaluationError
    from kubewright.schema.cel import compile as compile_expression
    from kubewright.schema.cel.jsonout import to_json
    from kubewright.schema.cel.kubernetes import PER_CALL_LIMIT, stored
    from kubewright.schema.cel.nodes import reads
    from kubewright.schema.cel.types import DYN

    values = {name: _parse(text, f"--var {name}") for name, text in map(_pair, var or ())}
    types = dict.fromkeys(values, DYN)
    seen = _schema(crd, path, version) if crd is not None else None
    objects = {} if seen is None else seen.objects()
    misfits: list[Misfit] = []
    for name, file in (("self", self_file), ("oldSelf", old_self_file)):
        data = _read(file) if file is not None else _NOTHING
        if seen is not None:
            types[name] = seen.type
            data = data if data is _NOTHING else seen.value(data, misfits)
        elif data is not _NOTHING:
            types[name] = DYN
        if data is not _NOTHING:
            values[name] = data
    try:
        program = compile_expression(expression, stored().extend(variables=types, objects=objects))
    except CompileError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    for name, option in (("self", "--self"), ("oldSelf", "--old-self")):
        if name not in values and reads(program.node, name):
            print(f"error: the expression reads {name}: give {option} FILE", file=sys.stderr)
            raise typer.Exit(1)
    try:
        value, cost = program.evaluate_with_cost(values, cost_limit=PER_CALL_LIMIT, is_sound=not misfits)
        shown = json.dumps(to_json(value), ensure_ascii=False)
    except EvaluationError as error:
        print(f"error: {error}", file=sys.stderr)
        print(f"cost: {error.cost}", file=sys.stderr)
        raise typer.Exit(1) from None
    # Half a surrogate, which JSON may have, is no text that can be written; servers read it as this sign, too.
    print(shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    print(f"cost: {cost}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise typer.BadParameter(f"{text!r} is not name=JSON", param_hint="--var")
    return name, value


def _parse(text: str, what: str) -> Any:
    try:
        return _load_json(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no JSON ({error})", param_hint=what) from None
    except RecursionError:
        raise typer.BadParameter("the JSON is nested too deeply", param_hint=what) from None


def _read(file: Path) -> Any:
    import yaml

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{file} is not UTF-8 text") from None
    try:
        # JSON first: YAML reads its dates as dates.
        return _load_json(text)
    except ValueError:
        pass
    except RecursionError:
        raise typer.BadParameter(f"{file} is nested too deeply") from None
    try:
        return _load_yaml(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise typer.BadParameter(f"{file} is neither JSON nor YAML: {error}") from None


def _load_json(text: str) -> Any:
    """Decoded JSON. Raises ValueError: it is none; RecursionError: it has more levels than can be walked."""
    from kubewright.schema.structural.values import is_too_deep

    value = json.loads(text)
    if is_too_deep(value):
        raise RecursionError
    return value


def _load_yaml(text: str) -> Any:
    """YAML as JSON data: timestamps stay the text that they are on the wire."""
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {
            first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
            for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    return yaml.load(text, Loader=Loader)  # noqa: S506 - a safe loader


def _schema(file: Path, path: str, version: str | None) -> SchemaType:
    from kubewright.schema.cel.schema_types import schema_type

    schema: Any = _version_schema(_crd(file), file, version)
    is_root = True
    for name in path.replace("[*]", ".[*]").strip(".").split(".") if path else ():
        properties = schema.get("properties") or {}
        inner = schema.get("items") if name == "[*]" else properties.get(name)
        if inner is None:
            inner = schema.get("additionalProperties")
        if not isinstance(inner, Mapping):
            known = ", ".join(sorted(properties)) or "none"
            raise typer.BadParameter(f"{name!r} is no field there; fields are: {known}", param_hint="--path")
        schema, is_root = inner, bool(inner.get("x-kubernetes-embedded-resource"))
    seen = schema_type(schema, root=is_root)
    if seen is None:
        raise typer.BadParameter(f"{path or 'the schema'} has no type that CEL sees", param_hint="--path")
    return seen


def _crd(path: Path) -> dict[str, Any]:
    from kubewright.schema.checking import read_sources

    try:
        sources = read_sources([path])
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}", param_hint="--crd") from None
    for problem in sources.problems:
        raise typer.BadParameter(f"{problem.file}:{problem.line}: {problem.rule}", param_hint="--crd")
    found = [each.value for each in sources.objects if each.is_crd]
    if len(found) != 1:
        names = ", ".join(str((each.get("metadata") or {}).get("name")) for each in found) or "none"
        rule = "has to have one CustomResourceDefinition"
        raise typer.BadParameter(f"{path} {rule}, and has {len(found)}: {names}", param_hint="--crd")
    return found[0]


def _version_schema(crd: Mapping[str, Any], file: Path, version: str | None) -> Any:
    from kubewright.schema.structural import SchemaShapeError, Structural

    spec = crd.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    for each in versions if isinstance(versions, list) else ():
        if isinstance(each, dict) and (each.get("name") == version or (version is None and each.get("storage"))):
            schema = each.get("schema")
            found = schema.get("openAPIV3Schema") if isinstance(schema, dict) else None
            if not isinstance(found, dict):
                break
            try:
                Structural(found)
            except SchemaShapeError as error:
                raise typer.BadParameter(f"{file} has no readable schema: {error}", param_hint="--crd") from None
            return found
    what = f"version {version!r}" if version else "stored version"
    raise typer.BadParameter(
        f"{file} is no CustomResourceDefinition with a {what} that has a schema", param_hint="--crd"
    )
