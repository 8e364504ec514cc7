"""List then watch, for ever: the state machine of client-go's reflector, without I/O.

Owns what to ask next, from which resource version, after which pause. Refuses to know sockets, tasks, clocks (`now` is
an argument) and the store: it hands out what happened as values. A shell performs `action`, and reports back:

    action      the shell                       reports                            next action
    ListPage    asks for the page               page_received, page_failed         Digest, or Wait
    Digest      calls digest until it is over   digest                             ListPage (more), Watch
    Watch       opens the watch                 opened, line_received,             Watch (it ended as it should),
                                                watch_ended                        Wait (it failed)
    Wait        sleeps until wake_at            timer                              Watch, or ListPage

`wake_at` bounds every one of them: the shell calls `timer(now)` then. An answer to a request that is no longer the
action is ignored, so that a shell need not care which of two things came first.

Resource versions (go-client's rules): the first list takes any version (`"0"`: the server's cache will do); a later one
at least the last seen version, so that time never runs backwards; the newest (`""`) only when the server said that it
cannot serve that one. A watch starts at the list's version and moves with each event and bookmark.

Rejected: to list again whenever a watch fails. A watch that resumes costs the server nothing; a list of everything by
every client at once, after an API server came back, is how it goes down again.
"""

from __future__ import annotations

from random import Random

from .actions import Action, Condition, Digest, Wait
from .backoff import Backoff
from .failures import failure_of
from .frame import Bookmark, ErrorStatus, Garbled, Removed, Unreadable, Upserted, read_line
from .intake import Intake, take_in
from .listing import InitialEvents, Listing, Replaced
from .listwatch import Denied, Expired, ListPage, ListWatchError, NotInstalled, Rejected, Unavailable, Watch

__all__ = ["Watcher"]

_VERY_SHORT_SECONDS = 1.0  # a watch that ends that early with nothing seen is a failure, not an end (client-go)
_GRACE_SECONDS = 30.0  # beyond the time after which the server promised to end a watch
_LIST_SECONDS = 120.0  # for one page
_SILENT_START_SECONDS = 30.0  # without one line of the initial events: the server does not know sendInitialEvents
_MOST_RESUMES = 10  # failures in a row at one version, after which a list must show that we are not deaf
_ABSENT_SECONDS = 10.0  # between two looks whether a kind is installed by now, as controller-runtime's Kind source
_ABSENCES = 2  # answers "no such collection" in a row; one may come from a server that has just started


