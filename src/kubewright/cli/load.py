"""From what a user types to what is meant: `web.py`, `web.py:operator`, `package.module`, `package.module:operator`.

A file is imported under its stem with its folder on the path, as `python web.py` would. A file inside a package is
imported as a module of that package, so that its relative imports work.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

from kubewright.controller import FunctionController
from kubewright.operator import Operator, RunAtImport, only_importing

__all__ = ["LoadError", "load_module", "load_operator"]

_DATA_SUFFIXES = (".json", ".toml", ".yaml", ".yml")
_OURS = Path(__file__).resolve().parents[1]


class LoadError(Exception):
    """A target does not lead to an operator. The message has the target, the rule and the cure."""


def load_module(target: str) -> ModuleType:
    """The module that `target` names (without its `:attribute`).

    Raises:
        LoadError: there is none, or it fails when imported; the message has the file and line.
    """
    name = target.partition(":")[0] if not Path(target).is_file() else target
    path = Path(name)
    try:
        with only_importing():
            if path.suffix == ".py" or path.is_file():
                return _from_file(path)
            _check_module_name(target, name)
            folder = str(Path.cwd())
            if folder not in sys.path:
                sys.path.insert(0, folder)
            return importlib.import_module(name)
    except LoadError:
        raise
    except RunAtImport as error:
        raise LoadError(f"{name}: {error}{_where(error, name)}") from None
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise LoadError(
                f"{name}: no such module; give a file (web.py) or a module on the path (package.web)"
            ) from None
        raise LoadError(f"{name}: {error}{_where(error, name)}; install what it needs") from error
    except Exception as error:
        raise LoadError(f"{name}: {type(error).__name__}: {error}{_where(error, name)}") from error


def _check_module_name(target: str, name: str) -> None:
    """Raises LoadError: it is no dotted name. What is none would import something else, or fail in odd ways."""
    path = Path(name)
    cure = "give a file (web.py) or a module on the path (package.web)"
    if not name:
        raise LoadError(f"{target!r} names no module; {cure}")
    if path.suffix in _DATA_SUFFIXES:
        raise LoadError(f"{name}: not a Python file; {cure}")
    if not all(part.isidentifier() for part in name.split(".")):
        what = "a folder" if path.is_dir() else "neither a file nor the name of a module"
        raise LoadError(f"{name}: {what}; {cure}")


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise LoadError(f"{path}: no such file")
    if path.suffix != ".py":
        raise LoadError(f"{path}: not a Python file; give one that ends in .py")
    path = path.resolve()
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    if parts[-1] == "__init__":
        parts.pop()
    name = ".".join(parts)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if len(parts) > 1:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path}: not a Python file; give one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _where(error: BaseException, name: str) -> str:
    if isinstance(error, SyntaxError):
        return f" ({error.filename}:{error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    theirs = [frame for frame in frames if not Path(frame.filename).resolve().is_relative_to(_OURS)]
    return f" ({theirs[-1].filename}:{theirs[-1].lineno})" if theirs else ""


def load_operator(target: str, *, namespace: str | None = None) -> Operator:
    """The operator that `target` names: the attribute given, the only Operator of the module, or else all its
    controllers together.

    Raises:
        LoadError: there is none, or several.
    """
    module = load_module(target)
    attribute = target.partition(":")[2] if not Path(target).is_file() else ""
    if attribute:
        found = getattr(module, attribute, None)
        if not isinstance(found, Operator):
            known = ", ".join(name for name, value in vars(module).items() if isinstance(value, Operator)) or "none"
            raise LoadError(f"{target}: {attribute!r} is not an Operator (there are: {known})")
        return found
    operators = {name: value for name, value in vars(module).items() if isinstance(value, Operator)}
    if len({id(value) for value in operators.values()}) > 1:
        raise LoadError(
            f"{target}: there are several operators; say which: " + ", ".join(f"{target}:{n}" for n in operators)
        )
    if operators:
        return next(iter(operators.values()))
    return _of_controllers(target, module, namespace)


def _of_controllers(target: str, module: ModuleType, namespace: str | None) -> Operator:
    controllers: list[object] = []
    for name, value in vars(module).items():
        if getattr(value, "__module__", module.__name__) != module.__name__:
            continue
        if inspect.isclass(value) and "__controller__" in vars(value):
            raise LoadError(
                f"{target}: {name} is a class; make the operator yourself: "
                f"operator = Operator('name', controllers=[{name}(...)])"
            )
        if isinstance(value, FunctionController) or hasattr(type(value), "__controller__"):
            controllers.append(value)
    if not controllers:
        raise LoadError(f"{target}: no operator and no controller in it; decorate a function with @controller(Kind)")
    name = re.sub(r"[^a-z0-9]+", "-", module.__name__.rpartition(".")[2].lower()).strip("-")
    return Operator(name or "operator", controllers=controllers, namespace=namespace)
