"""A store on disk: each commit is written down before it happens, and read back at the next start.

Owns one file, `DIR/journal`, and a lock on the folder. It knows no kinds: objects are bytes to it.

The file is a row of records: `length, crc32` (4 bytes each, big-endian), then a line of JSON that says what the record
is, then the object's JSON, the same bytes that are served.

| record     | says                                                                          |
|------------|-------------------------------------------------------------------------------|
| `START`    | the format, and the revision up to which history was forgotten; the first one |
| `LIVE`     | an object that was there when the file was written anew                       |
| `ADDED`, `MODIFIED`, `DELETED` | a commit                                                  |

Guarantees: J1 a commit that was answered is read back, after SIGKILL at any moment too. J2 a record that was cut off by
such an end is dropped, and nothing else is ever dropped silently: a file that is damaged elsewhere is refused. J3 a
commit that cannot be written (a full disk) is refused, and leaves no trace. J4 two servers cannot have one folder.
Caveats: the kernel has the bytes, the disk perhaps not yet: what a power failure takes is what the last seconds wrote,
unless `sync` is on (a millisecond or more per write). The file is written anew when it has grown to four times what is
in it; that holds the server up for as long as writing all objects takes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from .errors import StatusError
from .store import Change, Entry, Store

__all__ = ["Journal", "JournalError", "open_store"]

_FORMAT: Final = 1
_HEAD: Final = 8
_SMALLEST_REWRITE_BYTES: Final = 64 * 1024 * 1024
_GROWTH: Final = 4


class JournalError(Exception):
    """A data folder cannot be used. The message names the file, what is wrong and the cure."""


class _Record(NamedTuple):
    meta: dict[str, Any]
    object: bytes


class Journal:
    """Writes the commits of one store down. Made by `open_store`; `close` last."""

    def __init__(self, folder: Path, store: Store, *, sync: bool = False) -> None:
        self.path = folder / "journal"
        self._store = store
        self._sync = sync
        self._lock = _locked(folder)
        self._file = -1
        self._size = 0
        self._rewrite_at = 0

    def __call__(self, resource: str, change: Change) -> None:
        """Write a commit down. Raises StatusError: that is not possible."""
        if self._size > self._rewrite_at:
            try:
                self.rewrite()
            except JournalError:
                self._rewrite_at = 2 * self._size  # what there is still holds; not again at each commit
        self._append(_record(change.type, resource, change.entry))

    def rewrite(self) -> None:
        """Write the file anew with what is there now; older history is forgotten at the next start.

        Raises JournalError: that failed; the old file is as it was.
        """
        store = self._store
        unfinished = self.path.with_name("journal.new")
        try:
            # Readable by its owner only: there are Secrets in it.
            fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(fd, "wb") as file:
                file.write(_framed({"t": "START", "format": _FORMAT, "v": store.revision}, b""))
                for resource, entry in _live(store):
                    file.write(_record("LIVE", resource, entry))
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            unfinished.replace(self.path)
        except OSError as error:
            raise JournalError(
                f"{unfinished}: cannot be written ({error.strerror or error}); make room, or give another folder"
            ) from error
        self._open(size, size)

    def read(self) -> Iterator[_Record]:
        """The records, oldest first. What was cut off at the end is cut off the file. Raises JournalError."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        place = 0
        while place < len(data):
            found = self._at(data, place)
            if found is None:
                break
            place, record = found
            yield record
        os.truncate(self.path, place)
        self._open(place, 0)

    def close(self) -> None:
        """Let go of the file and the folder. May be called again."""
        for fd in (self._file, self._lock):
            if fd >= 0:
                os.close(fd)
        self._file = self._lock = -1

    # -- inside -------------------------------------------------------------------------------------------------------

    def _open(self, size: int, live_size: int) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size = size
        self.holds(live_size)

    def holds(self, live_size: int) -> None:
        """Of what was read so many bytes are what is there now."""
        self._rewrite_at = max(_SMALLEST_REWRITE_BYTES, _GROWTH * live_size)

    @property
    def is_new(self) -> bool:
        """There was no file."""
        return self._file < 0

    def _append(self, record: bytes) -> None:
        try:
            written = os.write(self._file, record)
            if written != len(record):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self._sync:
                os.fdatasync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise StatusError(
                500,
                "InternalError",
                f"Internal error occurred: {self.path} cannot be written: {error.strerror or error}",
            ) from error
        self._size += len(record)

    def _at(self, data: bytes, place: int) -> tuple[int, _Record] | None:
        """The record at a place and where the next one is; None where the file was cut off. Raises JournalError."""
        start = place + _HEAD
        if start > len(data):
            return None
        length = int.from_bytes(data[place : place + 4], "big")
        end = start + length
        if end > len(data):
            return None
        payload = data[start:end]
        if zlib.crc32(payload) != int.from_bytes(data[place + 4 : start], "big"):
            if end == len(data):
                return None
            raise JournalError(
                f"{self.path}: damaged at byte {place}, with {len(data) - end} bytes of later commits behind it; "
                "put a copy of the file back, or start with another folder"
            )
        line, _, obj = payload.partition(b"\n")
        return end, _Record(orjson.loads(line), obj)


