"""One try of an election after the other: client-go's algorithm, and where ours is stricter."""

from __future__ import annotations

from typing import Any

from kubewright.manager.election.election import Election
from kubewright.manager.election.record import Record, lease_of
from kubewright.manager.election.settings import LeaderElection
from kubewright.manager.election.steps import (
    Answer,
    Change,
    Create,
    Elected,
    Ended,
    Failed,
    Found,
    Get,
    Lost,
    Missing,
    NewLeader,
    Phase,
    Renewed,
    Request,
    SlowPath,
    Trouble,
    Update,
)

ME, OTHER = "me", "other"
NOW = 100.0


class Half:
    """Random numbers that are 0.5."""

    def random(self) -> float:
        return 0.5


def election(**changed: Any) -> Election:
    fields: dict[str, Any] = {"name": "lease", "namespace": "ns", "identity": ME, **changed}
    return Election(LeaderElection(**fields), NOW, wall=lambda: "now", random=Half())  # type: ignore[arg-type]


def lease(holder: str, version: int = 1, **fields: Any) -> dict[str, Any]:
    record = Record(holder, **{"duration_seconds": 15, "acquire_time": "a", "renew_time": "r", **fields})
    made = lease_of(record, "lease", "ns", {"theirs": "kept"})
    made["metadata"]["resourceVersion"] = str(version)
    return made


def asked(candidate: Election, kind: type[Request]) -> Any:
    assert isinstance(candidate.request, kind), candidate.request
    return candidate.request


def answer(candidate: Election, answer: Answer, now: float = NOW) -> list[Change]:
    assert candidate.request is not None
    return candidate.answered(candidate.request, answer, now)


def stored(candidate: Election, now: float = NOW, version: int = 7) -> list[Change]:
    """The server carries out the write that is asked for."""
    assert isinstance(candidate.request, Create | Update)
    sent = candidate.request.lease
    return answer(candidate, Found({**sent, "metadata": {**sent["metadata"], "resourceVersion": str(version)}}), now)


def leading(**changed: Any) -> Election:
    made = election(**changed)
    answer(made, Missing())
    stored(made)
    assert made.phase is Phase.LEADING
    return made


def sent(candidate: Election, kind: type[Create | Update] = Update) -> Record:
    return Record.of(asked(candidate, kind).lease)


# A candidate


def test_it_asks_at_once_and_creates_a_lease_that_is_not_there() -> None:
    candidate = election(labels={"app": "web"})
    asked(candidate, Get)
    answer(candidate, Missing())
    assert asked(candidate, Create).lease == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "lease", "namespace": "ns", "labels": {"app": "web"}},
        "spec": {
            "holderIdentity": ME,
            "leaseDurationSeconds": 15,
            "acquireTime": "now",
            "renewTime": "now",
            "leaseTransitions": 0,
        },
    }
    assert stored(candidate) == [NewLeader(ME), Elected(0, NOW + 10)]


def test_a_lease_that_another_holds_is_left_until_it_has_run_out_by_our_own_clock() -> None:
    candidate = election()
    assert answer(candidate, Found(lease(OTHER))) == [NewLeader(OTHER)]
    assert candidate.wake_at == NOW + 2 * 1.1
    for now in (NOW + 3, NOW + 8, NOW + 14.9):
        candidate.timer(now)
        assert answer(candidate, Found(lease(OTHER)), now) == []
        assert candidate.request is None
    assert candidate.wake_at == NOW + 15, "not later than that"
    candidate.timer(NOW + 15)
    answer(candidate, Found(lease(OTHER)), NOW + 15.1)
    assert sent(candidate) == Record(ME, 15, "now", "now", 1)


def test_a_record_that_has_changed_begins_the_wait_again_whatever_its_times_say() -> None:
    candidate = election()
    answer(candidate, Found(lease(OTHER, renew_time="1970")))
    candidate.timer(NOW + 14)
    answer(candidate, Found(lease(OTHER, renew_time="1969")), NOW + 14)
    candidate.timer(NOW + 28.9)
    answer(candidate, Found(lease(OTHER, renew_time="1969")), NOW + 28.9)
    assert candidate.request is None
    candidate.timer(NOW + 29)
    answer(candidate, Found(lease(OTHER, renew_time="1969")), NOW + 29)
    asked(candidate, Update)


