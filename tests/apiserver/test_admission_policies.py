"""What holds for policies, plugins and quotas besides their answers, which the fidelity suite has."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asking import CONFIG_PATH, MERGE, ask, config
from hooking import CONFIGURATIONS, Hooks, configuration, webhook

import virtual
from kubewright.apiserver import ApiServer, new_server
from kubewright.apiserver.admission.control import PLUGIN_NAMES
from kubewright.apiserver.admission.plugins import plugins_by_resource
from kubewright.apiserver.admission.plugins.table import PLUGINS
from kubewright.schema.cel.admission import ValidatingPolicy

PODS = "/api/v1/namespaces/default/pods"
QUOTAS = "/api/v1/namespaces/default/resourcequotas"
POLICIES = f"{CONFIGURATIONS}/validatingadmissionpolicies"
BINDINGS = f"{CONFIGURATIONS}/validatingadmissionpolicybindings"


def about(resource: str) -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [resource]}
    return {"resourceRules": [rule]}


async def made(server: ApiServer, path: str, kind: str, spec: dict[str, Any], name: str = "p") -> None:
    body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    answer = await ask(server, "POST", path, body)
    assert answer.status == 201, answer.body


async def denying(server: ApiServer, expression: str = "false", name: str = "p") -> None:
    spec = {"matchConstraints": about("configmaps"), "validations": [{"expression": expression}]}
    await made(server, POLICIES, "ValidatingAdmissionPolicy", spec, name)
    bound = {"policyName": name, "validationActions": ["Deny"]}
    await made(server, BINDINGS, "ValidatingAdmissionPolicyBinding", bound, name)


def pod(name: str = "a", **spec: Any) -> dict[str, Any]:
    whole = {"containers": [{"name": "c", "image": "i"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": whole}


def test_policies_and_bindings_are_in_force_when_they_were_answered_and_gone_when_deleted() -> None:
    async def main() -> None:
        server = new_server()
        await denying(server, "object.metadata.name != 'a'")
        assert (await ask(server, "POST", CONFIG_PATH, config("a"))).status == 422
        patch = {"spec": {"validations": [{"expression": "object.metadata.name != 'b'"}]}}
        assert (await ask(server, "PATCH", f"{POLICIES}/p", patch, MERGE)).status == 200
        assert (await ask(server, "POST", CONFIG_PATH, config("a"))).status == 201
        assert (await ask(server, "POST", CONFIG_PATH, config("b"))).status == 422
        assert (await ask(server, "DELETE", f"{BINDINGS}/p")).status == 200
        assert (await ask(server, "POST", CONFIG_PATH, config("b"))).status == 201

    virtual.run(main())


def test_a_policy_is_compiled_when_it_is_first_asked_and_again_only_when_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []
    init = ValidatingPolicy.__init__

    def counted(self: ValidatingPolicy, spec: Any, **more: Any) -> None:
        if not more.get("is_new"):
            compiled.append(spec["validations"][0]["expression"])
        init(self, spec, **more)

    monkeypatch.setattr(ValidatingPolicy, "__init__", counted)

    async def main() -> None:
        server = new_server()
        await denying(server, "true", "p")
        assert compiled == []
        await ask(server, "POST", CONFIG_PATH, config("a"))
        await denying(server, "1 == 1", "q")
        await ask(server, "POST", CONFIG_PATH, config("b"))
        await ask(server, "POST", CONFIG_PATH, config("c"))
        assert compiled == ["true", "1 == 1"]

    virtual.run(main())


def test_policies_are_not_about_what_configures_admission() -> None:
    async def main() -> None:
        hooks = Hooks()
        everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
        spec = {"matchConstraints": {"resourceRules": [everything]}, "validations": [{"expression": "false"}]}
        await made(hooks.server, POLICIES, "ValidatingAdmissionPolicy", spec)
        bound = {"policyName": "p", "validationActions": ["Deny"]}
        await made(hooks.server, BINDINGS, "ValidatingAdmissionPolicyBinding", bound)
        assert (await ask(hooks.server, "POST", CONFIG_PATH, config())).status == 422
        assert (await ask(hooks.server, "POST", *configuration("mutating", "c", webhook("one")))).status == 201
        assert (await ask(hooks.server, "DELETE", f"{POLICIES}/p")).status == 200

    virtual.run(main())


def test_requests_that_come_at_once_never_get_more_than_a_quota_has() -> None:
    async def main() -> None:
        hooks = Hooks()
        hooks.on("slow")
        body = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q"},
            "spec": {"hard": {"configmaps": "3"}},
        }
        await ask(hooks.server, "POST", QUOTAS, body)
        status = {"status": {"hard": {"configmaps": "3"}, "used": {"configmaps": "0"}}}
        await ask(hooks.server, "PATCH", f"{QUOTAS}/q/status", status, MERGE)
        await ask(hooks.server, "POST", *configuration("validating", "c", webhook("slow")))
        answers = await asyncio.gather(
            *(ask(hooks.server, "POST", CONFIG_PATH, config(f"c{number}")) for number in range(10))
        )
        assert sorted(each.status for each in answers) == [201] * 3 + [403] * 7
        quota = await ask(hooks.server, "GET", f"{QUOTAS}/q")
        assert quota.body["status"]["used"] == {"configmaps": "3"}

    virtual.run(main())


def test_plugins_are_there_unless_they_are_disabled() -> None:
    async def main() -> None:
        usual, without = new_server(), new_server(disabled_plugins=("ServiceAccount", "Priority"))
        all_of_them = new_server(disabled_plugins=())
        assert (await ask(usual, "POST", PODS, pod())).body["spec"]["priority"] == 0
        assert "priority" not in (await ask(without, "POST", PODS, pod())).body["spec"]
        refused = await ask(all_of_them, "POST", PODS, pod())
        assert refused.body["message"].endswith('serviceaccount "default" not found')

    virtual.run(main())


def test_the_account_of_a_pod_is_mounted_where_the_plugin_is() -> None:
    async def main() -> None:
        server = new_server(disabled_plugins=(), seed=1)
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        await ask(server, "POST", "/api/v1/namespaces/default/serviceaccounts", account)
        spec = (await ask(server, "POST", PODS, pod())).body["spec"]
        assert spec["serviceAccountName"] == "default"
        (volume,) = spec["volumes"]
        assert volume["name"].startswith("kube-api-access-")
        assert spec["containers"][0]["volumeMounts"][0]["name"] == volume["name"]

    virtual.run(main())


def test_every_kind_that_has_plugins_is_asked_about() -> None:
    server = new_server()
    admission = server.backend.admission
    assert admission is not None
    for group, plural in plugins_by_resource(frozenset()):
        kind = server.catalog.find(group, "v1", plural)
        assert kind is not None
        assert admission.asks(kind), plural


def test_a_plugin_that_there_is_not_cannot_be_disabled() -> None:
    assert {each.name for each in PLUGINS} < PLUGIN_NAMES
    with pytest.raises(ValueError, match="disabled plugins: Prioriti: use names of CertificateApproval, "):
        new_server(disabled_plugins=["Prioriti"])


def test_what_is_against_a_limit_range_in_several_containers_is_said_once() -> None:
    async def main() -> None:
        server = new_server()
        limits = {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}
        body = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": limits}
        assert (await ask(server, "POST", "/api/v1/namespaces/default/limitranges", body)).status == 201
        resources = {"limits": {"cpu": "2"}}
        both = [{"name": name, "image": "i", "resources": resources} for name in ("a", "b")]
        answer = await ask(server, "POST", PODS, pod(containers=both))
        assert answer.body["message"] == ('pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2')

    virtual.run(main())
