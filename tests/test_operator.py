"""`Operator`: a description that has no effect, and the ways to run it inside another program."""

from __future__ import annotations

import asyncio

import pytest

import virtual
from fakeapi import FakeApi
from kubewright import Context, Operator, controller
from kubewright.client import ClientConfig, ConnectionLost, TransportError, Unauthorized
from kubewright.manager import CacheNotSynced, Manager
from kubewright.models.core.v1 import ConfigMap
from webs import Web, web


@controller(Web)
async def greet(web: Web, ctx: Context) -> None:
    web.status.seen = "hello"


@controller(ConfigMap)
class Configs:
    async def reconcile(self, config: ConfigMap, ctx: Context) -> None: ...


def seen(api: FakeApi, name: str = "a") -> str:
    found = api.get(Web, name)
    assert found is not None
    return found.status.seen


def test_it_says_which_custom_resources_are_its_own() -> None:
    operator = Operator("test", controllers=[greet, Configs()])
    assert operator.kinds == (Web,)
    assert [crd["metadata"]["name"] for crd in operator.crds()] == ["webs.example.com"]


def test_it_refuses_what_is_no_controller_and_says_what_to_do() -> None:
    async def plain(web: Web, ctx: Context) -> None: ...

    class Plain:
        pass

    with pytest.raises(TypeError, match=r"decorate it with @controller\(Kind\)"):
        Operator("test", controllers=[plain])
    with pytest.raises(TypeError, match="Configs is a class; pass an instance of it"):
        Operator("test", controllers=[Configs])
    with pytest.raises(TypeError, match="decorate it with @controller and pass an instance"):
        Operator("test", controllers=[Plain])


def test_it_refuses_two_controllers_of_one_name() -> None:
    with pytest.raises(ValueError, match="two controllers are named 'web'; give one another name="):
        Operator("test", controllers=[greet, greet])


def test_one_controller_that_is_no_list_is_refused_with_the_cure() -> None:
    for given in (greet, Configs(), "greet"):
        with pytest.raises(TypeError, match=r"controllers must be a list; write controllers=\[\.\.\.\]"):
            Operator("test", controllers=given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "My Operator", "web_operator", "-web", "Web", "a" * 129, None, greet])
def test_a_name_that_no_lease_and_no_field_manager_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^Operator\(.*\): the name "):
        Operator(name, controllers=[])


@pytest.mark.parametrize(("namespace", "shown"), [(None, "all namespaces"), ("prod", "namespace prod")])
def test_run_tells_first_which_server_and_which_namespaces_it_works_on(
    namespace: str | None, shown: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="kubewright")
    nobody = ClientConfig(server="http://127.0.0.1:1", source="/etc/a-kubeconfig")
    with pytest.raises(TransportError):
        Operator("test", controllers=[greet], namespace=namespace).run(config=nobody, install=False)
    told = caplog.records[0]
    assert told.getMessage() == f"test: http://127.0.0.1:1, by /etc/a-kubeconfig; {shown}"


def test_with_namespace_is_another_operator() -> None:
    operator = Operator("test", controllers=[greet])
    assert (operator.with_namespace("prod").namespace, operator.namespace) == ("prod", None)


def test_start_is_entered_when_it_works_and_left_when_it_has_stopped() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        async with api.client() as client, Operator("test", controllers=[greet]).start(client) as manager:
            assert manager.ready.is_set()
            api.put(web())
            await asyncio.sleep(1)
            assert seen(api) == "hello"
        assert len(asyncio.all_tasks()) == 1

    virtual.run(main())


def test_start_leaves_the_client_open() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        client = api.client()
        async with Operator("test", controllers=[greet]).start(client):
            pass
        api.put(web())
        assert len(await client.list(Web)) == 1

    virtual.run(main())


def test_what_its_writes_own_is_owned_by_its_name() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        client = api.client(field_manager="")
        async with Operator("web-operator", controllers=[greet]).start(client):
            await asyncio.sleep(1)
        managers = [asked.query["fieldManager"] for asked in api.requests if asked.verb == "patch"]
        assert managers == ["web-operator"]

    virtual.run(main())


