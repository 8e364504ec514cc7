"""Makes `builtin.zip`, the facts of the built-in kinds of a Kubernetes release.

    (cd hack/gotypes && go run . > /tmp/gotypes.json)
    python -m kubewright.apiserver.builtin.make SOURCE /tmp/gotypes.json [--check]

`SOURCE` is a server of the release with its default settings and nothing installed, such as `http://127.0.0.1:8001`
behind `kubectl proxy`: its discovery says what is served and in which order, its OpenAPI v3 documents have the schemas.
`--check` writes nothing and fails where the file would change. The layout of the file is told in `datafile`.
"""

from __future__ import annotations

import io
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from .datafile import DATA_PATH

__all__ = ["Fetch", "build", "main", "parameters", "resources", "schemas"]

Fetch = Callable[[str, str], Any]
"""Path and accepted media type to the decoded answer."""

_DISCOVERY: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_JSON: Final = "application/json"
_TABLE: Final = "application/json;as=Table;v=v1;g=meta.k8s.io"
_PACKAGES: Final = (
    ("k8s.io/api/", ""),
    ("k8s.io/apimachinery/pkg/apis/", ""),
    ("k8s.io/apimachinery/pkg/api/", ""),
    ("k8s.io/apimachinery/pkg/util/", ""),
    ("k8s.io/apimachinery/pkg/", ""),
    ("k8s.io/apiextensions-apiserver/pkg/apis/", ""),
    ("k8s.io/kube-aggregator/pkg/apis/", ""),
)
_ALWAYS: Final = ("v1",)
_SELF_READING: Final = "custom"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def build(fetch: Fetch, gotypes: Mapping[str, Any]) -> bytes:
    """The content of the data file."""
    groups = resources(fetch)
    served = {_api_version(group["group"], each["version"]) for group in groups for each in group["versions"]}
    entries: dict[str, Any] = {"resources.json": groups}
    described = schemas(fetch)
    entries |= _types(gotypes, served, _defaults(described))
    entries |= described
    entries |= parameters(fetch)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(entries):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), orjson.dumps(entries[name]), zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()


def _api_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


# -- discovery --------------------------------------------------------------------------------------------------------


def resources(fetch: Fetch, only: Collection[str] | None = None) -> list[dict[str, Any]]:
    """The groups, versions and resources of a server, in the order of its discovery: `resources.json`. The groups may
    be limited to those of these names."""
    groups = [*fetch("/api", _DISCOVERY)["items"], *fetch("/apis", _DISCOVERY)["items"]]
    return [
        {
            "group": _name(group),
            "versions": [
                {
                    "version": each["version"],
                    "resources": [_resource(fetch, _name(group), each["version"], one) for one in each["resources"]],
                }
                for each in group["versions"]
            ],
        }
        for group in groups
        if only is None or _name(group) in only
    ]


def _name(group: dict[str, Any]) -> str:
    name: str = group.get("metadata", {}).get("name", "")
    return name


def _resource(fetch: Fetch, group: str, version: str, found: dict[str, Any]) -> dict[str, Any]:
    made = {
        "columns": _columns(fetch, group, version, found),
        "plural": found["resource"],
        "kind": found["responseKind"]["kind"],
        "namespaced": found["scope"] == "Namespaced",
        "singular": found["singularResource"],
        "verbs": found["verbs"],
        "short_names": found.get("shortNames", []),
        "categories": found.get("categories", []),
        "subresources": [
            {
                "name": each["subresource"],
                "group": each["responseKind"].get("group", ""),
                "version": each["responseKind"].get("version", ""),
                "kind": each["responseKind"]["kind"],
                "verbs": each["verbs"],
            }
            for each in found.get("subresources", [])
        ],
    }
    return {name: each for name, each in made.items() if each not in ([], "")}