def test_a_change_of_labels_renews_nothing() -> None:
    candidate = election()
    answer(candidate, Found(lease(OTHER, version=1)))
    candidate.timer(NOW + 14)
    answer(candidate, Found(lease(OTHER, version=2)), NOW + 14)
    candidate.timer(NOW + 15)
    answer(candidate, Found(lease(OTHER, version=2)), NOW + 15)
    assert asked(candidate, Update).lease["metadata"]["resourceVersion"] == "2"


def test_it_is_the_holders_duration_that_counts() -> None:
    candidate = election()
    answer(candidate, Found(lease(OTHER, duration_seconds=60)))
    candidate.timer(NOW + 59)
    answer(candidate, Found(lease(OTHER, duration_seconds=60)), NOW + 59)
    assert candidate.request is None
    assert candidate.wake_at == NOW + 60


def test_a_lease_without_holder_is_free_at_once() -> None:
    candidate = election()
    answer(candidate, Found(lease("", transitions=4)))
    assert sent(candidate) == Record(ME, 15, "now", "now", 5)


def test_a_lease_that_is_ours_already_is_taken_at_once_as_it_was_acquired() -> None:
    candidate = election()
    answer(candidate, Found(lease(ME, transitions=4)))
    assert sent(candidate) == Record(ME, 15, "a", "now", 4)


def test_an_update_keeps_what_others_have_put_on_the_lease() -> None:
    candidate = election(labels={"ours": "yes"})
    found = {**lease("", version=9), "status": {"unknown": 1}}
    found["metadata"]["annotations"] = {"theirs": "too"}
    answer(candidate, Found(found))
    update = asked(candidate, Update).lease
    assert update["metadata"] == {
        "name": "lease",
        "namespace": "ns",
        "resourceVersion": "9",
        "labels": {"theirs": "kept", "ours": "yes"},
        "annotations": {"theirs": "too"},
    }
    assert update["status"] == {"unknown": 1}


def test_who_loses_the_race_for_a_lease_tries_again_after_a_jittered_retry() -> None:
    candidate = election()
    answer(candidate, Missing())
    assert answer(candidate, Failed("exists", conflict=True)) == []
    assert candidate.phase is Phase.CANDIDATE
    assert candidate.wake_at == NOW + 2 * 1.1


def test_a_server_that_cannot_be_asked_is_told_once_and_asked_again() -> None:
    candidate = election()
    assert answer(candidate, Failed("refused")) == [Trouble("refused")]
    candidate.timer(NOW + 3)
    assert answer(candidate, Failed("refused"), NOW + 3) == []
    candidate.timer(NOW + 6)
    assert answer(candidate, Found(lease(OTHER)), NOW + 6) == [Trouble(""), NewLeader(OTHER)]


def test_a_request_without_answer_fails_and_a_later_answer_changes_nothing() -> None:
    candidate = election()
    request = asked(candidate, Get)
    assert candidate.wake_at == NOW + 5
    assert candidate.timer(NOW + 5) == [Trouble("no answer within 5 s")]
    assert candidate.answered(request, Missing(), NOW + 6) == []
    assert candidate.request is None


def test_a_deleted_lease_is_not_taken_before_its_holder_must_have_stopped() -> None:
    candidate = election()
    answer(candidate, Found(lease(OTHER, transitions=3)))
    candidate.timer(NOW + 3)
    answer(candidate, Missing(), NOW + 3)
    assert candidate.request is None
    for now in (7.0, 11.0, 15.0, 17.5):
        candidate.timer(NOW + now)
        answer(candidate, Missing(), NOW + now)
    assert candidate.request is None, "it may have been renewed just before it was deleted"
    assert candidate.wake_at == NOW + 18
    candidate.timer(NOW + 18)
    answer(candidate, Missing(), NOW + 18)
    assert sent(candidate, Create).transitions == 4


def test_a_lease_that_was_stored_too_late_to_be_of_use_is_no_leadership() -> None:
    candidate = election()
    answer(candidate, Missing())
    assert stored(candidate, NOW + 11) == [NewLeader(ME)]
    assert candidate.phase is Phase.CANDIDATE
    assert candidate.wake_at == NOW + 11


