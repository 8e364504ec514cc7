"""A whole operator and its role: what it used is enough for it, and a part of that is not."""

from __future__ import annotations

import asyncio

import virtual
from kubewright import Context, Model, ObjectMeta, Operator, Resource, controller, resource
from kubewright.apiserver import Request, User, new_server
from kubewright.apiserver.access import RulesUsed, privileged, service_account
from kubewright.apiserver.inprocess import in_process_client
from kubewright.models.core.v1 import ConfigMap
from kubewright.models.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OPERATOR = service_account("default", "operator")


class CopySpec(Model):
    text: str


@resource(group="example.com", version="v1")
class Copy(Resource[CopySpec]):
    """A text that is copied."""


@controller(Copy, owns=[ConfigMap])
async def reconcile(copy: Copy, ctx: Context) -> None:
    await ctx.apply(ConfigMap(metadata=ObjectMeta(name=copy.metadata.name), data={"text": copy.spec.text}))


async def copied(user: User, rules: list[PolicyRule], used: RulesUsed | None = None) -> bool:
    """Whether the operator does its work as a user with these rules."""
    operator, server = Operator("copies", controllers=[reconcile]), new_server()
    for each in operator.crds():
        await server.handle(Request.of("POST", DEFINITIONS, body=each))
    if used is not None:
        server.use(used)
    async with in_process_client(server) as admin, in_process_client(server, user=user) as kube:
        await admin.create(ClusterRole(metadata=ObjectMeta(name="copies"), rules=rules))
        subject = Subject(kind="ServiceAccount", name="operator", namespace="default")
        role = RoleRef(kind="ClusterRole", name="copies", api_group="rbac.authorization.k8s.io")
        await admin.create(ClusterRoleBinding(metadata=ObjectMeta(name="copies"), subjects=[subject], role_ref=role))
        await admin.create(Copy(metadata=ObjectMeta(name="a"), spec=CopySpec(text="x")))
        async with operator.start(kube):
            await asyncio.sleep(5)
        return await admin.find(ConfigMap, "a") is not None


def test_an_operator_works_with_exactly_the_rules_that_it_used() -> None:
    async def main() -> None:
        used = RulesUsed()
        assert await copied(privileged(OPERATOR), [], used)
        rules = used.rules(OPERATOR)
        assert {"watch", "list"} <= set(next(each.verbs for each in rules if each.api_groups == ["example.com"]))
        again = RulesUsed()
        assert await copied(OPERATOR, rules, again)
        assert again.compare(OPERATOR, rules).is_exact
        without = [PolicyRule(api_groups=each.api_groups, resources=each.resources, verbs=["get"]) for each in rules]
        assert not used.compare(OPERATOR, without).is_exact

    virtual.run(main())
