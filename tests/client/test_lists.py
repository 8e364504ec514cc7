"""Lists and their pages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from recording_http import RecordingHttp, Request, answer, failure
from web_model import Pod, Web

import virtual
from kubewright.client.client import Client
from kubewright.client.errors import Gone, Invalid
from kubewright.client.lists import ObjectList, decode_list
from kubewright.client.transport import Response
from kubewright.model import DecodeError, origin_of


def item(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": "1"}, "spec": {"image": "x", "unknown": name}}


def page(names: str, continue_: str = "", version: str = "10", **metadata: Any) -> Response:
    return answer(
        {
            "kind": "WebList",
            "metadata": {"resourceVersion": version, **({"continue": continue_} if continue_ else {}), **metadata},
            "items": [item(name) for name in names],
        }
    )


EXPIRED = failure(410, "Expired", "The provided continue parameter is too old", metadata={"continue": "fresh"})
EXPIRED_FOR_GOOD = failure(410, "Expired", "The resourceVersion for the provided list is too old.")


class Pages:
    """Answers by continue token; a list of answers is given out one after the other."""

    def __init__(self, **by_token: Response | list[Response]) -> None:
        self.by_token = by_token

    def __call__(self, request: Request) -> Response:
        query = request.query
        key = query.get("continue", "first" if "limit" in query else "everything")
        found = self.by_token[key]
        return found.pop(0) if isinstance(found, list) else found


def names(objects: Any) -> str:
    return "".join(obj.metadata.name for obj in objects)


def listed(http: RecordingHttp, **options: Any) -> ObjectList[Web]:
    return virtual.run(Client(http).list(Web, **options))


def test_a_list_is_a_sequence_with_the_version_of_the_collection() -> None:
    found = listed(RecordingHttp(Pages(first=page("abc"))))
    assert (names(found), len(found), found.resource_version, found.continue_) == ("abc", 3, "10", "")
    assert isinstance(found[0], Web)
    assert names(found[1:]) == "bc"
    assert "3 items" in repr(found)


def test_an_empty_list_has_no_items_whether_it_says_null_or_nothing() -> None:
    for items in ({"items": None}, {"items": []}, {}):
        found = listed(RecordingHttp(lambda _, items=items: answer({"metadata": {"resourceVersion": "3"}, **items})))
        assert (list(found), found.resource_version) == ([], "3")


def test_all_pages_become_one_list_of_the_first_pages_version() -> None:
    http = RecordingHttp(Pages(first=page("ab", "t1"), t1=page("cd", "t2"), t2=page("e")))
    found = listed(http, labels={"x": "y"}, resource_version="9")
    assert (names(found), found.resource_version, found.continue_) == ("abcde", "10", "")
    assert [r.query for r in http.requests] == [
        {"labelSelector": "x=y", "limit": "500", "resourceVersion": "9", "resourceVersionMatch": "NotOlderThan"},
        {"labelSelector": "x=y", "limit": "500", "continue": "t1"},
        {"labelSelector": "x=y", "limit": "500", "continue": "t2"},
    ]


def test_a_page_that_expired_starts_the_list_anew_and_whole() -> None:
    http = RecordingHttp(Pages(first=page("ab", "t1"), t1=EXPIRED, everything=page("abxz", version="20")))
    found = listed(http, labels={"x": "y"})
    assert (names(found), found.resource_version) == ("abxz", "20")
    assert http.requests[-1].query == {"labelSelector": "x=y"}


def test_a_version_that_expired_is_told() -> None:
    with pytest.raises(Gone):
        listed(RecordingHttp(Pages(first=EXPIRED_FOR_GOOD)), resource_version="1", resource_version_match="Exact")


def test_an_error_on_a_later_page_is_told() -> None:
    with pytest.raises(Invalid):
        listed(RecordingHttp(Pages(first=page("a", "t1"), t1=failure(422, "Invalid"))))


def test_a_limit_gives_one_page_and_its_token() -> None:
    http = RecordingHttp(Pages(first=page("ab", "t1", remainingItemCount=3)))
    found = listed(http, limit=2)
    assert (names(found), found.continue_, found.remaining_item_count) == ("ab", "t1", 3)
    assert len(http.requests) == 1


def test_a_token_gives_the_next_page() -> None:
    http = RecordingHttp(Pages(t1=page("cd", "t2")))
    assert names(listed(http, limit=2, continue_="t1")) == "cd"


def test_iterate_asks_for_a_page_when_it_is_needed() -> None:
    http = RecordingHttp(Pages(first=page("ab", "t1"), t1=page("cd")))

    async def main() -> None:
        seen = [(obj.metadata.name, len(http.requests)) async for obj in Client(http).iterate(Web, page_size=2)]
        assert seen == [("a", 1), ("b", 1), ("c", 2), ("d", 2)]

    virtual.run(main())


def collected(http: RecordingHttp) -> str:
    async def main() -> str:
        return names([obj async for obj in Client(http).iterate(Web)])

    return virtual.run(main())


def test_iterate_goes_on_in_the_current_state_when_a_page_expired() -> None:
    http = RecordingHttp(Pages(first=page("ab", "t1"), t1=EXPIRED, fresh=page("cd", version="20")))
    assert collected(http) == "abcd"


def test_iterate_gives_up_where_the_server_gives_no_token_or_the_same_again() -> None:
    with pytest.raises(Gone):
        collected(RecordingHttp(Pages(first=page("ab", "t1"), t1=EXPIRED_FOR_GOOD)))
    with pytest.raises(Gone):
        collected(RecordingHttp(Pages(first=page("ab", "fresh"), fresh=EXPIRED)))
    with pytest.raises(Gone):
        collected(RecordingHttp(Pages(first=EXPIRED)))


def test_items_keep_their_own_bytes() -> None:
    found = listed(RecordingHttp(Pages(first=page("ab"))))
    assert [json.loads(origin_of(obj) or b"") for obj in found] == [item("a"), item("b")]


def test_an_item_of_a_list_is_updated_with_its_kind_and_its_unknown_fields() -> None:
    http = RecordingHttp(Pages(first=page("a")))

    async def main() -> None:
        client = Client(http)
        [obj] = await client.list(Web)
        obj.spec.image = "y"
        http.handle = lambda _: answer(item("a"))
        await client.update(obj)

    virtual.run(main())
    assert http.requests[-1].json == {
        "apiVersion": "example.com/v1",
        "kind": "Web",
        "metadata": {"name": "a", "resourceVersion": "1"},
        "spec": {"image": "y", "unknown": "a"},
    }


def test_a_large_page_lets_other_tasks_run() -> None:
    async def main() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        http = RecordingHttp(lambda _: page("a" * 5000))
        task = asyncio.ensure_future(other())
        assert len(await Client(http).list(Web, resource_version="0")) == 5000
        task.cancel()
        return turns

    assert virtual.run(main()) >= 9


def test_unstructured_items_are_decoded_alike() -> None:
    assert decode_list(Pod, page("a").body)[0].get("spec", "image") == "x"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"items": 5}'])
def test_what_is_no_list_is_a_decode_error(body: bytes) -> None:
    with pytest.raises(DecodeError, match="list of Web"):
        decode_list(Web, body)
