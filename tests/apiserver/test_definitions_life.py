"""The life of a definition: names, Established, serving, changes, versions, deletion."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from asking import MERGE, ask, done, events, open_watch, server

import virtual
from kubewright.apiserver import ApiServer
from kubewright.apiserver.webhooks import HttpWebhooks

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "widgets.example.com"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"


def schema(**fields: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": fields}
    return {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}


def definition(*versions: dict[str, Any], **names: Any) -> dict[str, Any]:
    wanted = {"plural": "widgets", "kind": "Widget", **names}
    first = {"name": "v1", "served": True, "storage": True, "schema": schema(size={"type": "integer"})}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{wanted['plural']}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": wanted,
            "versions": list(versions) or [first],
        },
    }


def widget(name: str = "a", version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"example.com/{version}", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def conditions(api: ApiServer, name: str = NAME) -> dict[str, tuple[str, str]]:
    crd = done(ask(api, "GET", f"{DEFINITIONS}/{name}")).body
    return {each["type"]: (each["status"], each["reason"]) for each in crd["status"]["conditions"]}


def with_definition(**arguments: Any) -> ApiServer:
    api = server(with_crds=True, **arguments)
    assert done(ask(api, "POST", DEFINITIONS, definition())).status == 201
    return api


def test_a_definition_is_served_as_soon_as_its_create_is_answered() -> None:
    api = with_definition()
    assert conditions(api) == {
        "NamesAccepted": ("True", "NoConflicts"),
        "Established": ("True", "InitialNamesAccepted"),
    }
    assert done(ask(api, "POST", WIDGETS, widget(size=1))).status == 201


def test_the_conditions_come_one_after_another_for_those_who_watch() -> None:
    async def main() -> None:
        api = server(with_crds=True)
        stream = await open_watch(api, f"{DEFINITIONS}?watch=1&resourceVersion={api.store.revision}")
        await ask(api, "POST", DEFINITIONS, definition())
        found = await events(stream, 3)
        seen = [[each["type"] + each["status"] for each in crd["status"]["conditions"] or ()] for _, crd in found]
        assert seen == [[], ["NamesAcceptedTrue", "EstablishedFalse"], ["NamesAcceptedTrue", "EstablishedTrue"]]
        stream.close()

    virtual.run(main())


def test_being_established_can_take_its_time_and_so_can_the_storage() -> None:
    async def main() -> None:
        api = server(with_crds=True, established_seconds=3, setup_seconds=2)
        await ask(api, "POST", DEFINITIONS, definition())
        assert (await ask(api, "GET", WIDGETS)).status == 404
        await asyncio.sleep(3.1)
        unready = await ask(api, "GET", WIDGETS)
        assert (unready.status, unready.body["message"]) == (429, "storage is (re)initializing")
        await asyncio.sleep(2.1)
        assert (await ask(api, "GET", WIDGETS)).status == 200
        api.close()

    virtual.run(main())


def test_a_name_that_is_taken_is_not_served_until_it_is_free() -> None:
    api = with_definition()
    other = definition(plural="gadgets", kind="Gadget", singular="widget")
    done(ask(api, "POST", DEFINITIONS, other))
    assert conditions(api, "gadgets.example.com") == {
        "NamesAccepted": ("False", "SingularConflict"),
        "Established": ("False", "NotAccepted"),
    }
    assert done(ask(api, "GET", "/apis/example.com/v1/gadgets")).status == 404
    done(ask(api, "DELETE", f"{DEFINITIONS}/{NAME}"))
    assert conditions(api, "gadgets.example.com")["Established"][0] == "True"
    assert done(ask(api, "GET", "/apis/example.com/v1/gadgets")).status == 200


def test_a_new_schema_is_what_old_objects_are_read_by() -> None:
    api = with_definition()
    made = done(ask(api, "POST", WIDGETS, widget(size=1)))
    changed = schema(color={"type": "string", "default": "red"})
    versions = [{"name": "v1", "served": True, "storage": True, "schema": changed}]
    done(ask(api, "PATCH", f"{DEFINITIONS}/{NAME}", {"spec": {"versions": versions}}, MERGE))
    read = done(ask(api, "GET", f"{WIDGETS}/a")).body
    assert read["spec"] == {"color": "red"}
    assert read["metadata"]["resourceVersion"] == made.revision, "reading writes nothing"


def test_watches_of_a_kind_that_has_changed_end() -> None:
    async def main() -> None:
        api = server(with_crds=True)
        await ask(api, "POST", DEFINITIONS, definition())
        stream = await open_watch(api, f"{WIDGETS}?watch=1")
        await ask(api, "POST", WIDGETS, widget(size=1))
        names = {"names": {"shortNames": ["wd"]}}
        await ask(api, "PATCH", f"{DEFINITIONS}/{NAME}", {"spec": names}, MERGE)
        assert [kind for kind, _ in await events(stream, 5)] == ["ADDED"]

    virtual.run(main())


def test_versions_are_views_of_one_object() -> None:
    v1 = {"name": "v1", "served": True, "storage": True, "schema": schema(size={"type": "integer"})}
    v2 = {
        "name": "v2",
        "served": True,
        "storage": False,
        "schema": schema(size={"type": "integer"}, color={"type": "string"}),
    }
    api = server(with_crds=True)
    done(ask(api, "POST", DEFINITIONS, definition(v1, v2)))
    second = WIDGETS.replace("v1", "v2")
    made = done(ask(api, "POST", second, widget(version="v2", size=1, color="red")))
    assert made.body["apiVersion"] == "example.com/v2"
    assert done(ask(api, "GET", f"{WIDGETS}/a")).body["spec"] == {"size": 1}
    items = done(ask(api, "GET", second)).body["items"]
    assert [(each["apiVersion"], each["metadata"]["resourceVersion"]) for each in items] == [
        ("example.com/v2", made.revision)
    ]


def test_a_version_that_was_stored_stays_in_storedVersions() -> None:
    v1 = {"name": "v1", "served": True, "storage": True, "schema": schema()}
    v2 = {"name": "v2", "served": True, "storage": False, "schema": schema()}
    api = server(with_crds=True)
    done(ask(api, "POST", DEFINITIONS, definition(v1, v2)))
    swapped = [{**v1, "storage": False}, {**v2, "storage": True}]
    changed = done(ask(api, "PATCH", f"{DEFINITIONS}/{NAME}", {"spec": {"versions": swapped}}, MERGE))
    assert changed.body["status"]["storedVersions"] == ["v1", "v2"]
    refused = done(ask(api, "PATCH", f"{DEFINITIONS}/{NAME}", {"spec": {"versions": swapped[1:]}}, MERGE))
    assert (refused.status, refused.body["details"]["causes"][0]["field"]) == (422, "status.storedVersions[0]")


def test_a_deleted_definition_waits_for_the_finalizers_of_its_objects() -> None:
    api = with_definition()
    held = widget("held", size=1)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    done(ask(api, "POST", WIDGETS, held))
    done(ask(api, "POST", WIDGETS, widget("free", size=1)))
    gone = done(ask(api, "DELETE", f"{DEFINITIONS}/{NAME}"))
    assert gone.body["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert [each["metadata"]["name"] for each in done(ask(api, "GET", WIDGETS)).body["items"]] == ["held"]
    refused = done(ask(api, "POST", WIDGETS, widget("new", size=1)))
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    done(ask(api, "PATCH", f"{WIDGETS}/held", {"metadata": {"finalizers": None}}, MERGE))
    assert done(ask(api, "GET", f"{DEFINITIONS}/{NAME}")).status == 404
    assert done(ask(api, "GET", WIDGETS)).status == 404


def test_a_fork_has_the_definitions_and_goes_its_own_way() -> None:
    api = with_definition()
    fork = api.fork()
    assert done(ask(fork, "POST", WIDGETS, widget(size=1))).status == 201
    done(ask(fork, "DELETE", f"{DEFINITIONS}/{NAME}"))
    assert done(ask(fork, "GET", WIDGETS)).status == 404
    assert done(ask(api, "GET", WIDGETS)).body["items"] == []
    done(ask(api, "POST", DEFINITIONS, definition(plural="gadgets", kind="Gadget")))
    assert done(ask(fork, "GET", "/apis/example.com/v1/gadgets")).status == 404


# -- conversion webhooks ----------------------------------------------------------------------------------------------

URL = "https://hooks.example.com/convert"


def converting(hook: Any) -> ApiServer:
    v1 = {"name": "v1", "served": True, "storage": True, "schema": schema(size={"type": "integer"})}
    v2 = {"name": "v2", "served": True, "storage": False, "schema": schema(length={"type": "integer"})}
    crd = definition(v1, v2)
    crd["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": URL}},
    }
    api = server(with_crds=True, webhook=HttpWebhooks({URL: hook}))
    assert done(ask(api, "POST", DEFINITIONS, crd)).status == 201
    return api


async def rename(review: dict[str, Any]) -> dict[str, Any]:
    """v1's `size` is v2's `length`."""
    asked = review["request"]
    old, new = ("size", "length") if asked["desiredAPIVersion"].endswith("v2") else ("length", "size")
    converted = []
    for each in copy.deepcopy(asked["objects"]):
        each["apiVersion"] = asked["desiredAPIVersion"]
        each["spec"][new] = each["spec"].pop(old)
        each["metadata"]["generation"] = 99
        converted.append(each)
    response = {"uid": asked["uid"], "result": {"status": "Success"}, "convertedObjects": converted}
    return {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response}


SECOND = WIDGETS.replace("v1", "v2")


def test_a_webhook_converts_on_the_way_in_and_out() -> None:
    async def main() -> None:
        api = converting(rename)
        made = await ask(api, "POST", SECOND, widget(version="v2", length=5))
        assert (made.status, made.body["spec"]) == (201, {"length": 5})
        stored = await ask(api, "GET", f"{WIDGETS}/a")
        assert (stored.body["spec"], stored.body["metadata"]["generation"]) == ({"size": 5}, 1)
        assert [each["spec"] for each in (await ask(api, "GET", SECOND)).body["items"]] == [{"length": 5}]
        stream = await open_watch(api, f"{SECOND}?watch=1")
        ((kind, found),) = await events(stream, 1)
        assert (kind, found["spec"]) == ("ADDED", {"length": 5})
        stream.close()

    virtual.run(main())


def test_many_objects_are_converted_in_one_call_and_each_once() -> None:
    calls: list[int] = []

    async def counted(review: dict[str, Any]) -> dict[str, Any]:
        calls.append(len(review["request"]["objects"]))
        return await rename(review)

    async def main() -> None:
        api = converting(counted)
        for number in range(4):
            await ask(api, "POST", WIDGETS, widget(f"w{number}", size=number))
        for _ in range(2):
            found = await ask(api, "GET", SECOND)
            assert [each["spec"]["length"] for each in found.body["items"]] == [0, 1, 2, 3]
        assert calls == [4]

    virtual.run(main())


def test_what_a_webhook_does_wrong_is_told() -> None:
    async def failing(review: dict[str, Any]) -> dict[str, Any]:
        result = {"status": "Failure", "message": "no idea"}
        response = {"uid": review["request"]["uid"], "result": result}
        return {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response}

    async def main() -> None:
        api = converting(failing)
        await ask(api, "POST", WIDGETS, widget(size=1))
        answer = await ask(api, "GET", f"{SECOND}/a")
        assert (answer.status, answer.body["message"]) == (
            500,
            "conversion webhook for example.com/v1, Kind=Widget failed: no idea",
        )

    virtual.run(main())


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            {"result": 5},
            "failed: json: cannot unmarshal number into Go struct field ConversionResponse.response.result "
            "of type v1.Status",
        ),
        (
            {"result": {"status": ["x"]}},
            "failed: json: cannot unmarshal array into Go struct field Status.response.result.status of type string",
        ),
        (
            {"convertedObjects": True},
            "failed: json: cannot unmarshal bool into Go struct field ConversionResponse.response.convertedObjects "
            "of type []runtime.RawExtension",
        ),
        ({"convertedObjects": [5]}, "returned invalid object at index 0: no object"),
    ],
)
def test_an_answer_of_other_types_is_a_conversion_that_failed(said: dict[str, Any], why: str) -> None:
    async def wrong(review: dict[str, Any]) -> dict[str, Any]:
        answer = await rename(review)
        return {**answer, "response": {**answer["response"], **said}}

    async def main() -> None:
        api = converting(wrong)
        answer = await ask(api, "POST", SECOND, widget(version="v2", length=5))
        assert (answer.status, answer.body["message"]) == (
            500,
            f"conversion webhook for example.com/v2, Kind=Widget {why}",
        )

    virtual.run(main())


def test_a_converted_object_is_no_deeper_than_a_body_may_be() -> None:
    async def deep(review: dict[str, Any]) -> dict[str, Any]:
        answer = await rename(review)
        for _ in range(230):
            spec = answer["response"]["convertedObjects"][0]["spec"]
            answer["response"]["convertedObjects"][0]["spec"] = {"size": spec}
        return answer

    async def main() -> None:
        answer = await ask(converting(deep), "POST", SECOND, widget(version="v2", length=5))
        assert (answer.status, answer.body["message"].rpartition(": ")[2]) == (500, "exceeded max depth")

    virtual.run(main())


def test_a_write_that_was_overtaken_while_a_webhook_answered_starts_over() -> None:
    async def main() -> None:
        api: ApiServer
        hits: list[int] = []

        async def slow(review: dict[str, Any]) -> dict[str, Any]:
            hits.append(1)
            if len(hits) == 2:
                await ask(api, "PATCH", f"{WIDGETS}/a", {"metadata": {"labels": {"by": "another"}}}, MERGE)
            return await rename(review)

        api = converting(slow)
        await ask(api, "POST", WIDGETS, widget(size=1))
        answer = await ask(api, "PATCH", f"{SECOND}/a", {"spec": {"length": 2}}, MERGE)
        assert answer.status == 200
        assert (answer.body["spec"], answer.body["metadata"]["labels"]) == ({"length": 2}, {"by": "another"})

    virtual.run(main())


@pytest.mark.parametrize(
    ("said", "sent", "patched"),
    [
        ({"apiVersion": 5}, "number into Go struct field .apiVersion of type string", (422, "field .apiVersion of")),
        (
            {"kind": [1]},
            "array into Go struct field .kind of type string",
            (422, "array into Go struct field .kind of"),
        ),
        ({"apiVersion": None}, ".apiVersion accessor error: <nil>", (500, "Object 'apiVersion' is missing")),
        ({"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c", (422, "unexpected GroupVersion string")),
        ({"kind": None}, "Object 'Kind' is missing in '{", (422, "Object 'Kind' is missing in '{")),
    ],
)
def test_what_says_no_kind_and_version_of_itself_cannot_be_read(
    said: dict[str, Any], sent: str, patched: tuple[int, str]
) -> None:
    api = with_definition()
    refused = done(ask(api, "POST", WIDGETS, widget(size=1) | said))
    assert refused.status == 400
    assert sent in refused.body["message"]
    done(ask(api, "POST", WIDGETS, widget(size=1)))
    refused = done(ask(api, "PATCH", f"{WIDGETS}/a", said, headers=MERGE))
    assert refused.status == patched[0]
    assert patched[1] in refused.body["message"]


def test_a_definition_takes_nothing_from_a_built_in_kind() -> None:
    api = server(with_crds=True)
    things = "/apis/example.com/v1/things"
    assert done(ask(api, "POST", things, {"metadata": {"name": "a"}})).status == 201
    other = {"name": "v2", "served": True, "storage": False, "schema": schema()}
    first = {"name": "v1", "served": True, "storage": True, "schema": schema()}
    made = definition(first, other, plural="things", kind="Thing")
    made["spec"]["scope"] = "Cluster"
    assert done(ask(api, "POST", DEFINITIONS, made)).status == 201
    assert conditions(api, "things.example.com")["Established"] == ("True", "InitialNamesAccepted")
    assert done(ask(api, "POST", things, {"metadata": {"name": "b"}})).status == 201
    assert done(ask(api, "GET", "/apis/example.com/v2/things")).status == 404
    assert done(ask(api, "DELETE", f"{DEFINITIONS}/things.example.com")).status == 200
    assert done(ask(api, "GET", f"{DEFINITIONS}/things.example.com")).status == 404
    assert [each["metadata"]["name"] for each in done(ask(api, "GET", things)).body["items"]] == ["a", "b"]
