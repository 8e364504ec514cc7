"""Tables: ages as people read them, columns of kinds without any."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kubewright.apiserver import Request, Response, new_server
from kubewright.apiserver.table import human_duration, human_since

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (1.9, "1s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 5, "2m5s"),
        (10 * MINUTE + 5, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 20 * MINUTE, "3h20m"),
        (8 * HOUR + 20 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + HOUR, "2d1h"),
        (8 * DAY + HOUR, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR + 31 * DAY, "2y31d"),
        (8 * YEAR + DAY, "8y"),
    ],
)
def test_a_time_span_is_shown_in_at_most_two_units(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


def test_what_is_no_time_says_so() -> None:
    assert human_since(None, NOW) == "<unknown>"
    assert human_since("yesterday", NOW) == "<invalid>"
    assert human_since(5, NOW) == "<invalid>"
    assert human_since("2026-05-31T23:59:00Z", NOW) == "60s"


def _get(*targets: str, after: timedelta = timedelta()) -> list[Any]:
    clock = [NOW]

    async def main() -> list[Any]:
        server = new_server(now=lambda: clock[0])
        crd = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [
                    {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
                ],
            },
        }
        target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        made = await server.handle(Request.of("POST", target, body=crd))
        assert made.status == 201
        thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
        made = await server.handle(Request.of("POST", "/apis/example.com/v1/namespaces/default/things", body=thing))
        assert made.status == 201
        clock[0] += after
        answers = []
        for each in targets:
            answer = await server.handle(Request.of("GET", each, headers=TABLE))
            assert isinstance(answer, Response)
            answers.append(answer.json)
        return answers

    return asyncio.run(main())


def test_a_custom_kind_without_columns_has_its_name_and_age() -> None:
    (table,) = _get("/apis/example.com/v1/namespaces/default/things", after=timedelta(minutes=5))
    assert [(each["name"], each["type"]) for each in table["columnDefinitions"]] == [
        ("Name", "string"),
        ("Age", "date"),
    ]
    assert [each["cells"] for each in table["rows"]] == [["a", "5m"]]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_one_object_is_a_table_of_one_row() -> None:
    (table,) = _get("/apis/example.com/v1/namespaces/default/things/a?includeObject=None")
    assert table["rows"] == [{"cells": ["a", "0s"], "object": None}]
