"""A list-and-watch machine in the hand of a test: what it asks for, and answers to that."""

from __future__ import annotations

from random import Random

from watching import page

from kubewright.cache import ListPage, Watch, Watcher
from kubewright.cache.actions import Digest, Wait
from kubewright.cache.listing import Replaced


def new(**options: object) -> Watcher:
    return Watcher(0.0, random=Random(1), **options)  # type: ignore[arg-type]


def asked_list(watcher: Watcher) -> ListPage:
    assert isinstance(watcher.action, ListPage)
    return watcher.action


def asked_watch(watcher: Watcher) -> Watch:
    assert isinstance(watcher.action, Watch)
    return watcher.action


def waits(watcher: Watcher, now: float) -> float:
    """How long the machine waits; the wait is over afterwards."""
    assert isinstance(watcher.action, Wait)
    until = watcher.action.until
    assert watcher.wake_at == until
    watcher.timer(until)
    assert not isinstance(watcher.action, Wait)
    return until - now


def answer(watcher: Watcher, body: bytes, now: float = 0.0) -> Replaced | None:
    """The server answers the list; the page is digested."""
    watcher.page_received(asked_list(watcher), body, now)
    found = None
    while isinstance(watcher.action, Digest):
        assert watcher.wake_at is None
        found = watcher.digest(2, now)
    return found


def synced(version: int = 10, now: float = 0.0, **options: object) -> Watcher:
    """A machine that watches, having listed nothing at `version`."""
    watcher = new(**options)
    assert answer(watcher, page([], version), now) is not None
    asked_watch(watcher)
    return watcher
