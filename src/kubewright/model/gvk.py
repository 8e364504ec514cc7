"""Names of kinds, resources and objects, as Kubernetes spells them.

`GroupVersionKind` names a type, `GroupVersionResource` names the collection it is served under, `Key` names one
object of it. All three are small tuples: they are dictionary keys on every hot path, and a tuple hashes and compares
in C.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GroupKind", "GroupVersionKind", "GroupVersionResource", "Key", "join_api_version", "split_api_version"]


def join_api_version(group: str, version: str) -> str:
    """`("apps", "v1")` -> `"apps/v1"`, `("", "v1")` -> `"v1"`."""
    return f"{group}/{version}" if group else version


def split_api_version(api_version: str) -> tuple[str, str]:
    """`"apps/v1"` -> `("apps", "v1")`, `"v1"` -> `("", "v1")`.

    Raises:
        ValueError: `api_version` is empty or has more than one slash.
    """
    group, slash, version = api_version.rpartition("/")
    if not version or "/" in group or (slash and not group):
        raise ValueError(f"apiVersion: {api_version!r} is not 'version' or 'group/version', such as 'v1' or 'apps/v1'")
    return group, version


class GroupKind(NamedTuple):
    """A kind in any version: what owner references and finalizers are compared by."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class GroupVersionKind(NamedTuple):
    """The type of an object: `GroupVersionKind("apps", "v1", "Deployment")`."""

    group: str
    version: str
    kind: str

    @classmethod
    def of(cls, api_version: str, kind: str) -> GroupVersionKind:
        """From the two fields that every object carries. Raises ValueError for a malformed `api_version`."""
        return cls(*split_api_version(api_version), kind)

    @property
    def api_version(self) -> str:
        return join_api_version(self.group, self.version)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


class GroupVersionResource(NamedTuple):
    """The collection a type is served under: `GroupVersionResource("apps", "v1", "deployments")`."""

    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        return join_api_version(self.group, self.version)

    @property
    def base_path(self) -> str:
        """`/api/v1` for the core group, `/apis/<group>/<version>` for all others."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def __str__(self) -> str:
        return f"{self.api_version}, Resource={self.resource}"


class Key(NamedTuple):
    """An object among those of its kind. `namespace` is `""` for cluster-scoped kinds."""

    namespace: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Key:
        """`"ns/name"` or `"name"`, as `str(key)` prints it. Raises ValueError for more than one slash or no name."""
        namespace, _, name = text.rpartition("/")
        if not name or "/" in namespace:
            raise ValueError(f"key: {text!r} is not 'name' or 'namespace/name'")
        return cls(namespace, name)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
