"""Every cursor has one text form, and a wrong one is refused with the forms there are."""

import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import Journal
from journal.errors import InvalidCursor
from projections import (
    LATEST,
    CheckpointCursor,
    MessageCursor,
    StepCursor,
    StreamCursor,
    TimeCursor,
    VersionCursor,
    parse_cursor,
    replay,
)
from tests import samples

MOST = 2**64 - 1


@pytest.mark.parametrize(
    ("text", "cursor"),
    [
        ("latest", LATEST),
        ("stream:0", StreamCursor(0)),
        ("stream:20", StreamCursor(20)),
        (f"stream:{MOST}", StreamCursor(MOST)),
        ("message:5", MessageCursor(5)),
        ("message:0@1", MessageCursor(0, epoch=1)),
        ("message:5@2", MessageCursor(5, epoch=2)),
        ("checkpoint:ckpt_1", CheckpointCursor("ckpt_1")),
        ("checkpoint:a:b c/ü:@2", CheckpointCursor("a:b c/ü:@2")),
        ("checkpoint: ", CheckpointCursor(" ")),
        ("step:3", StepCursor(3)),
        ("version:7", VersionCursor(7)),
        ("time:2026-11-29T20:44:38.500000Z", TimeCursor("2026-11-29T20:44:38.5Z")),
    ],
)
def test_the_text_form_is_read_back_and_written(text, cursor):
    assert parse_cursor(text) == cursor
    assert str(cursor) == text
    assert pickle.loads(pickle.dumps(cursor)) == cursor


numbers = st.integers(0, MOST)
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.builds(
    lambda seconds, microseconds, zone: datetime.fromtimestamp(seconds, tz=zone).replace(
        microsecond=microseconds
    ),
    st.integers(-(10**10), 10**11),
    st.integers(0, 999_999),
    zones,
)
cursors = st.one_of(
    st.just(LATEST),
    st.builds(StreamCursor, numbers),
    st.builds(MessageCursor, numbers, st.none() | st.integers(1, MOST)),
    st.builds(CheckpointCursor, st.text(min_size=1)),
    st.builds(StepCursor, numbers),
    st.builds(VersionCursor, numbers),
    st.builds(TimeCursor, moments),
)


@given(cursors)
def test_reading_the_text_form_gives_the_cursor(cursor):
    assert parse_cursor(str(cursor)) == cursor


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20",
        "LATEST",
        "latest:1",
        "stream",
        "stream:",
        "stream:-1",
        "stream:+1",
        "stream: 1",
        "stream:1 ",
        "stream:1\n",
        "stream:1.0",
        "stream:1_0",
        "stream:٣",
        "stream:0x1",
        f"stream:{MOST + 1}",
        "stream:" + "9" * 5000,
        "message:",
        "message:5@",
        "message:5@0",
        "message:@2",
        "message:5@2@3",
        "message:5@-1",
        "checkpoint",
        "checkpoint:",
        "step:one",
        "version:",
        "time:",
        "time:2026-11-29",
        "time:2026-11-29T20:44:38",
        "time:2026-13-29T20:44:38Z",
        "time:2026-11-29T25:44:38Z",
        "time:20261129T204438Z",
        "time:0001-01-01T00:00:00+01:00",
        "time:yesterday",
        "position:3",
        "run:stream:3",
    ],
)
def test_anything_else_is_refused_with_the_forms_there_are(text):
    with pytest.raises(InvalidCursor) as caught:
        parse_cursor(text)
    assert "use latest, stream:N, message:N, message:N@E, checkpoint:ID" in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("number", [-1, MOST + 1, 1.0, "1", True, None])
@pytest.mark.parametrize("form", [StreamCursor, MessageCursor, StepCursor, VersionCursor])
def test_only_whole_numbers_of_64_bits_make_cursors(form, number):
    with pytest.raises(InvalidCursor):
        form(number)


@pytest.mark.parametrize("epoch", [0, -1, True, "1"])
def test_epochs_count_from_one(epoch):
    with pytest.raises(InvalidCursor):
        MessageCursor(5, epoch=epoch)


@pytest.mark.parametrize("checkpoint_id", ["", None, 5])
def test_a_checkpoint_cursor_needs_an_id(checkpoint_id):
    with pytest.raises(InvalidCursor):
        CheckpointCursor(checkpoint_id)


def test_a_time_without_zone_is_refused():
    with pytest.raises(InvalidCursor, match="zone"):
        TimeCursor(datetime(2026, 11, 29, tzinfo=UTC).replace(tzinfo=None))


def test_a_time_is_the_same_in_every_zone_and_spelling():
    moment = TimeCursor(datetime(2026, 11, 29, 20, 44, 38, 500_000, tzinfo=UTC))
    east = timezone(timedelta(hours=5, minutes=30))
    assert TimeCursor(datetime(2026, 11, 30, 2, 14, 38, 500_000, tzinfo=east)) == moment
    assert parse_cursor("time:2026-11-30T02:14:38.5+05:30") == moment
    assert parse_cursor("time:2026-11-29t20:44:38.5z") == moment
    assert parse_cursor("time:2026-11-29 20:44:38.500000999Z") == moment
    assert moment.microseconds == 1_795_985_078_500_000


@pytest.mark.parametrize("at", [5, 5.0, None, b"latest", ["latest"]])
def test_what_is_neither_a_cursor_nor_text_is_refused(at):
    with pytest.raises(InvalidCursor):
        parse_cursor(at)
    with pytest.raises(InvalidCursor):
        TimeCursor(at)
    with Journal.open("memory://") as journal:
        journal.run("r", session_id="s")
        with pytest.raises(InvalidCursor):
            replay(journal, "r", at)


def test_a_run_is_replayed_to_the_text_of_a_cursor_as_to_the_cursor():
    with Journal.open("memory://") as journal:
        run = journal.run("r", session_id="s")
        run.append_many([samples.record(0), samples.record(1)])
        assert replay(journal, "r", "stream:0") == replay(journal, "r", StreamCursor(0))
        assert replay(journal, "r", "stream:0").cursor.version == 2
        with pytest.raises(InvalidCursor, match="no such form"):
            replay(journal, "r", "0")