def _columns(fetch: Fetch, group: str, version: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    """The columns of the Table, as the server gives them with a list, however empty."""
    if "list" not in found["verbs"]:
        return []
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    table = fetch(f"{root}/{found['resource']}?limit=1", _TABLE)
    columns: list[dict[str, Any]] = table["columnDefinitions"]
    return columns


# -- Go types ---------------------------------------------------------------------------------------------------------


def _defaults(schemas: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The defaults in the schemas that say something, by component. Those of Go's zero values do not."""
    made: dict[str, dict[str, Any]] = {}
    for entry, components in schemas.items():
        if entry.startswith("schemas/"):
            for name, schema in components.items():
                found = {
                    field: each["default"]
                    for field, each in schema.get("properties", {}).items()
                    if "default" in each and each["default"] != {}
                }
                made[f"{entry[8:-5]}.{name}"] = found
    return made


def _component(type_name: str) -> str:
    """`k8s.io/api/core/v1.Pod` as OpenAPI calls it: `io.k8s.api.core.v1.Pod`."""
    host, _, path = type_name.partition("/")
    return ".".join([*reversed(host.split(".")), *path.split("/")])


def _types(
    gotypes: Mapping[str, Any], served: Iterable[str], defaults: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    wanted = {*served, *_ALWAYS}
    kinds: dict[str, dict[str, str]] = {}
    for name, type_name in gotypes["kinds"].items():
        api_version, kind = name.split(" ")
        if api_version in wanted and not _is_internal(type_name, kind):
            kinds.setdefault(api_version, {})[kind] = _short(type_name)
    packages: dict[str, dict[str, Any]] = {}
    found = gotypes["types"]
    todo = [each for name, each in gotypes["kinds"].items() if name.split(" ")[0] in wanted]
    todo.append("k8s.io/apimachinery/pkg/apis/meta/v1.Status")
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        raw = found[name]
        todo += [each["type"] for each in raw.get("fields", ())] if not raw.get("custom") else []
        if "elem" in raw:
            todo.append(raw["elem"])
        if "/" in name and not name.startswith(("*", "[]", "map[")):
            package, _, short = _short(name).rpartition(".")
            packages.setdefault(package, {})[short] = _described(raw, defaults.get(_component(name), {}))
    entries = {f"types/{package.replace('/', '_')}.json": each for package, each in packages.items()}
    return {"types/kinds.json": kinds, **entries}


def _is_internal(type_name: str, kind: str) -> bool:
    return type_name.endswith(".InternalEvent") or kind == "WatchEvent"


def _described(raw: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    if raw.get("custom"):
        return {"kind": _SELF_READING}
    if raw["kind"] == "struct":
        return {"kind": "struct", "fields": [_field(each, defaults) for each in raw.get("fields", ())]}
    made = {"kind": raw["kind"]}
    if "elem" in raw:
        made["elem"] = _short(raw["elem"])
    return made


def _field(raw: dict[str, Any], defaults: Mapping[str, Any]) -> list[Any]:
    omits = raw.get("omit", "")
    tag = raw.get("protobuf", "").split(",")
    default = defaults.get(raw["name"])
    made = [
        "" if raw.get("inline") else raw["name"],
        _short(raw["type"]),
        "zero" if "omitzero" in omits else "empty" if omits else "",
        raw.get("strategy", ""),
        raw.get("key", ""),
        int(tag[1]) if len(tag) > 1 else 0,
    ]
    # Only a pointer tells an empty value from none.
    if default or (default is not None and raw["type"].startswith("*")):
        made.append(default)
    return made


def _short(name: str) -> str:
    """The name of a type with its package cut short, and maps by text."""
    if name.startswith("*"):
        return f"*{_short(name[1:])}"
    if name.startswith("[]"):
        return f"[]{_short(name[2:])}"
    if name.startswith("map["):
        return f"map[string]{_short(name[name.index(']') + 1 :])}"
    for prefix, short in _PACKAGES:
        if name.startswith(prefix):
            return short + name[len(prefix) :]
    return name


# -- schemas ----------------------------------------------------------------------------------------------------------


def schemas(fetch: Fetch) -> dict[str, Any]:
    """The components of the OpenAPI v3 documents of a server, and which document has which, by entry of the file."""
    entries: dict[str, Any] = {}
    paths = fetch("/openapi/v3", _JSON)["paths"]
    for name in sorted(paths):
        if name != "api/v1" and not (name.startswith("apis/") and name.count("/") == 2):
            continue
        document = fetch(paths[name]["serverRelativeURL"], _JSON)
        components = document.get("components", {}).get("schemas", {})
        entries[f"openapi/{name.removeprefix('apis/').removeprefix('api/').replace('/', '_')}.json"] = sorted(
            components
        )
        for component in sorted(components):
            prefix, _, short = component.rpartition(".")
            entries.setdefault(f"schemas/{prefix}.json", {}).setdefault(short, components[component])
    return entries


def parameters(fetch: Fetch) -> dict[str, Any]:
    """The parameters of operations: the same for all kinds, so those of one that has them all."""
    paths = fetch(fetch("/openapi/v3", _JSON)["paths"]["apis/apps/v1"]["serverRelativeURL"], _JSON)["paths"]
    collection = paths["/apis/apps/v1/namespaces/{namespace}/deployments"]
    named = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]
    verbs = {
        operation["x-kubernetes-action"]: operation.get("parameters", [])
        for path in (collection, named)
        for name, operation in path.items()
        if name != "parameters"
    }
    shared = {each["name"]: each for each in named["parameters"]}
    return {"openapi/parameters.json": {"verbs": verbs, "shared": shared}}


def _plain(address: str) -> Fetch:
    def fetch(path: str, accept: str) -> Any:
        request = urllib.request.Request(f"{address}{path}", headers={"Accept": accept})  # noqa: S310
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return orjson.loads(answer.read())

    return fetch


def main(arguments: Sequence[str]) -> int:
    """See the module. Returns the exit code: 1 for bad input, or where `--check` found a difference."""
    sources = [argument for argument in arguments if argument != "--check"]
    if len(sources) != 2:
        print("usage: python -m kubewright.apiserver.builtin.make SOURCE GOTYPES [--check]", file=sys.stderr)
        return 2
    try:
        made = build(_plain(sources[0].rstrip("/")), orjson.loads(Path(sources[1]).read_bytes()))
    except (OSError, urllib.error.URLError, orjson.JSONDecodeError, KeyError) as error:
        said = "give the address of a server and what gotypes wrote"
        print(f"{sources[0]}, {sources[1]}: {error}; {said}", file=sys.stderr)
        return 1
    if DATA_PATH.exists() and DATA_PATH.read_bytes() == made:
        return 0
    print(DATA_PATH.name)
    if "--check" in arguments:
        return 1
    DATA_PATH.write_bytes(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
