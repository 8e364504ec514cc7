from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.model import (
    Duration,
    MicroTime,
    Model,
    Time,
    decode,
    encode,
    format_time,
    now,
    parse_time,
    resolve_percent,
    to_second,
)

from .golden import rows

EAST = timezone(timedelta(hours=2))
instants = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC) | st.just(EAST))


class Stamped(Model):
    at: Time | None = None
    precise: MicroTime | None = None
    wait: Duration = Duration("5m")


# -- Time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("times", "times"), ids=lambda row: row[0])
def test_times_are_read_and_written_as_metav1_time_does(row):
    text, written = row
    if written is None:
        with pytest.raises(ValueError, match="time"):
            parse_time(text)
    else:
        assert format_time(parse_time(text)) == written


@given(instants)
def test_a_written_time_has_whole_seconds_and_is_utc(instant):
    text = format_time(instant)
    assert len(text) == len("2026-01-02T15:04:05Z")
    assert parse_time(text) == to_second(instant) == instant.replace(microsecond=0)


def test_now_is_this_second_in_utc():
    before = datetime.now(UTC).replace(microsecond=0)
    made = now()
    assert before <= made <= datetime.now(UTC)
    assert (made.microsecond, made.tzinfo) == (0, UTC)


@pytest.mark.parametrize("write", [to_second, format_time, MicroTime.of])
def test_a_time_without_a_zone_is_refused_with_the_cure(write):
    with pytest.raises(ValueError, match=r"has no time zone; make it with now\(\)"):
        write(datetime(2026, 1, 1))


def test_a_time_outside_of_the_calendar_is_refused():
    with pytest.raises(ValueError, match="years 1 to 9999"):
        to_second(datetime(1, 1, 1, tzinfo=EAST))


@given(instants)
def test_what_a_model_sends_is_rfc_3339_and_the_same_instant(instant):
    text = decode(dict, encode(Stamped(at=instant)))["at"]
    assert parse_time(text) == instant


# -- MicroTime --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("micros", [0, 1, 500_000, 999_999])
def test_micro_time_has_six_digits_also_on_a_whole_second(micros):
    at = MicroTime.of(datetime(2026, 1, 2, 3, 4, 5, micros, EAST))
    assert at.to_wire() == f"2026-01-02T01:04:05.{micros:06}Z"
    assert encode(Stamped(precise=at)) == f'{{"precise":"{at.to_wire()}","wait":"5m"}}'.encode()


@pytest.mark.parametrize(
    ("text", "micros"), [("05Z", 0), ("05.5Z", 500_000), ("05.123456789Z", 123_456), ("05.000001+00:00", 1)]
)
def test_micro_time_reads_any_fraction(text, micros):
    read = decode(Stamped, b'{"precise":"2026-01-02T03:04:%b"}' % text.encode()).precise
    assert read == datetime(2026, 1, 2, 3, 4, 5, micros, UTC)


@given(instants)
def test_micro_time_comes_back_and_is_a_datetime(instant):
    at = MicroTime.of(instant)
    assert at == instant
    assert MicroTime.from_wire(at.to_wire()) == at
    assert type(at.datetime) is datetime
    assert at.datetime == at
    assert type(at + timedelta(seconds=1)) is MicroTime
    assert pickle.loads(pickle.dumps(at)) == at


def test_micro_time_now_is_aware():
    assert MicroTime.now().tzinfo is UTC
    assert MicroTime.now(None).tzinfo is UTC
    assert MicroTime.now(EAST).tzinfo is EAST


def test_a_broken_micro_time_is_a_decode_error():
    with pytest.raises(ValueError, match=r"Stamped.precise: time 'x': is not RFC 3339"):
        decode(Stamped, b'{"precise":"x"}')
    with pytest.raises(ValueError, match=r"Stamped.precise: time 5: is not a JSON string"):
        decode(Stamped, b'{"precise":5}')


# -- Duration ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("times", "durations"), ids=lambda row: row[0])
def test_durations_mean_and_print_what_they_do_in_go(row):
    text, *meaning = row
    if meaning == [None]:
        with pytest.raises(ValueError, match="duration"):
            Duration(text)
    else:
        assert [str(Duration(text).nanoseconds), str(Duration(text))] == meaning


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_printed_duration_is_the_same_span(nanoseconds):
    span = Duration.of_nanoseconds(nanoseconds)
    assert Duration(str(span)).nanoseconds in (nanoseconds, nanoseconds - 1, nanoseconds + 1)  # Go reads via a double
    assert str(Duration(str(span))).count(".") <= 1


