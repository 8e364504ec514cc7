"""The journal: what was answered is read back, whatever happened."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.apiserver import journal as module
from kubewright.apiserver.errors import StatusError
from kubewright.apiserver.journal import JournalError, open_store
from kubewright.apiserver.store import Compacted, Store

THINGS = "example.com/things"


def thing(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


def contents(store: Store) -> dict[str, dict[str, Any]]:
    return {
        f"{resource} {entry.key}": entry.object
        for resource in store.resources
        for entry in store.collection(resource).page().entries
    }


def history(store: Store, since: int) -> list[tuple[str, str, int, dict[str, Any] | None]]:
    collection = store.collection(THINGS)
    changes = collection.changes(collection.number_after(since))
    return [(c.type, c.entry.key, c.revision, c.previous.object if c.previous else None) for c in changes]


operations = st.lists(
    st.tuples(st.sampled_from(["create", "update", "delete", "rewrite", "reopen"]), st.sampled_from("abcd")),
    max_size=40,
)


@settings(max_examples=100, deadline=None)
@given(operations)
def test_what_is_read_back_is_what_was_there(steps: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, journal = open_store(folder)
        for number, (what, key) in enumerate(steps):
            found = store.get(THINGS, key)
            if what == "rewrite":
                journal.rewrite()
            elif what == "reopen":
                before, revision = contents(store), store.revision
                journal.close()
                store, journal = open_store(folder)
                assert (contents(store), store.revision) == (before, revision)
            elif found is None:
                store.create(THINGS, key, thing(key, number=number))
            elif what == "delete":
                store.delete(THINGS, key, found)
            else:
                store.update(THINGS, key, thing(key, number=number), found)
        before, revision = contents(store), store.revision
        journal.close()
        again, journal = open_store(folder)
        assert (contents(again), again.revision) == (before, revision)
        journal.close()


def test_watches_go_on_after_a_restart_from_where_they_were(tmp_path: Path) -> None:
    store, journal = open_store(tmp_path)
    entry = store.create(THINGS, "a", thing("a"))
    seen = store.revision
    entry = store.update(THINGS, "a", thing("a", size=2), entry)
    store.delete(THINGS, "a", entry)
    before = history(store, seen)
    journal.close()
    again, journal = open_store(tmp_path)
    assert history(again, seen) == before
    assert len(before) == 2
    journal.close()


def test_history_from_before_the_file_was_written_anew_is_gone_and_said_to_be(tmp_path: Path) -> None:
    store, journal = open_store(tmp_path)
    seen = store.revision
    store.create(THINGS, "a", thing("a"))
    journal.rewrite()
    later = store.revision
    store.create(THINGS, "b", thing("b"))
    journal.close()
    again, journal = open_store(tmp_path)
    with pytest.raises(Compacted):
        history(again, seen)
    assert [each[1] for each in history(again, later)] == ["b"]
    journal.close()


def test_a_record_that_was_cut_off_is_dropped_and_the_rest_kept(tmp_path: Path) -> None:
    store, journal = open_store(tmp_path)
    store.create(THINGS, "a", thing("a"))
    kept = contents(store)
    whole = os.path.getsize(journal.path)
    store.create(THINGS, "b", thing("b"))
    end = os.path.getsize(journal.path)
    journal.close()
    data = journal.path.read_bytes()
    for cut in range(whole, end):
        journal.path.write_bytes(data[:cut])
        again, journal = open_store(tmp_path)
        assert contents(again) == kept
        again.create(THINGS, "c", thing("c"))
        journal.close()
        again, journal = open_store(tmp_path)
        assert set(contents(again)) == {f"{THINGS} a", f"{THINGS} c"}
        journal.close()


def test_damage_before_the_end_is_refused_with_its_place(tmp_path: Path) -> None:
    store, journal = open_store(tmp_path)
    store.create(THINGS, "a", thing("a"))
    place = os.path.getsize(journal.path)
    store.create(THINGS, "b", thing("b"))
    store.create(THINGS, "c", thing("c"))
    journal.close()
    data = bytearray(journal.path.read_bytes())
    data[place + 20] ^= 1
    journal.path.write_bytes(data)
    with pytest.raises(JournalError, match=rf"damaged at byte {place}, with \d+ bytes of later commits behind it"):
        open_store(tmp_path)


def test_two_servers_cannot_have_one_folder(tmp_path: Path) -> None:
    _, journal = open_store(tmp_path)
    with pytest.raises(JournalError, match="another server uses it"):
        open_store(tmp_path)
    journal.close()
    _, journal = open_store(tmp_path)
    journal.close()


def test_a_folder_that_cannot_be_made_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="file/data: cannot be used"):
        open_store(tmp_path / "file" / "data")


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(module, "_FORMAT", 2)
        _, journal = open_store(tmp_path)
        journal.close()
    with pytest.raises(JournalError, match="format 2 is not known"):
        open_store(tmp_path)


@pytest.mark.parametrize("written", [0, 7, None], ids=["nothing", "a-part", "refused"])
def test_a_commit_that_cannot_be_written_is_refused_and_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int | None
) -> None:
    store, journal = open_store(tmp_path)
    store.create(THINGS, "a", thing("a"))
    before, revision = contents(store), store.revision
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if written is None:
            raise OSError(28, "No space left on device")
        return real(fd, data[:written])

    with monkeypatch.context() as patched:
        patched.setattr(module.os, "write", full)
        with pytest.raises(StatusError, match=r"journal cannot be written: No space left on device"):
            store.create(THINGS, "b", thing("b"))
    assert (contents(store), store.revision) == (before, revision)
    store.create(THINGS, "c", thing("c"))
    after = contents(store)
    journal.close()
    again, journal = open_store(tmp_path)
    assert contents(again) == after
    journal.close()


def test_the_file_is_written_anew_when_it_is_mostly_past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SMALLEST_REWRITE_BYTES", 10_000)
    store, journal = open_store(tmp_path)
    entry = store.create(THINGS, "a", thing("a"))
    for number in range(1_000):
        entry = store.update(THINGS, "a", thing("a", number=number), entry)
    assert os.path.getsize(journal.path) < 11_000
    journal.close()
    again, journal = open_store(tmp_path)
    assert contents(again) == {f"{THINGS} a": entry.object}
    assert again.revision == store.revision
    journal.close()


def test_after_a_start_the_file_grows_by_what_is_in_it_before_it_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SMALLEST_REWRITE_BYTES", 1_000)
    store, journal = open_store(tmp_path)
    for number in range(100):
        store.create(THINGS, f"{number}", thing(f"{number}", text="x" * 1_000))
    journal.close()
    store, journal = open_store(tmp_path)
    rewritten: list[int] = []
    monkeypatch.setattr(type(journal), "rewrite", lambda journal: rewritten.append(1))
    entry = store.collection(THINGS).live["0"]
    for _ in range(100):
        entry = store.update(THINGS, "0", thing("0", text="y" * 1_000), entry)
    assert not rewritten
    journal.close()


def test_nobody_else_can_read_what_is_in_it(tmp_path: Path) -> None:
    store, journal = open_store(tmp_path / "data")
    store.create(THINGS, "a", thing("a"))
    journal.rewrite()
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert journal.path.stat().st_mode & 0o077 == 0
    journal.close()


_WRITER = """
import sys
from pathlib import Path
from kubewright.apiserver.journal import open_store
store, _ = open_store(Path(sys.argv[1]))
number = 0
while True:
    store.create("example.com/things", f"{number:09}", {"metadata": {"name": str(number)}, "pad": "x" * 500})
    print(number, flush=True)
    number += 1
"""


def test_nothing_that_was_answered_is_lost_by_a_kill(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(500):
            writer.stdout.readline()
        writer.kill()
        answered = 500 + len(writer.stdout.read().splitlines())
    store, journal = open_store(tmp_path)
    assert len(contents(store)) in (answered, answered + 1)
    journal.close()