class Watcher:
    """The state of one list-and-watch.

    Expected flow: perform `action`, report, take the outputs, repeat; call `timer` when `wake_at` has come.

    Guarantees:
        W1 Every change of the collection is shown by an output, or covered by a later `Replaced`.
        W2 The version that a watch resumes from was seen in a list, an event or a bookmark.
        W3 There is always an action, and `wake_at` bounds it: no failure is final, nothing is waited for without end.
        W4 A failure shows in `condition` and `problem` until the server has answered well again.

    Caveats: not for concurrent use. A `Removed` means "no longer in this collection": with a selector the object may
    live on.
    """

    def __init__(
        self,
        now: float,
        *,
        page_size: int = 500,
        stream_initial: bool = False,
        silence_seconds: float = 180.0,
        newest: bool = False,
        random: Random | None = None,
        intake: Intake | None = None,
    ) -> None:
        """Begin with a list.

        Args:
            now: the clock, in seconds, monotonic; all later calls take the same one.
            page_size: objects per page of a list (a server that answers `"0"` from its cache ignores it).
            stream_initial: get the whole state as a watch (sendInitialEvents) instead; falls back to lists for good
                where the server cannot do that.
            silence_seconds: a watch of a server that has sent bookmarks (it does so once a minute) and then nothing for
                so long is dead, however open its connection looks.
            newest: begin with the newest state, not with any that the server has in its memory, which may be an old
                one. For who has written to the collection before.
            random: source of jitter and of the durations of watches.
            intake: what becomes of each entry before anybody sees it; one that it raises on is unreadable.
        """
        self._random = random or Random()  # noqa: S311 - jitter
        self._backoff = Backoff(self._random)
        self._page_size = page_size
        self._stream_initial = stream_initial
        self._silence_seconds = silence_seconds
        self._intake = intake

        self.resource_version = ""
        """What the next watch starts from; `""` before the first list."""
        self.replaced_from = ""
        """What it was before the last whole state: what happened in between is in no event."""
        self.absences = 0
        """How often in a row a list was answered with "no such collection"."""
        self.synced = False
        """Whether a whole state has been handed out."""
        self.problem: ListWatchError | None = None
        """The last failure, until the server has answered well again."""
        self.last_event_at: float | None = None
        """When the server last sent a page, an event or a bookmark; None before the first."""

        self._unservable = newest  # the server cannot serve `resource_version`, or not well enough: list the newest
        self._served_pages = False  # a list at "0" came in pages: the server has no cache of this collection
        self._moved = False  # the version has moved since the last list
        self._resumes = 0  # failures in a row since the version moved
        self._sends_bookmarks = False  # the server has sent one: from then on its silence says something
        self._wait_for_list = False  # what follows a Wait: a list, or a watch
        self._listing = Listing("", None)
        self._initial: InitialEvents | None = None

        # Of the present action.
        self._began_at = now
        self._quiet_from = now
        self._opened = False
        self._progressed = False
        self._action: Action
        self._sync(now)

    @property
    def action(self) -> Action:
        """What to do now. The same object as long as it is the same action."""
        return self._action

    @property
    def wake_at(self) -> float | None:
        """When to call `timer`; while an action lasts this moves later, never earlier. None: do not wait at all."""
        action = self._action
        if isinstance(action, Wait):
            return action.until
        if isinstance(action, ListPage):
            return self._began_at + _LIST_SECONDS
        if isinstance(action, Watch):
            silence = self._silence_seconds
            if self._initial is not None:
                silence = min(silence, _SILENT_START_SECONDS)
            return min(self._quiet_from + silence, self._began_at + action.timeout_seconds + _GRACE_SECONDS)
        return None

    @property
    def condition(self) -> Condition:
        """How well the collection is seen."""
        if isinstance(self.problem, Denied):
            return Condition.FORBIDDEN
        if isinstance(self.problem, NotInstalled):
            return Condition.NOT_INSTALLED
        if self.problem is not None:
            return Condition.FAILING
        return Condition.LIVE if self.synced and isinstance(self._action, Watch) else Condition.SYNCING

    # Lists

    def page_received(self, request: ListPage, body: bytes, now: float) -> None:
        """The server answered a page."""
        if request is not self._action:
            return
        self.last_event_at = now
        try:
            self._listing.add_page(body)
        except Garbled as error:
            self._fail(Rejected(str(error)), now, then_list=True)
            return
        self.problem = None
        self.absences = 0
        self._begin(Digest(), now)

    def digest(self, limit: int, now: float) -> Replaced | None:
        """Decode up to `limit` objects of the page that has come. The whole state, when this was the last of it."""
        if not isinstance(self._action, Digest) or self._listing.digest(limit):
            return None
        replaced = self._listing.turn_page()
        if replaced is None:
            self._begin(self._listing.request, now)
            return None
        if self._listing.request.resource_version == "0" and self._listing.pages > 1:
            self._served_pages = True
        if not replaced.resource_version:
            self._fail(Rejected("the list has no metadata.resourceVersion to watch from"), now, then_list=True)
            return None
        self._accept(replaced)
        self._watch(now)
        return replaced

    def page_failed(self, request: ListPage, error: ListWatchError, now: float) -> Replaced | None:
        """The server did not answer a page, or not with a list. The empty state, when there is no collection any more.

        The objects of a CRD are deleted before it is; who was not watching then learns it from the second 404 in a row.
        """
        if request is not self._action:
            return None
        if isinstance(error, Expired):
            if request.continue_token and request.limit is not None:
                # The pages outlived their state. One page with everything cannot.
                self._listing = Listing(request.resource_version, None, self._intake)
                self._begin(self._listing.request, now)
                return None
            if request.resource_version:
                self._unservable = True
                self._list(now)
                return None
        self._fail(error, now, then_list=True)
        if isinstance(error, NotInstalled):
            self.absences += 1
            if self.synced and self.absences == _ABSENCES:
                self.replaced_from = self.resource_version
                return Replaced([], [], self.resource_version)
        return None

    # Watches

    def opened(self, request: Watch, now: float) -> None:
        """The server accepted the watch."""
        if request is self._action:
            self._opened = True
            self.problem = None

    def line_received(self, line: bytes, now: float) -> Upserted | Removed | Unreadable | Replaced | None:
        """The server sent one line. What it says about the collection, if anything.

        Where the line ends the watch (the server says so, or it is no event), the action has changed: close the stream.
        """
        if not isinstance(self._action, Watch):
            return None
        try:
            event = read_line(line)
        except Garbled as error:
            # What it would have said is lost, so go back to where we were sure. Never skip it.
            self._resume_later(Unavailable(str(error)), now)
            return None
        if isinstance(event, ErrorStatus):
            self._watch_failed(failure_of(event), now)
            return None
        self.problem = None
        self._opened = True
        self._quiet_from = self.last_event_at = now
        if self._intake is not None and isinstance(event, Upserted | Removed):
            event = _taken(event, self._intake)
        if isinstance(event, Bookmark):
            self._sends_bookmarks = True
            if self._initial is None:
                self._move(event.resource_version)
            elif event.initial_events_end:
                replaced = self._initial.complete(event.resource_version)
                self._initial = None
                self._accept(replaced)
                return replaced
            return None
        if self._initial is not None:
            self._initial.add(event)
            return None
        if not isinstance(event, Unreadable):
            self._move(event.entry.resource_version)
        return event

    @property
    def is_absent(self) -> bool:
        """Whether the server has said, and not only once, that there is no such collection."""
        return self.absences >= _ABSENCES

    def watch_ended(self, request: Watch, error: ListWatchError | None, now: float) -> None:
        """The watch is over: ended by the server (None), or failed."""
        if request is not self._action:
            return
        if error is None:
            self._opened = True
        if error is None or isinstance(error, Unavailable):
            healthy = self._progressed or (self._opened and now - self._began_at >= _VERY_SHORT_SECONDS)
            if healthy and self._initial is None and (error is None or error.after_seconds is None):
                self._watch(now)
                return
            error = error or Unavailable("very short watch: the server ended it at once, with no event")
        self._watch_failed(error, now)

    def timer(self, now: float) -> None:
        """`wake_at` has come (a call before it does nothing)."""
        action = self._action
        wake_at = self.wake_at
        if wake_at is None or now < wake_at:
            return
        if isinstance(action, ListPage):
            self.page_failed(action, Unavailable(f"no answer to a list within {_LIST_SECONDS:.0f} s"), now)
        elif isinstance(action, Watch):
            self._watch_is_quiet(action, now)
        elif self._wait_for_list:
            self._sync(now)
        else:
            self._watch(now)

    def _watch_is_quiet(self, action: Watch, now: float) -> None:
        if self._initial is not None:
            # A server that does not know sendInitialEvents ignores it, and would leave us waiting.
            self._stream_initial = False
            self._list(now)
        elif now >= self._began_at + action.timeout_seconds + _GRACE_SECONDS:
            self.watch_ended(action, Unavailable("the server did not end the watch when it had promised to"), now)
        elif self._sends_bookmarks or not self._opened:
            quiet = now - self._quiet_from
            self.watch_ended(action, Unavailable(f"nothing came from the server for {quiet:.0f} s"), now)
        else:
            self._quiet_from = now  # this server sends no bookmarks: silence says nothing

    # Transitions

    def _begin(self, action: Action, now: float) -> None:
        self._action = action
        self._began_at = self._quiet_from = now
        self._opened = self._progressed = False

    def _sync(self, now: float) -> None:
        if not self._stream_initial:
            self._list(now)
            return
        self._initial = InitialEvents()
        self._begin(Watch("" if self._unservable else self.resource_version, self._duration(), initial=True), now)

    def _list(self, now: float) -> None:
        version = "" if self._unservable else self.resource_version or "0"
        # With a version and a limit the server would go past its cache (and to that very version), so: no limit, unless
        # it has no cache anyway.
        limit = self._page_size if version in ("", "0") or self._served_pages else None
        self._initial = None
        self._listing = Listing(version, limit, self._intake)
        self._begin(self._listing.request, now)

    def _watch(self, now: float) -> None:
        self._begin(Watch(self.resource_version, self._duration()), now)

    def _duration(self) -> int:
        # Spread, so that the watches that began together do not end together.
        return self._random.randrange(300, 600)

    def _accept(self, replaced: Replaced) -> None:
        self.replaced_from = self.resource_version
        self.resource_version = replaced.resource_version
        self.synced = True
        self._unservable = self._moved = False
        self._resumes = 0

    def _move(self, resource_version: str) -> None:
        if resource_version:
            self.resource_version = resource_version
            self._moved = self._progressed = True
            self._resumes = 0

    def _watch_failed(self, error: ListWatchError, now: float) -> None:
        if self._initial is not None:
            if isinstance(error, Rejected):
                self._stream_initial = False
                self._list(now)
                return
            self._unservable = self._unservable or isinstance(error, Expired)
            self._fail(error, now, then_list=True)
        elif isinstance(error, Expired):
            # A list at the last version never runs back in time. Only where that version itself came from a list and
            # cannot be watched is there no other way than the newest.
            self._unservable = not self._moved
            if self._backoff.first_is_free(now):
                self._sync(now)  # a server that forgets is no server in trouble, unless it does so again at once
            else:
                self._pause(now, None, then_list=True)
        elif isinstance(error, NotInstalled | Rejected):
            self._fail(error, now, then_list=True)
        else:
            self._resume_later(error, now)

    def _resume_later(self, error: ListWatchError, now: float) -> None:
        self._resumes += 1
        self._fail(error, now, then_list=self._initial is not None or self._resumes >= _MOST_RESUMES)

    def _fail(self, error: ListWatchError, now: float, *, then_list: bool) -> None:
        self.problem = error
        at_most = _ABSENT_SECONDS if isinstance(error, NotInstalled) else None
        self._pause(now, error.after_seconds, then_list=then_list, at_most=at_most)

    def _pause(self, now: float, at_least: float | None, *, then_list: bool, at_most: float | None = None) -> None:
        self._wait_for_list = then_list
        self._initial = None
        seconds = self._backoff.wait_seconds(now, at_least)
        if at_most is not None:
            seconds = min(seconds, max(at_most, at_least or 0.0))
        self._begin(Wait(now + seconds), now)


def _taken(event: Upserted | Removed, intake: Intake) -> Upserted | Removed | Unreadable:
    entry = take_in(event.entry, intake)
    if isinstance(entry, Unreadable):
        # Of what is gone nobody needs more than that: the last good state is what the store has.
        return event if isinstance(event, Removed) else entry
    return Removed(entry) if isinstance(event, Removed) else Upserted(entry)
