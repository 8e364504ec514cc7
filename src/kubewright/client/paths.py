"""Where an object lives in the API: URL paths, and what may stand in one.

Owns the form of a path (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris), the rule which
namespace a call means, and the refusal of names that would make it mean something else: an empty name turns the
deletion of an object into the deletion of its collection. Such a call never leaves the program: `InvalidRequest`.

| scope           | collection                              | object             | subresource                |
|-----------------|-----------------------------------------|--------------------|----------------------------|
| cluster         | `/apis/<group>/<version>/<plural>`      | `.../<name>`       | `.../<name>/<subresource>` |
| one namespace   | `.../namespaces/<namespace>/<plural>`   | `.../<name>`       | `.../<name>/<subresource>` |
| all namespaces  | as a cluster-scoped one; only to read   |                    |                            |

It knows no HTTP and no query. Prefixes are remembered per class and namespace (`PathCache`), so that a path costs one
look-up, one check of the name and one join.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from ..model import Object, ResourceInfo

__all__ = ["InvalidRequest", "PathCache", "collection_path", "namespace_of", "segment"]

# What almost every name consists of, and nothing that a URL would need to quote.
_PLAIN = re.compile(r"[A-Za-z0-9:_~-][A-Za-z0-9:._~-]*").fullmatch
_SAFE = ":@!$&'()*+,;=~"
_REMEMBERED = 4096


class InvalidRequest(ValueError):
    """A call that was refused before anything was sent: the arguments are at fault, not the server.

    Attributes: `field` such as `metadata.name`, `value`, `rule`, `cure` (may be empty).
    """

    def __init__(self, field: str, value: object, rule: str, cure: str = "") -> None:
        super().__init__(field, value, rule, cure)
        self.field, self.value, self.rule, self.cure = field, value, rule, cure

    def __str__(self) -> str:
        return f"{self.field}: {self.value!r} {self.rule}" + (f"; {self.cure}" if self.cure else "")


def segment(value: str, field: str) -> str:
    """`value` as one segment of a path, percent-encoded where needed.

    Raises:
        InvalidRequest: empty, `.`, `..`, or with a `/` or `%` in it: the rule of all names in Kubernetes
            (k8s.io/apimachinery/pkg/api/validation/path). `field` is named in the error.
    """
    if not isinstance(value, str):
        raise InvalidRequest(field, value, "is not a str")
    if _PLAIN(value):
        return value
    if not value:
        raise InvalidRequest(field, value, "is empty and would address the whole collection", f"give {field}")
    if value in (".", ".."):
        raise InvalidRequest(field, value, "may not be '.' or '..'", "use another name")
    for character in "/%":
        if character in value:
            raise InvalidRequest(field, value, f"may not contain {character!r}", "use another name")
    try:
        return quote(value, safe=_SAFE)
    except UnicodeEncodeError:
        raise InvalidRequest(field, value, "is not text that UTF-8 can carry") from None


def namespace_of(info: ResourceInfo, asked: str | None, in_object: str, default: str) -> str:
    """The namespace that a call on one object means; `""` for a cluster-scoped kind.

    Args:
        asked: the call's `namespace=`, None where it gave none.
        in_object: `metadata.namespace` of the object or key, `""` where it has none.
        default: the client's.

    Raises:
        InvalidRequest: the two differ, or the kind is cluster-scoped and one was given.
    """
    if not info.namespaced:
        given = asked or in_object
        if given:
            raise InvalidRequest(
                "namespace", given, f"was given for {info.kind}, which is cluster-scoped", "leave it out"
            )
        return ""
    if asked is not None:
        if in_object and asked != in_object:
            cure = "give one of the two"
            raise InvalidRequest("namespace", asked, f"is not the object's own namespace {in_object!r}", cure)
        return asked
    return in_object or default


def collection_path(info: ResourceInfo, namespace: str | None) -> str:
    """The path of a collection, without a slash at its end.

    `namespace` None stands for all namespaces, and for a cluster-scoped kind. Raises InvalidRequest.
    """
    base = f"/apis/{info.group}/{info.version}" if info.group else f"/api/{info.version}"
    if namespace is None or not info.namespaced:
        if namespace:
            namespace_of(info, namespace, "", "")
        return f"{base}/{info.plural}"
    return f"{base}/namespaces/{segment(namespace, 'namespace')}/{info.plural}"


class PathCache:
    """Paths of collections by class and namespace, made once.

    Bounded: classes and namespaces come and go in a long-lived program, and it starts anew when it is full.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[type[Object], str | None], str] = {}

    def collection(self, cls: type[Object], info: ResourceInfo, namespace: str | None) -> str:
        """`collection_path` of a class. Raises InvalidRequest."""
        key = (cls, namespace)
        path = self._known.get(key)
        if path is None:
            path = collection_path(info, namespace)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = path
        return path

    def forget(self, cls: type[Object]) -> None:
        """Drop the paths of a class: the server serves it elsewhere now."""
        for key in [key for key in self._known if key[0] is cls]:
            del self._known[key]