def test_start_raises_what_keeps_it_from_working_and_enters_nothing() -> None:
    async def main() -> None:
        api = FakeApi()
        with pytest.raises(CacheNotSynced, match="webs"):
            async with Operator("test", controllers=[greet]).start(api.client()):
                raise AssertionError("entered")
        await virtual.settle()
        assert len(asyncio.all_tasks()) == 1
        assert api.open_watches == 0

    virtual.run(main())


def test_start_raises_at_once_when_the_server_does_not_know_us() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        api.fault("*", "", status=401, reason="Unauthorized", times=1000)
        with pytest.raises(Unauthorized):
            async with Operator("test", controllers=[greet]).start(api.client()):
                raise AssertionError("entered")

    virtual.run(main())


def test_start_raises_when_there_is_no_server() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        api.fault("*", "", lost="request", times=1000)
        with pytest.raises(ConnectionLost):
            async with Operator("test", controllers=[greet]).start(api.client()):
                raise AssertionError("entered")
        assert asyncio.get_running_loop().time() < virtual.START_AT + 30

    virtual.run(main())


def test_an_error_in_the_body_stops_it_and_comes_out() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        with pytest.raises(ZeroDivisionError):
            async with Operator("test", controllers=[greet]).start(api.client()):
                raise ZeroDivisionError
        assert len(asyncio.all_tasks()) == 1

    virtual.run(main())


def test_a_failure_of_the_operator_ends_the_body_and_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails_later(manager: Manager) -> None:
        manager.ready.set()
        await asyncio.sleep(5)
        raise CacheNotSynced("webs: the server has forgotten them")

    monkeypatch.setattr(Manager, "run", fails_later)

    async def program() -> float:
        begun_at = asyncio.get_running_loop().time()
        async with FakeApi(Web).client() as client:
            with pytest.raises(CacheNotSynced, match="has forgotten them"):
                async with Operator("test", controllers=[greet]).start(client):
                    await asyncio.sleep(3600)
        return asyncio.get_running_loop().time() - begun_at

    assert virtual.run(program()) == pytest.approx(5, abs=1)


def test_cancelling_the_program_around_it_stops_it() -> None:
    async def main() -> None:
        api = FakeApi(Web)
        entered = asyncio.Event()

        async def program() -> None:
            async with Operator("test", controllers=[greet]).start(api.client()):
                entered.set()
                await asyncio.sleep(3600)

        task = asyncio.create_task(program())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1
        assert api.open_watches == 0

    virtual.run(main())


def test_one_description_runs_several_times_one_after_the_other_and_at_once() -> None:
    async def main() -> None:
        operator = Operator("test", controllers=[greet])
        for _ in range(2):
            one, other = FakeApi(Web), FakeApi(Web)
            async with operator.start(one.client()), operator.start(other.client()):
                for api in (one, other):
                    api.put(web())
                await asyncio.sleep(1)
                assert (seen(one), seen(other)) == ("hello", "hello")

    virtual.run(main())


@pytest.mark.parametrize("stop_after_seconds", [0.0, 5.0, 60.0])
def test_serve_runs_until_it_is_told_to_stop_also_while_it_starts(stop_after_seconds: float) -> None:
    async def main() -> None:
        api = FakeApi(Web)
        api.put(web())
        api.fault("list", "/webs", delay_seconds=10)
        stop = asyncio.Event()
        serving = asyncio.create_task(
            Operator("test", controllers=[greet]).serve(api.client(), stop=stop, install=False)
        )
        await asyncio.sleep(stop_after_seconds)
        assert not serving.done()
        stop.set()
        await serving
        assert asyncio.get_running_loop().time() < virtual.START_AT + stop_after_seconds + 1
        assert seen(api) == ("hello" if stop_after_seconds > 10 else "")
        assert len(asyncio.all_tasks()) == 1

    virtual.run(main())