def open_store(folder: Path, *, sync: bool = False, history_limit: int = 10_000) -> tuple[Store, Journal]:
    """The store that is in a folder, or an empty one, and its journal, which is attached.

    Args:
        sync: each commit waits for the disk.

    Raises:
        JournalError: the folder cannot be used: no permission, another server has it, the file is damaged or of
            another version.
    """
    store = Store(history_limit=history_limit)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        journal = Journal(folder, store, sync=sync)
    except OSError as error:
        raise JournalError(f"{folder}: cannot be used ({error.strerror or error}); give another folder") from error
    try:
        _restore(store, journal)
        if journal.is_new:
            journal.rewrite()
    except BaseException:
        journal.close()
        raise
    store.journal = journal
    return store, journal


def _restore(store: Store, journal: Journal) -> None:
    forgotten = 0
    sizes: dict[tuple[str, str], int] = {}
    for meta, encoded in journal.read():
        kind = meta["t"]
        if kind == "START":
            if meta["format"] != _FORMAT:
                raise JournalError(
                    f"{journal.path}: format {meta['format']} is not known here; this is version {_FORMAT}"
                )
            forgotten = meta["v"]
            continue
        resource, key = meta["r"], meta["k"]
        if kind != "LIVE" and forgotten:
            store.revision = max(store.revision, forgotten)
            store.compact()
            forgotten = 0
        collection = store.collection(resource)
        entry = Entry(key, orjson.loads(encoded), meta["v"])
        previous = collection.live.get(key)
        sizes[resource, key] = 0 if kind == "DELETED" else len(encoded)
        store.apply(resource, collection, Change("ADDED" if kind == "LIVE" else kind, entry, previous))
    if forgotten:
        store.revision = max(store.revision, forgotten)
        store.compact()
    journal.holds(sum(sizes.values()))


def _live(store: Store) -> list[tuple[str, Entry]]:
    """Everything, oldest first: revisions only ever grow while a file is read back."""
    found = [(resource, entry) for resource in store.resources for entry in store.collection(resource).live.values()]
    return sorted(found, key=lambda each: each[1].revision)


def _record(kind: str, resource: str, entry: Entry) -> bytes:
    return _framed({"t": kind, "r": resource, "k": entry.key, "v": entry.revision}, entry.json)


def _framed(meta: dict[str, Any], obj: bytes) -> bytes:
    payload = orjson.dumps(meta) + b"\n" + obj
    return len(payload).to_bytes(4, "big") + zlib.crc32(payload).to_bytes(4, "big") + payload


def _locked(folder: Path) -> int:
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise JournalError(f"{folder}: another server uses it; stop that one, or give another folder") from None
    return fd