def test_who_has_looked_away_does_not_trust_that_a_lease_was_missing_all_the_time() -> None:
    candidate = election()
    answer(candidate, Found(lease(OTHER)))
    candidate.timer(NOW + 3)
    answer(candidate, Missing(), NOW + 3)
    candidate.timer(NOW + 18)
    answer(candidate, Missing(), NOW + 18)
    assert candidate.request is None
    assert candidate.wake_at is not None
    for now in (21, 24, 27, 30):
        candidate.timer(NOW + now)
        answer(candidate, Missing(), NOW + now)
        assert candidate.request is None
    candidate.timer(NOW + 33)
    answer(candidate, Missing(), NOW + 33)
    asked(candidate, Create)


# A leader


def test_a_leader_renews_without_reading_and_keeps_when_it_was_acquired() -> None:
    leader = election()
    answer(leader, Found(lease("", transitions=4)))
    stored(leader)
    leader.timer(NOW + 2)
    asked(leader, Update)
    assert sent(leader) == Record(ME, 15, "now", "now", 5)
    assert stored(leader, NOW + 2.5) == [Renewed(5, NOW + 12)], "counted from the sending"
    assert leader.wake_at == NOW + 4.5, "retry_seconds after the answer"


def test_a_renewal_that_fails_looks_what_is_there_and_tries_on() -> None:
    leader = leading()
    leader.timer(NOW + 2)
    assert answer(leader, Failed("modified", conflict=True), NOW + 2) == []
    asked(leader, Get)
    assert answer(leader, Found(lease(ME, version=9)), NOW + 2) == [SlowPath()]
    assert asked(leader, Update).lease["metadata"]["resourceVersion"] == "9"
    assert stored(leader, NOW + 2) == [Renewed(0, NOW + 12)]


def test_failed_tries_of_a_leader_come_every_retry_seconds_counted_from_their_beginning() -> None:
    leader = leading()
    leader.timer(NOW + 2)
    answer(leader, Failed("a"), NOW + 2.5)
    answer(leader, Failed("b"), NOW + 3)
    assert leader.wake_at == NOW + 4
    leader.timer(NOW + 4)
    answer(leader, Failed("a"), NOW + 7)
    answer(leader, Failed("b"), NOW + 8)
    assert leader.wake_at == NOW + 8, "that took longer: at once"


def test_a_leader_that_cannot_renew_stops_renew_seconds_after_the_last_renewal_was_sent() -> None:
    leader = leading()
    leader.timer(NOW + 2)
    answer(leader, Failed("no route"), NOW + 2)
    answer(leader, Failed("no route"), NOW + 2)
    assert leader.wake_at == NOW + 4
    leader.timer(NOW + 4)
    assert leader.timer(NOW + 9.9)
    assert leader.wake_at == NOW + 10
    assert leader.timer(NOW + 10) == [Lost("not renewed for 10 s: no answer within 5 s")]
    assert leader.request is None
    assert leader.wake_at is None


def test_an_answer_that_comes_after_the_leadership_has_run_out_does_not_bring_it_back() -> None:
    leader = leading()
    leader.timer(NOW + 6)
    assert stored(leader, NOW + 10.5) == [Lost("not renewed for 10 s")]
    assert leader.phase is Phase.STEPPING_DOWN


def test_a_leader_that_reads_another_holder_stops_at_once() -> None:
    leader = leading()
    leader.timer(NOW + 2)
    answer(leader, Failed("modified", conflict=True), NOW + 2)
    changes = answer(leader, Found(lease(OTHER)), NOW + 2)
    assert changes == [Lost("the Lease is held by other"), NewLeader(OTHER)]


def test_a_leader_puts_a_deleted_lease_back_as_it_was() -> None:
    leader = election()
    answer(leader, Found(lease("", transitions=4)))
    stored(leader)
    leader.timer(NOW + 2)
    answer(leader, Missing(), NOW + 2)
    answer(leader, Missing(), NOW + 2)
    assert sent(leader, Create) == Record(ME, 15, "now", "now", 5)
    assert stored(leader, NOW + 2) == [Renewed(5, NOW + 12)]


