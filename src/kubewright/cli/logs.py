"""Log lines of a running operator: text for people, one JSON object a line for machines."""

from __future__ import annotations

import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any

import orjson

__all__ = ["configure"]

_FIELDS = ("controller", "namespace", "object")


class _Text(logging.Formatter):
    """`12:00:01.123 INFO  web-operator.web default/a: message`."""

    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        name = record.name.removeprefix("kubewright.")
        where = "/".join(part for part in (getattr(record, "namespace", ""), getattr(record, "object", "")) if part)
        line = f"{clock}.{int(record.msecs):03d} {record.levelname:<7} {name}{' ' + where if where else ''}: "
        line += record.getMessage()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": _rfc3339(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
        }
        line.update({name: value for name in _FIELDS if (value := getattr(record, name, None))})
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def _rfc3339(seconds: float) -> str:
    """UTC with milliseconds: sorts as text, and is what controller-runtime's JSON lines have there."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def configure(level: str, form: str) -> None:
    """Send all logs of the process to standard error, from `level` on, as `text` or `json`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
