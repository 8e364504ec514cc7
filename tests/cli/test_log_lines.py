"""What a line of the log is."""

from __future__ import annotations

import logging

import orjson

from kubewright.cli.logs import _Json


def test_a_json_line_has_the_names_and_the_time_of_controller_runtimes() -> None:
    record = logging.LogRecord("kubewright.web", logging.WARNING, "f.py", 1, "%d to go", (3,), None)
    record.created = 1780315200.1234
    record.object = "a"
    assert orjson.loads(_Json().format(record)) == {
        "ts": "2026-06-01T12:00:00.123Z",
        "level": "warning",
        "logger": "kubewright.web",
        "msg": "3 to go",
        "object": "a",
    }