def test_a_holder_that_was_removed_by_hand_is_put_back_as_a_new_transition() -> None:
    leader = leading()
    leader.timer(NOW + 2)
    answer(leader, Failed("modified", conflict=True), NOW + 2)
    answer(leader, Found(lease("", transitions=0)), NOW + 2)
    assert sent(leader).transitions == 1
    assert stored(leader, NOW + 2) == [Renewed(1, NOW + 12)]


def test_after_a_loss_nothing_is_asked_before_the_work_has_ended() -> None:
    leader = leading()
    leader.timer(NOW + 10)
    assert leader.timer(NOW + 60) == []
    assert leader.request is None
    leader.stepped_down(NOW + 60)
    assert leader.phase is Phase.CANDIDATE
    asked(leader, Get)


def test_a_lease_that_nobody_took_meanwhile_is_taken_back_at_once() -> None:
    leader = leading()
    leader.timer(NOW + 10)
    leader.stepped_down(NOW + 11)
    asked(leader, Update)
    assert stored(leader, NOW + 11) == [Elected(0, NOW + 21)]


# The end


def test_a_release_leaves_no_holder_and_a_duration_of_a_second() -> None:
    leader = election()
    answer(leader, Found(lease("", transitions=4)))
    stored(leader)
    assert leader.stop(NOW + 1) == [Lost("the election was stopped")]
    asked(leader, Get)
    answer(leader, Found(lease(ME, version=8, transitions=5)), NOW + 1)
    assert sent(leader) == Record("", 1, "now", "now", 5)
    assert asked(leader, Update).lease["metadata"]["resourceVersion"] == "8"
    assert stored(leader, NOW + 1) == [NewLeader(""), Ended(True)]
    assert leader.wake_at is None


def test_a_release_is_tried_again_on_a_conflict() -> None:
    leader = leading()
    leader.stop(NOW + 1)
    for version in (8, 9, 10):
        answer(leader, Found(lease(ME, version=version)), NOW + 1)
        answer(leader, Failed("modified", conflict=True), NOW + 1)
    answer(leader, Found(lease(ME, version=11)), NOW + 1)
    assert stored(leader, NOW + 1)[-1] == Ended(True)


def test_a_release_never_overwrites_another_holder() -> None:
    leader = leading()
    leader.stop(NOW + 1)
    assert answer(leader, Found(lease(OTHER)), NOW + 1) == [NewLeader(OTHER), Ended(False)]


def test_a_release_is_given_up_after_three_seconds() -> None:
    leader = leading()
    leader.stop(NOW + 1)
    assert leader.wake_at == NOW + 4
    assert leader.timer(NOW + 4) == [Ended(False)]


def test_without_release_the_end_is_at_once() -> None:
    leader = leading(release=False)
    assert leader.stop(NOW + 1) == [Lost("the election was stopped"), Ended(False)]
    assert leader.request is None


def test_a_candidate_that_stops_ends_at_once() -> None:
    candidate = election()
    answer(candidate, Found(lease(OTHER)))
    assert candidate.stop(NOW + 1) == [Ended(False)]
    assert candidate.stop(NOW + 2) == []


def test_a_candidate_that_is_stopped_while_it_takes_a_lease_gives_it_back_and_never_leads() -> None:
    candidate = election()
    answer(candidate, Missing())
    assert candidate.stop(NOW) == []
    assert stored(candidate, NOW + 1) == []
    assert sent(candidate).holder == ""
    assert stored(candidate, NOW + 1)[-1] == Ended(True)


def test_a_take_over_that_may_have_happened_is_given_back_too() -> None:
    candidate = election()
    answer(candidate, Missing())
    candidate.stop(NOW)
    answer(candidate, Failed("connection lost"), NOW + 1)
    asked(candidate, Get)
    answer(candidate, Found(lease(ME)), NOW + 1)
    assert sent(candidate).holder == ""


def test_a_stop_after_a_loss_gives_back_what_nobody_has_taken() -> None:
    leader = leading()
    leader.timer(NOW + 10)
    assert leader.stop(NOW + 12) == []
    answer(leader, Found(lease(ME)), NOW + 12)
    assert stored(leader, NOW + 12)[-1] == Ended(True)
