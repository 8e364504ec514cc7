"""The RBAC rule that a refused request lacks.

Owns the reading of the API server's "cannot ... resource ..." sentence (k8s.io/apiserver, `responsewriters.Forbidden`)
and the writing of the rule that would allow it. It is text to value to text: it asks no server, and it does not know
whether somebody may grant the rule.

The sentence is read because the Status carries no verb, and neither the group of what is asked for when it is core.
Where it is another sentence (an admission plug-in forbids too: quota, pod security) there is no rule to add.
"""

from __future__ import annotations

import re

from msgspec import Struct

__all__ = ["RbacRule", "missing_rule"]

# Texts: re compiles them, and keeps that, when there is a 403 to explain.
_RESOURCE = (
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]*)"| at the cluster scope)?'
)
_PATH = r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) path "(?P<path>[^"]*)"'
_SERVICE_ACCOUNT = r"system:serviceaccount:([^:]+):([^:]+)"


class RbacRule(Struct, frozen=True):
    """One rule of a Role (`namespace` set) or ClusterRole, and the user who lacks it.

    Either `api_group` (the core group is "") and `resource` ("pods", "pods/log") are set, or `non_resource_url` is.
    """

    user: str
    verb: str
    api_group: str = ""
    resource: str = ""
    namespace: str = ""
    non_resource_url: str = ""

    @property
    def subject(self) -> str:
        """Who must be bound: "ServiceAccount namespace/name", or "User name"."""
        account = re.fullmatch(_SERVICE_ACCOUNT, self.user)
        return f"ServiceAccount {account[1]}/{account[2]}" if account else f"User {self.user}"

    def as_yaml(self) -> str:
        """The rule on one line, as it is written under `rules:`."""
        if self.non_resource_url:
            return f'{{nonResourceURLs: ["{self.non_resource_url}"], verbs: ["{self.verb}"]}}'
        return f'{{apiGroups: ["{self.api_group}"], resources: ["{self.resource}"], verbs: ["{self.verb}"]}}'

    def __str__(self) -> str:
        role = f"a Role in namespace {self.namespace}" if self.namespace else "a ClusterRole"
        return f"bind {self.subject} to {role} with the rule {self.as_yaml()}"


def missing_rule(message: str) -> RbacRule | None:
    """Return the rule that the message of a 403 asks for, None if it is not about RBAC."""
    if found := re.search(_RESOURCE, message):
        return RbacRule(
            found["user"], found["verb"], found["group"], found["resource"], namespace=found["namespace"] or ""
        )
    if found := re.search(_PATH, message):
        return RbacRule(found["user"], found["verb"], non_resource_url=found["path"])
    return None
