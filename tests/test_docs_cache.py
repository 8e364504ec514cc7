"""The python blocks of docs/cache.md, word by word: they type-check, and do what the page says."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import virtual
from fakeapi import FakeApi
from kubewright.cache import Condition, OutsideCache
from kubewright.cache.reader import CacheNotSynced
from kubewright.client.discovery import Discovery
from kubewright.manager import Informers
from kubewright.model import Key, ObjectMeta, decode, unstructured
from kubewright.models.core.v1 import ConfigMap, Pod, Secret
from kubewright.testing import FakeContext
from pages import check_types, write_blocks
from webs import config


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_blocks("docs/cache.md", tmp_path_factory.mktemp("cache"))


def load(folder: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_every_block_has_a_name(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) == 4


def test_the_blocks_pass_mypy_in_strict_mode(folder: Path) -> None:
    check_types(folder)


def test_the_operator_holds_what_the_page_says(folder: Path) -> None:
    module = load(folder, "operator_options")

    async def main() -> None:
        api = FakeApi(module.Database, ConfigMap, Secret)
        database = module.Database(metadata=ObjectMeta(name="a", namespace="prod"))
        database.spec.secret_name = "s"
        api.put(database)
        api.put(Secret(metadata=ObjectMeta(name="s", namespace="prod")))
        mine = config("mine", "prod")
        mine.metadata.labels = {"app": "database"}
        api.put(mine)
        api.put(config("other", "prod"))
        async with module.operator.start(api.client()) as manager:
            await asyncio.sleep(1)
            asked = sorted(str(each) for each in api.requests if each.verb in ("get", "list") and "prod/" in each.path)
            assert asked == [
                "get /api/v1/namespaces/prod/secrets/s",
                "list /api/v1/namespaces/prod/configmaps",
                "list /apis/example.com/v1/namespaces/prod/databases",
            ]
            found = await manager.reader.list(ConfigMap)
            assert [each.metadata.name for each in found] == ["mine"]
            with pytest.raises(OutsideCache, match="which has prod, staging"):
                await manager.reader.find(ConfigMap, Key("default", "x"))

    virtual.run(main())


def test_an_optional_kind_is_waited_for(folder: Path) -> None:
    module = load(folder, "optional_kinds")

    async def main() -> None:
        api = FakeApi()
        client = api.client()
        client._discovery = Discovery(client.http, clock=asyncio.get_running_loop().time)
        informers = Informers(client, options=module.options)
        informer = await informers.settled(module.ServiceMonitor)
        assert not informer.has_synced
        assert informer.condition is Condition.NOT_INSTALLED
        with pytest.raises(CacheNotSynced, match="ServiceMonitor"):
            await informers.synced(module.ServiceMonitor)
        installed = unstructured("monitoring.coreos.com/v1", "ServiceMonitor", plural="servicemonitors")
        api.install(installed)
        await informer.wait_synced(15)
        await informers.stop()

    virtual.run(main())


def test_the_lists_find_what_the_page_says(folder: Path) -> None:
    module = load(folder, "indexes")
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "c1"}}
    containers = [{"name": "main", "image": "app:1"}, {"name": "side", "image": "proxy:2"}]
    pod = decode(
        Pod,
        b"%b"
        % _json(
            {
                "metadata": {"name": "a", "namespace": "default", "labels": {"app": "x"}},
                "spec": {"nodeName": "n1", "containers": containers, "volumes": [volume]},
            }
        ),
    )
    ctx = FakeContext(config("owner", "default"), objects=[pod])

    async def main() -> None:
        assert len(await module.using("c1", ctx)) == 1
        assert len(await module.using("c2", ctx)) == 0
        assert len(await module.on_node("n1", ctx)) == 1
        assert len(await module.on_node("n2", ctx)) == 0
        assert len(await module.running_image("proxy:2", ctx)) == 1

    virtual.run(main())


def test_tenants_come_and_go(folder: Path) -> None:
    operators, tenants = load(folder, "operator_options"), load(folder, "tenants")

    async def main() -> None:
        api = FakeApi(operators.Database, ConfigMap, Secret)
        async with operators.operator.start(api.client()) as manager:
            await tenants.tenant_came(manager, "blue")
            assert await manager.reader.find(ConfigMap, Key("blue", "x")) is None
            await tenants.tenant_left(manager, "blue")
            with pytest.raises(OutsideCache):
                await manager.reader.find(ConfigMap, Key("blue", "x"))

    virtual.run(main())


def _json(value: object) -> bytes:
    import orjson

    return orjson.dumps(value)
