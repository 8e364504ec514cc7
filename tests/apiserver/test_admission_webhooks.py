"""What holds for webhooks besides their answers, which the fidelity suite has: order, time, changes, what it costs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asking import CONFIG_PATH, MERGE, ask, config, events, open_watch
from hooking import ALL_RULES, CONFIGURATIONS, Hooks, configuration, labelling, patching, rule, url, webhook

import virtual
from kubewright.apiserver import ADMIN, new_server
from kubewright.apiserver.registry import Attributes
from kubewright.apiserver.webhooks import HttpWebhooks

DENIED = {"allowed": False, "status": {"message": "no"}}


async def configured(hooks: Hooks, kind: str, *webhooks: dict[str, Any], name: str = "c") -> None:
    answer = await ask(hooks.server, "POST", *configuration(kind, name, *webhooks))
    assert answer.status == 201, answer.body


def test_a_configuration_is_in_force_when_it_was_answered_and_gone_when_it_was_deleted() -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.on("one", DENIED)
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config("a"))).status == 201
        await configured(hooks, "validating", webhook("one"))
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config("b"))).status == 400
        path = f"{CONFIGURATIONS}/validatingwebhookconfigurations/c"
        patch = {"webhooks": [webhook("one", [rule("secrets")])]}
        assert (await ask(hooks.server, "PATCH", path, patch, MERGE)).status == 200
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config("b"))).status == 201
        assert (await ask(hooks.server, "PATCH", path, {"webhooks": [webhook("one")]}, MERGE)).status == 200
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config("c"))).status == 400
        assert (await ask(hooks.server, "DELETE", path)).status == 200
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config("c"))).status == 201

    virtual.run(main())


def test_what_was_configured_before_a_start_is_in_force_after_it() -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.on("one", DENIED)
        await configured(hooks, "validating", webhook("one"))
        again = new_server(store=hooks.server.store.fork(), webhooks=hooks.webhooks)
        assert (await ask(again, "POST", CONFIG_PATH, config())).status == 400

    virtual.run(main())


def test_a_fork_has_the_configurations_and_changes_only_its_own() -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.on("one", DENIED)
        await configured(hooks, "validating", webhook("one"))
        fork = hooks.server.fork()
        await ask(hooks.server, "DELETE", f"{CONFIGURATIONS}/validatingwebhookconfigurations/c")
        assert (await ask(fork, "POST", CONFIG_PATH, config())).status == 400
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config())).status == 201

    virtual.run(main())


@pytest.mark.parametrize(("policy", "status"), [("Fail", 500), ("Ignore", 201)])
def test_a_webhook_that_does_not_answer_ends_by_its_timeout(policy: str, status: int) -> None:
    async def main() -> None:
        hooks = Hooks()

        async def never(review: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(3600)
            raise AssertionError("it was not cancelled")

        hooks.webhooks.handlers[url("one")] = never
        await configured(hooks, "mutating", webhook("one", failurePolicy=policy, timeoutSeconds=7))
        started = asyncio.get_running_loop().time()
        answer = await ask(hooks.server, "POST", CONFIG_PATH, config())
        assert answer.status == status
        assert asyncio.get_running_loop().time() - started == pytest.approx(7)

    virtual.run(main())


def test_validating_webhooks_are_asked_at_the_same_time_and_mutating_ones_after_each_other() -> None:
    async def main() -> None:
        hooks = Hooks()

        def slow(name: str) -> None:
            async def handle(review: dict[str, Any]) -> dict[str, Any]:
                await asyncio.sleep(2)
                response = {"uid": review["request"]["uid"], "allowed": True}
                return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

            hooks.webhooks.handlers[url(name)] = handle

        names = ["one", "two", "three"]
        for name in names:
            slow(name)
        time = asyncio.get_running_loop().time
        await configured(hooks, "validating", *map(webhook, names))
        started = time()
        await ask(hooks.server, "POST", CONFIG_PATH, config("a"))
        assert time() - started == pytest.approx(2)
        await ask(hooks.server, "DELETE", f"{CONFIGURATIONS}/validatingwebhookconfigurations/c")
        await configured(hooks, "mutating", *map(webhook, names))
        started = time()
        await ask(hooks.server, "POST", CONFIG_PATH, config("b"))
        assert time() - started == pytest.approx(6)

    virtual.run(main())


def test_a_request_that_is_cancelled_has_cancelled_its_webhooks_and_written_nothing() -> None:
    async def main() -> None:
        hooks, ended = Hooks(), []

        async def never(review: dict[str, Any]) -> dict[str, Any]:
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append(review["request"]["name"])
            return {}

        for name in ("one", "two"):
            hooks.webhooks.handlers[url(name)] = never
        await configured(hooks, "validating", webhook("one"), webhook("two"))
        task = asyncio.create_task(ask(hooks.server, "POST", CONFIG_PATH, config()))
        await virtual.settle()
        task.cancel()
        await asyncio.wait([task])
        assert ended == ["a", "a"]
        assert hooks.server.store.get("/configmaps", "default/a") is None

    virtual.run(main())


def test_a_handler_that_fails_is_a_webhook_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        hooks = Hooks()

        def broken(request: dict[str, Any]) -> dict[str, Any]:
            raise ZeroDivisionError

        hooks.on("one", broken)
        await configured(hooks, "validating", webhook("one"))
        answer = await ask(hooks.server, "POST", CONFIG_PATH, config())
        assert answer.status == 500
        assert 'failed calling webhook "one.example.com"' in answer.body["message"]

    virtual.run(main())
    assert "ZeroDivisionError" in caplog.text


def test_a_service_is_answered_by_a_function_or_looked_up() -> None:
    async def main() -> None:
        hooks = Hooks()
        looked: list[tuple[str, str, int]] = []

        def resolve(namespace: str, name: str, port: int) -> str:
            looked.append((namespace, name, port))
            raise LookupError("no endpoints available")

        hooks.webhooks = HttpWebhooks(resolve=resolve)
        hooks.server = new_server(webhooks=hooks.webhooks)
        service = {"service": {"name": "hook", "namespace": "system", "path": "/validate"}}
        await configured(hooks, "validating", webhook("one", clientConfig=service))
        answer = await ask(hooks.server, "POST", CONFIG_PATH, config())
        shown = 'Post "https://hook.system.svc:443/validate?timeout=10s": no endpoints available'
        assert answer.body["message"].endswith(f'"one.example.com": failed to call webhook: {shown}')
        assert looked == [("system", "hook", 443)]
        hooks.on("one")
        hooks.webhooks.handlers["https://hook.system.svc/validate"] = hooks.webhooks.handlers[url("one")]
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config())).status == 201
        assert hooks.names == ["one"]

    virtual.run(main())


def test_webhooks_see_what_an_update_is_made_of_when_somebody_was_faster() -> None:
    """The write starts over with what is there now, and asks again."""

    async def main() -> None:
        hooks = Hooks()
        seen: list[str] = []

        async def handle(review: dict[str, Any]) -> dict[str, Any]:
            request = review["request"]
            seen.append(request["oldObject"]["data"].get("n", ""))
            if len(seen) == 1:
                other = hooks.server.backend.admission
                hooks.server.backend.admission = None
                await ask(hooks.server, "PATCH", f"{CONFIG_PATH}/a", {"data": {"n": "1"}}, MERGE)
                hooks.server.backend.admission = other
            response = {"uid": request["uid"], "allowed": True}
            return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

        hooks.webhooks.handlers[url("one")] = handle
        await ask(hooks.server, "POST", CONFIG_PATH, config(data={"n": "0"}))
        await configured(hooks, "validating", webhook("one"))
        answer = await ask(hooks.server, "PATCH", f"{CONFIG_PATH}/a", {"data": {"m": "x"}}, MERGE)
        assert seen == ["0", "1"]
        assert answer.body["data"] == {"n": "1", "m": "x"}

    virtual.run(main())


def test_a_webhook_is_asked_again_for_what_a_plugin_of_the_server_changed() -> None:
    """A Pod whose tolerations a webhook takes away gets them back in the second round, which the webhook sees."""

    async def main() -> None:
        hooks = Hooks()
        hooks.on("one", lambda request: patching({"op": "remove", "path": "/spec/tolerations"}))
        await configured(hooks, "mutating", webhook("one", [rule("pods", "CREATE")], reinvocationPolicy="IfNeeded"))
        body = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}
        body["spec"] = {"containers": [{"name": "c", "image": "i"}]}
        made = await ask(hooks.server, "POST", "/api/v1/namespaces/default/pods", body)
        assert hooks.names == ["one", "one"]
        assert "tolerations" not in made.body["spec"]

    virtual.run(main())


def test_nothing_is_asked_and_nothing_imported_where_nobody_has_configured_anything() -> None:
    async def main() -> None:
        hooks = Hooks()
        kind = hooks.server.catalog.find("", "v1", "configmaps")
        admission = hooks.server.backend.admission
        assert kind is not None
        assert admission is not None
        assert not admission.asks(kind)
        await configured(hooks, "validating", webhook("one", [rule("secrets")]))
        assert admission.asks(kind)
        await ask(hooks.server, "DELETE", f"{CONFIGURATIONS}/validatingwebhookconfigurations/c")
        assert not admission.asks(kind)

    virtual.run(main())


def test_a_thousand_slow_calls_keep_no_watch_and_no_other_request_waiting() -> None:
    async def main() -> None:
        hooks = Hooks()

        async def slow(review: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(1)
            response = {"uid": review["request"]["uid"], "allowed": True}
            return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

        hooks.webhooks.handlers[url("one")] = slow
        await configured(hooks, "validating", webhook("one"))
        stream = await open_watch(hooks.server, "/api/v1/namespaces/default/secrets?watch=true")
        time = asyncio.get_running_loop().time
        started = time()
        calls = [asyncio.create_task(ask(hooks.server, "POST", CONFIG_PATH, config(f"a{n}"))) for n in range(1000)]
        await virtual.settle(3)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        assert (await ask(hooks.server, "POST", "/api/v1/namespaces/default/secrets", secret)).status == 201
        assert [type_ for type_, _ in await events(stream, 1)] == ["ADDED"]
        assert time() == started
        assert {(await each).status for each in calls} == {201}
        assert time() - started == pytest.approx(1)
        stream.close()

    virtual.run(main())


def test_every_write_of_every_kind_is_shown_to_a_webhook_for_all() -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.on("all")
        await configured(hooks, "validating", webhook("all", ALL_RULES))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
        pod["spec"] = {"containers": [{"name": "c", "image": "i"}]}
        pods = "/api/v1/namespaces/default/pods"
        await ask(hooks.server, "POST", pods, pod)
        await ask(hooks.server, "PATCH", f"{pods}/a", {"metadata": {"labels": {"a": "b"}}}, MERGE)
        await ask(hooks.server, "PATCH", f"{pods}/a/status", {"status": {"phase": "Running"}}, MERGE)
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}
        await ask(hooks.server, "POST", f"{pods}/a/eviction?dryRun=All", eviction)
        await ask(hooks.server, "GET", f"{pods}/a/exec?command=ls")
        await ask(hooks.server, "DELETE", pods)
        await ask(hooks.server, "DELETE", "/api/v1/namespaces/default")
        seen = [
            (each["operation"], each["resource"]["resource"], each.get("subResource", "")) for _, each in hooks.asked
        ]
        assert seen == [
            ("CREATE", "pods", ""),
            ("UPDATE", "pods", ""),
            ("UPDATE", "pods", "status"),
            ("CREATE", "pods", "eviction"),
            ("CONNECT", "pods", "exec"),
            ("DELETE", "pods", ""),
            ("DELETE", "pods", ""),
        ]

    virtual.run(main())


def test_what_webhooks_annotate_is_there_for_the_audit_event() -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.on("one", {"auditAnnotations": {"why": "because"}})
        hooks.on("two", labelling("a"))
        await configured(hooks, "mutating", webhook("one"), webhook("two"))
        noted: dict[str, str] = {}
        kind = hooks.server.catalog.find("", "v1", "configmaps")
        admission = hooks.server.backend.admission
        assert kind is not None
        assert admission is not None
        attributes = Attributes(
            "CREATE", kind, None, "default", "a", config(), None, {}, False, ADMIN, print, noted.setdefault
        )
        assert admission.asks(kind)
        await admission.admit(attributes)
        assert noted == {
            "one.example.com/why": "because",
            "mutation.webhook.admission.k8s.io/round_0_index_0": (
                '{"configuration":"c","webhook":"one.example.com","mutated":false}'
            ),
            "mutation.webhook.admission.k8s.io/round_0_index_1": (
                '{"configuration":"c","webhook":"two.example.com","mutated":true}'
            ),
        }

    virtual.run(main())


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"uid": 5}, "number into Go struct field AdmissionResponse.response.uid of type types.UID"),
        ({"allowed": "yes"}, "string into Go struct field AdmissionResponse.response.allowed of type bool"),
        ({"status": "no"}, "string into Go struct field AdmissionResponse.response.status of type v1.Status"),
        ({"status": {"code": "x"}}, "string into Go struct field Status.response.status.code of type int32"),
        ({"status": {"code": 1.5}}, "number 1.5 into Go struct field Status.response.status.code of type int32"),
        (
            {"status": {"details": {"causes": [5]}}},
            "number into Go struct field StatusDetails.response.status.details.causes of type v1.StatusCause",
        ),
        ({"warnings": [5]}, "number into Go struct field AdmissionResponse.response.warnings of type string"),
        (
            {"auditAnnotations": ["x"]},
            "array into Go struct field AdmissionResponse.response.auditAnnotations of type map[string]string",
        ),
        ({"patchType": {}}, "object into Go struct field AdmissionResponse.response.patchType of type v1.PatchType"),
    ],
)
@pytest.mark.parametrize("kind", ["mutating", "validating"])
def test_an_answer_of_other_types_is_a_webhook_that_failed(kind: str, said: dict[str, Any], why: str) -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.on("a", {"allowed": False, **said})
        for policy in ("Fail", "Ignore"):
            path, body = configuration(kind, "a", webhook("a", failurePolicy=policy))
            assert (await ask(hooks.server, "POST", path, body)).status == 201
            answer = await ask(hooks.server, "POST", CONFIG_PATH, config())
            if policy == "Fail":
                assert (answer.status, answer.body["message"]) == (
                    500,
                    'Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: '
                    f"json: cannot unmarshal {why}",
                )
            else:
                assert answer.status == 201
            await ask(hooks.server, "DELETE", f"{path}/a")

    asyncio.run(main())


def test_a_patch_of_a_webhook_is_no_deeper_than_a_body_may_be() -> None:
    async def main() -> None:
        hooks = Hooks()
        value: Any = 1
        for _ in range(240):
            value = [value]
        hooks.on("a", patching({"op": "add", "path": "/data", "value": value}))
        await ask(hooks.server, "POST", *configuration("mutating", "a", webhook("a")))
        answer = await ask(hooks.server, "POST", CONFIG_PATH, config())
        assert (answer.status, answer.body["message"].rpartition(": ")[2]) == (500, "exceeded max depth")

    asyncio.run(main())


def test_a_status_that_http_cannot_write_is_an_error_of_the_server() -> None:
    async def main() -> list[int]:
        hooks, found = Hooks(), []
        await ask(hooks.server, "POST", *configuration("validating", "a", webhook("a")))
        for code in (-1, 200, 418, 999, 1000, 2**31 - 1):
            hooks.on("a", {"allowed": False, "status": {"code": code}})
            found.append((await ask(hooks.server, "POST", CONFIG_PATH, config())).status)
        return found

    assert asyncio.run(main()) == [400, 400, 418, 999, 500, 500]