@given(st.integers(-(10**15), 10**15))
def test_timedeltas_come_back(micros):
    delta = timedelta(microseconds=micros)
    assert Duration(delta).timedelta == delta
    assert Duration(delta).seconds == pytest.approx(delta.total_seconds())


def test_timedelta_is_cut_towards_zero():
    assert Duration("1999ns").timedelta == timedelta(microseconds=1)
    assert Duration("-1999ns").timedelta == timedelta(microseconds=-1)


def test_seconds_are_taken_to_the_nearest_nanosecond():
    assert str(Duration.of_seconds(0.1)) == "100ms"
    assert str(Duration.of_seconds(90)) == "1m30s"
    with pytest.raises(ValueError, match="is not a finite number"):
        Duration.of_seconds(float("inf"))
    with pytest.raises(ValueError, match="is not a finite number"):
        Duration.of_seconds(float("nan"))


def test_what_does_not_fit_in_64_bits_is_refused():
    for make in (
        lambda: Duration.of_nanoseconds(2**63),
        lambda: Duration("2540400h") * 2,
        lambda: Duration("-2540400h") - Duration("2540400h"),
        lambda: Duration(timedelta.max),
        lambda: -Duration.of_nanoseconds(-(2**63)),
        lambda: Duration.of_seconds(1e300),
    ):
        with pytest.raises(ValueError, match="does not fit in 64 bits"):
            make()


def test_duration_errors_name_the_text_the_rule_and_the_cure():
    with pytest.raises(ValueError) as caught:
        Duration("5 minutes")
    assert str(caught.value) == (
        "duration '5 minutes': is not a Go duration; "
        "write numbers with units ns, us, ms, s, m or h, such as 1h30m, 90s or 1.5s"
    )
    with pytest.raises(TypeError, match=r"Duration.of_seconds\(\)"):
        Duration(5)


def test_durations_are_compared_by_value_and_added():
    assert Duration("90s") == Duration("1m30s")
    assert len({Duration("90s"), Duration("1m30s")}) == 1
    assert Duration("1s") < Duration("1500ms") <= Duration("1.5s")
    assert Duration("1m") + Duration("30s") == Duration("45s") * 2 == 2 * Duration("45s")
    assert Duration("1m") - Duration("2m") == -Duration("1m")
    assert not Duration()
    assert Duration("1ns")
    assert Duration("1s") != 1
    for operation in (
        lambda: Duration("1s") + 1,
        lambda: Duration("1s") - 1,
        lambda: Duration("1s") * 1.5,
        lambda: Duration("1s") < 1,
    ):
        with pytest.raises(TypeError):
            operation()


def test_a_duration_that_was_read_is_sent_back_unchanged():
    assert encode(decode(Stamped, b'{"wait":"90s"}')) == b'{"wait":"90s"}'
    assert encode(Stamped(wait=Duration("60s") + Duration("30s"))) == b'{"wait":"1m30s"}'
    with pytest.raises(ValueError, match=r"Stamped.wait: duration 90: is not a JSON string"):
        decode(Stamped, b'{"wait":90}')


def test_copies_and_pickles_of_durations_are_equal_and_keep_the_text():
    span = Duration("90s")
    assert copy.copy(span) is copy.deepcopy(span) is span
    assert pickle.loads(pickle.dumps(span)).to_wire() == "90s"
    assert pickle.loads(pickle.dumps(span * 2)) == Duration("3m")
    assert repr(span) == "Duration('90s')"
    assert Duration(span).to_wire() == "90s"


# -- percentages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("times", "percent"), ids=str)
def test_percentages_are_resolved_as_in_go(row):
    value, total, round_up, result = row
    if result is None:
        with pytest.raises(ValueError, match="is not a percentage; write a number"):
            resolve_percent(value, total, round_up)
    else:
        assert resolve_percent(value, total, round_up) == result


@pytest.mark.parametrize("value", [1.5, True, None])
def test_what_is_neither_number_nor_text_is_no_percentage(value):
    with pytest.raises(TypeError, match="is neither a number nor a text"):
        resolve_percent(value, 3, round_up=True)
