"""The generic registry: what all kinds share. What the real server says in each case is the fidelity suite's matter."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import orjson
import pytest
from asking import (
    CONFIG_PATH,
    CONFIGS,
    MERGE,
    NAMESPACES,
    THINGS,
    Clock,
    Things,
    ask,
    config,
    done,
    events,
    open_watch,
    server,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import virtual
from kubewright.apiserver import ApiServer, Catalog, Context, Request, ResourceType, Response, StatusError
from kubewright.apiserver.registry import Attributes
from kubewright.apiserver.strategy import Grace

THING_PATH = "/apis/example.com/v1/things"


def thing(name: str = "t", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}


def test_two_servers_of_one_seed_give_the_same_uids_and_names() -> None:
    def names() -> list[tuple[str, str]]:
        api = server()
        made = [done(ask(api, "POST", CONFIG_PATH, config("", generateName="x-"))).body for _ in range(3)]
        return [(each["metadata"]["uid"], each["metadata"]["name"]) for each in made]

    assert names() == names()
    assert len(set(names())) == 3


def test_a_generated_name_that_is_taken_is_drawn_again_eight_times_in_all() -> None:
    class Scripted:
        """Chance that follows a script, and then stays where it is."""

        def __init__(self, *suffixes: str) -> None:
            self.suffixes, self.drawn = list(suffixes), 0

        def choices(self, letters: str, k: int) -> list[str]:
            self.drawn += 1
            return list(self.suffixes.pop(0) if len(self.suffixes) > 1 else self.suffixes[0])

        def getrandbits(self, bits: int) -> int:
            return 7

    api = server()
    for script, code, drawn in ((("aaaaa",), 201, 1), (("aaaaa", "aaaaa", "bbbbb"), 201, 3), (("aaaaa",), 409, 8)):
        chance = Scripted(*script)
        api.backend.random = chance  # type: ignore[assignment]
        answer = done(ask(api, "POST", CONFIG_PATH, config("", generateName="x-")))
        assert (answer.status, chance.drawn) == (code, drawn)
    assert "not able to generate a unique name" in answer.body["message"]


def test_a_write_that_changes_nothing_has_no_revision_and_no_event() -> None:
    api = server()
    made = done(ask(api, "POST", CONFIG_PATH, config(data={"a": "b"})))
    before = api.store.revision
    again = done(ask(api, "PUT", f"{CONFIG_PATH}/a", config(data={"a": "b"})))
    patched = done(ask(api, "PATCH", f"{CONFIG_PATH}/a", {"data": {"a": "b"}}, MERGE))
    assert (again.revision, patched.revision, api.store.revision) == (made.revision, made.revision, before)


def test_true_is_not_one() -> None:
    api = server()
    done(ask(api, "POST", THING_PATH, thing(on=True)))
    changed = done(ask(api, "PATCH", f"{THING_PATH}/t", {"spec": {"on": 1}}, MERGE))
    assert changed.body["spec"] == {"on": 1}
    assert changed.body["metadata"]["generation"] == 2


def test_the_generation_counts_changes_of_the_spec_alone() -> None:
    api = server()
    done(ask(api, "POST", THING_PATH, thing(size=1)))
    steps = [({"metadata": {"labels": {"a": "b"}}}, 1), ({"spec": {"size": 2}}, 2), ({"status": {"x": 1}}, 2)]
    for patch, generation in steps:
        changed = done(ask(api, "PATCH", f"{THING_PATH}/t", patch, MERGE)).body
        assert changed["metadata"]["generation"] == generation
        assert "status" not in changed


def test_a_dry_run_answers_and_writes_nothing() -> None:
    api = server()
    done(ask(api, "POST", CONFIG_PATH, config()))
    before = api.store.revision
    for method, path, body in (
        ("POST", CONFIG_PATH, config("b")),
        ("PUT", f"{CONFIG_PATH}/a", config(data={"x": "y"})),
        ("DELETE", f"{CONFIG_PATH}/a", b""),
    ):
        assert done(ask(api, method, f"{path}?dryRun=All", body)).status < 300
    assert api.store.revision == before
    assert done(ask(api, "GET", f"{CONFIG_PATH}/b")).status == 404


def test_the_last_finalizer_takes_the_object_along() -> None:
    async def main() -> None:
        api = server()
        await ask(api, "POST", CONFIG_PATH, config(finalizers=["example.com/a", "example.com/b"]))
        stream = await open_watch(api, f"{CONFIG_PATH}?watch=1&resourceVersion={api.store.revision}")
        held = await ask(api, "DELETE", f"{CONFIG_PATH}/a")
        assert held.body["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
        for left in (["example.com/b"], []):
            await ask(api, "PATCH", f"{CONFIG_PATH}/a", {"metadata": {"finalizers": left}}, MERGE)
        assert [kind for kind, _ in await events(stream, 3)] == ["MODIFIED", "MODIFIED", "DELETED"]
        assert (await ask(api, "GET", f"{CONFIG_PATH}/a")).status == 404
        stream.close()

    virtual.run(main())


@pytest.mark.parametrize(
    ("policy", "finalizers"), [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"]), ("Background", None)]
)
def test_a_propagation_policy_leaves_its_finalizer(policy: str, finalizers: list[str] | None) -> None:
    api = server()
    done(ask(api, "POST", CONFIG_PATH, config()))
    done(ask(api, "DELETE", f"{CONFIG_PATH}/a", {"propagationPolicy": policy}))
    found = done(ask(api, "GET", f"{CONFIG_PATH}/a"))
    assert (found.body["metadata"].get("finalizers") if found.status == 200 else None) == finalizers


class Graceful(Things):
    """Objects that take half a minute to go."""

    returns_deleted_object = True

    def grace(self, obj: dict[str, Any], requested_seconds: int | None, context: Context) -> Grace:
        return Grace(30 if requested_seconds is None else requested_seconds)


def graceful(clock: Clock) -> ApiServer:
    return ApiServer(Catalog([replace(THINGS, strategy=Graceful())]), seed=1, now=clock)


def test_grace_may_only_be_shortened_and_zero_ends_it() -> None:
    clock = Clock()
    api = graceful(clock)
    done(ask(api, "POST", THING_PATH, thing()))

    def delete(seconds: int | None) -> Any:
        body = b"" if seconds is None else {"gracePeriodSeconds": seconds}
        return done(ask(api, "DELETE", f"{THING_PATH}/t", body)).body["metadata"]

    first = delete(None)
    assert (first["deletionTimestamp"], first["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:30Z", 30)
    assert first["generation"] == 2
    clock.advance(5)
    assert delete(60)["resourceVersion"] == first["resourceVersion"]
    shorter = delete(10)
    assert (shorter["deletionTimestamp"], shorter["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:10Z", 10)
    assert delete(0)["name"] == "t"
    assert done(ask(api, "GET", f"{THING_PATH}/t")).status == 404


def test_an_object_that_goes_at_once_is_marked_first() -> None:
    async def main() -> None:
        api = graceful(Clock())
        await ask(api, "POST", THING_PATH, thing())
        stream = await open_watch(api, f"{THING_PATH}?watch=1&resourceVersion={api.store.revision}")
        await ask(api, "DELETE", f"{THING_PATH}/t", {"gracePeriodSeconds": 0})
        found = await events(stream, 2)
        assert [(kind, each["metadata"]["deletionGracePeriodSeconds"]) for kind, each in found] == [
            ("MODIFIED", 0),
            ("DELETED", 0),
        ]
        stream.close()

    virtual.run(main())


def test_a_deleted_collection_is_what_was_selected() -> None:
    api = server()
    for name, tier in (("a", "x"), ("b", "y"), ("c", "x")):
        done(ask(api, "POST", CONFIG_PATH, config(name, labels={"tier": tier})))
    gone = done(ask(api, "DELETE", f"{CONFIG_PATH}?labelSelector=tier%3Dx")).body
    assert [each["metadata"]["name"] for each in gone["items"]] == ["a", "c"]
    assert [each["metadata"]["name"] for each in done(ask(api, "GET", CONFIG_PATH)).body["items"]] == ["b"]


# -- lists ------------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.sets(st.integers(0, 30)), st.integers(1, 7), st.sampled_from(("", "&labelSelector=even%3Dtrue")))
def test_pages_add_up_to_the_list(numbers: set[int], limit: int, selector: str) -> None:
    api = server()
    for number in numbers:
        even = "true" if number % 2 == 0 else "false"
        done(ask(api, "POST", CONFIG_PATH, config(f"c{number}", labels={"even": even})))
    whole = done(ask(api, "GET", f"{CONFIG_PATH}?{selector}")).body["items"]
    found: list[Any] = []
    token, revisions = "", set()
    while True:
        page = done(ask(api, "GET", f"{CONFIG_PATH}?limit={limit}&continue={token}{selector}")).body
        found += page["items"]
        revisions.add(page["metadata"]["resourceVersion"])
        assert len(page["items"]) <= limit
        token = page["metadata"].get("continue", "")
        if not token:
            break
        done(ask(api, "POST", CONFIG_PATH, config(f"late{len(found)}", labels={"even": "true"})))
    assert (found, len(revisions)) == (whole, 1)


def test_a_page_whose_revision_is_gone_says_how_to_go_on() -> None:
    api = server()
    for name in "abc":
        done(ask(api, "POST", CONFIG_PATH, config(name)))
    first = done(ask(api, "GET", f"{CONFIG_PATH}?limit=1")).body
    done(ask(api, "POST", CONFIG_PATH, config("d")))
    api.store.compact()
    gone = done(ask(api, "GET", f"{CONFIG_PATH}?limit=1&continue={first['metadata']['continue']}"))
    assert (gone.status, gone.body["reason"]) == (410, "Expired")
    rest = done(ask(api, "GET", f"{CONFIG_PATH}?continue={gone.body['metadata']['continue']}")).body
    assert [each["metadata"]["name"] for each in rest["items"]] == ["b", "c", "d"]


def test_a_list_at_an_exact_revision_is_what_was_then() -> None:
    api = server()
    first = done(ask(api, "POST", CONFIG_PATH, config("a")))
    done(ask(api, "POST", CONFIG_PATH, config("b")))
    query = f"resourceVersion={first.revision}&resourceVersionMatch=Exact"
    found = done(ask(api, "GET", f"{CONFIG_PATH}?{query}")).body
    assert ([each["metadata"]["name"] for each in found["items"]], found["metadata"]["resourceVersion"]) == (
        ["a"],
        first.revision,
    )
    newer = done(ask(api, "GET", f"{CONFIG_PATH}?resourceVersion={first.revision}")).body
    assert len(newer["items"]) == 2


# -- what is stored is never changed ----------------------------------------------------------------------------------

patches = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(("a", "b")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(("spec", "status")), patches), max_size=6))
def test_no_write_changes_what_was_stored_before(changes: list[tuple[str, Any]]) -> None:
    api = server()
    api.catalog = Catalog([NAMESPACES, THINGS])
    done(ask(api, "POST", THING_PATH, thing(a={"b": [1, {"c": 2}]})))
    seen: list[tuple[dict[str, Any], bytes]] = []
    for name, value in changes:
        entry = api.store.get("example.com/things", "t")
        assert entry is not None
        seen.append((entry.object, orjson.dumps(entry.object)))
        done(ask(api, "PATCH", f"{THING_PATH}/t", {name: value}, MERGE))
        if isinstance(value, dict):
            done(ask(api, "PUT", f"{THING_PATH}/t", {**thing(**value)}))
    assert all(orjson.dumps(obj) == before for obj, before in seen)


# -- hooks ------------------------------------------------------------------------------------------------------------


class Slow:
    """An admission that lets another writer in between, once."""

    def __init__(self, between: Any) -> None:
        self.between, self.calls = between, 0

    def asks(self, kind: ResourceType) -> bool:
        return True

    async def admit(self, attributes: Attributes) -> None:
        self.calls += 1
        if attributes.operation == "UPDATE" and self.calls == 2:
            await self.between()

    async def validate(self, attributes: Attributes) -> None:
        if attributes.object is not None and attributes.object.get("data", {}).get("bad"):
            raise StatusError(403, "Forbidden", "no bad data")


def test_a_patch_that_was_overtaken_is_made_anew_and_a_put_with_a_version_is_a_conflict() -> None:
    async def main() -> None:
        api = server()
        made = await ask(api, "POST", CONFIG_PATH, config(data={"n": "0"}))

        others = iter("12")

        async def between() -> None:
            admission, api.backend.admission = api.backend.admission, None
            await ask(api, "PATCH", f"{CONFIG_PATH}/a", {"data": {"other": next(others)}}, MERGE)
            api.backend.admission = admission

        slow = api.backend.admission = Slow(between)
        slow.calls = 1
        patched = await ask(api, "PATCH", f"{CONFIG_PATH}/a", {"data": {"n": "1"}}, MERGE)
        assert patched.body["data"] == {"n": "1", "other": "1"}
        slow.calls = 1
        body = config(data={"n": "2"}, resourceVersion=patched.revision)
        refused = await ask(api, "PUT", f"{CONFIG_PATH}/a", body)
        assert (refused.status, refused.body["reason"]) == (409, "Conflict")
        assert made.status == 201

    asyncio.run(main())


def test_admission_has_the_last_word() -> None:
    api = server()
    api.backend.admission = Slow(None)
    refused = done(ask(api, "POST", CONFIG_PATH, config(data={"bad": "1"})))
    assert (refused.status, refused.body["message"]) == (403, "no bad data")
    assert api.store.get("/configmaps", "default/a") is None


def test_a_filter_sees_every_request_and_may_answer_itself() -> None:
    async def teapot(api: ApiServer, request: Request, ahead: Any) -> Any:
        if request.path == "/tea":
            return Response(418, b"")
        return await ahead(request)

    api = ApiServer(Catalog([CONFIGS]), filters=(teapot,))
    assert done(ask(api, "GET", "/tea")).status == 418
    assert done(ask(api, "GET", CONFIG_PATH)).status == 200


def test_a_fault_inside_is_a_status_and_never_an_exception(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Things):
        def prepare_create(self, obj: dict[str, Any], context: Context) -> None:
            raise ZeroDivisionError

    api = ApiServer(Catalog([replace(THINGS, strategy=Broken())]))
    answer = done(ask(api, "POST", THING_PATH, thing()))
    assert (answer.status, answer.body["reason"]) == (500, "InternalError")
    assert "ZeroDivisionError" in caplog.text


# -- hostile input ----------------------------------------------------------------------------------------------------


def deep(levels: int) -> bytes:
    return b'{"kind":"ConfigMap","apiVersion":"v1","data":' + b'{"a":' * levels + b"1" + b"}" * (levels + 1)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"x" * (3 * 1024 * 1024 + 1), 413, id="too large"),
        pytest.param(deep(100_000), 400, id="too deep for a reader"),
        pytest.param(deep(500), 400, id="too deep for a walker"),
        pytest.param(b"\xff\xfe{}", 400, id="no text"),
        pytest.param(b"", 400, id="nothing"),
        pytest.param(b"[" * 1000, 400, id="half a list"),
        pytest.param(b'{"metadata":{"name":5}}', 400, id="a number for a name"),
        pytest.param(b'{"metadata":[]}', 400, id="a list for metadata"),
        pytest.param(b'{"metadata":{"name":"a\\u0000b"}}', 422, id="a null byte in a name"),
        pytest.param(b'{"metadata":{"name":"a"},"kind":5}', 400, id="a number for a kind"),
    ],
)
def test_a_hostile_body_is_refused(body: bytes, code: int) -> None:
    api = server()
    answer = done(ask(api, "POST", CONFIG_PATH, body, {"content-type": "application/json"}))
    assert answer.status == code
    assert answer.body["kind"] == "Status"


@pytest.mark.parametrize("levels", [300, 1_100, 5_000])
@pytest.mark.parametrize("content_type", ["application/json", "application/yaml"])
@pytest.mark.parametrize("first", [b"", b'"a":1,"a":2,', b'"a":"\\ud800",'], ids=["plain", "twice", "half a surrogate"])
def test_a_body_that_is_too_deep_is_refused_whatever_else_is_in_it(
    levels: int, content_type: str, first: bytes
) -> None:
    body = b"{" + first + deep(levels)[1:]
    answer = done(ask(server(), "POST", CONFIG_PATH, body, {"content-type": content_type}))
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize(
    "yaml",
    [b"a: &a [1]\nb: *a", b"a: {b: [", b"\t", b"? [a]\n: b", b"--- 1\n--- 2", b"a: 2026-01-01", b"!!python/name:os"],
)
def test_yaml_of_any_kind_is_answered(yaml: bytes) -> None:
    answer = done(ask(server(), "POST", CONFIG_PATH, yaml, {"content-type": "application/yaml"}))
    assert answer.status in (400, 422)


@pytest.mark.parametrize(
    "query", ["limit=-1", "limit=" + "9" * 30, "continue=%00", "timeoutSeconds=x", "watch=&limit=x"]
)
def test_a_hostile_query_is_answered(query: str) -> None:
    assert done(ask(server(), "GET", f"{CONFIG_PATH}?{query}")).status in (200, 400)


@given(st.binary(max_size=40), st.sampled_from(("start", "rv", "v")))
def test_no_continue_token_breaks_a_list(raw: bytes, name: str) -> None:
    api = server()
    body: dict[str, Any] = {"v": "meta.k8s.io/v1", "rv": 3, "start": "a\0"}
    body[name] = raw.decode("latin-1")
    for text in (
        base64.urlsafe_b64encode(raw).decode(),
        base64.urlsafe_b64encode(orjson.dumps(body)).decode().rstrip("="),
    ):
        assert done(ask(api, "GET", f"{CONFIG_PATH}?continue={text}")).status in (200, 400, 410)


def test_a_large_object_is_refused_as_etcd_does() -> None:
    api = server()
    answer = done(ask(api, "POST", CONFIG_PATH, config(data={"a": "x" * (2 * 1024 * 1024)})))
    assert (answer.status, answer.body["message"]) == (500, "etcdserver: request is too large")
