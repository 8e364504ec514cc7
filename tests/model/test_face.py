from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

from kubewright import model

MODULES = [name for _, name, _ in pkgutil.iter_modules(model.__path__)]


def test_the_face_lists_what_it_has():
    assert sorted(model.__all__) == model.__all__
    for name in model.__all__:
        assert hasattr(model, name)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_exports_and_why_it_is_there(name):
    module = importlib.import_module(f"kubewright.model.{name}")
    assert len(module.__doc__.splitlines()) >= 3
    assert sorted(module.__all__) == list(module.__all__)
    for exported in module.__all__:
        assert hasattr(module, exported)


def test_the_room_loads_neither_an_event_loop_nor_sockets_nor_pyyaml():
    script = "import sys, kubewright.model; print(sorted({'asyncio', 'socket', 'ssl', 'yaml'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
