"""A search takes the phrase as it is, and shows the best places first."""

import pytest

from journal.errors import InvalidFilter
from projections.audit import Audit, AuditFilter
from tests import samples
from tests.unit.audited import (
    DAY,
    START,
    called,
    child,
    ended,
    failed,
    opened,
    record,
    response,
    returned,
)


def said(sequence, text):
    return record(sequence, "steering_guard", step=0, prompt=text)


def search(journal, phrase, **filters):
    return list(Audit(journal).search(phrase, AuditFilter(**filters)))


def test_a_hit_tells_where_to_replay_and_what_it_found(clock, journal):
    text = "x" * 300 + " the Quarterly\n revenue, forecast was low " + "y" * 300
    opened(journal, "r", "s", called(3, "c1", "report"), returned(4, "c1", "report", content=text))
    [hit] = search(journal, "quarterly revenue forecast")
    assert (hit.run_id, hit.session_id, hit.place, hit.kind) == (
        "r",
        "s",
        "stream:4",
        "tool_return",
    )
    assert (hit.tool, hit.call_id, hit.count, hit.length) == ("report", "c1", 1, len(text))
    assert hit.recorded_at == START
    shown = hit.excerpt
    assert shown.text[shown.start : shown.end] == "Quarterly\n revenue, forecast"
    assert (shown.before, shown.after) == (True, True)
    assert len(shown.text) < 250


def test_all_that_was_said_asked_and_answered_is_searched(journal):
    run = opened(
        journal, "r", "s",
        called(0, "c1", arguments={"q": "needle a"}), returned(1, "c1", content=["needle b"]),
        response(2, text="needle c"), ended(3, output="needle d"),
    )  # fmt: skip
    run.checkpoint(samples.checkpoint("k", stream_cursor=3, messages=[samples.user("needle e")]))
    assert {hit.kind for hit in search(journal, "needle")} == {
        "tool_call", "tool_return", "model_response", "run_complete", "prompt",
    }  # fmt: skip


def test_the_best_come_first(clock, journal):
    run = opened(
        journal, "r", "s", said(0, "cat and much more text"), said(1, "cat cat cat, and dogs")
    )
    clock.pass_(1)
    run.append_many([said(2, "a cat"), said(3, "cat b")])
    assert [hit.place for hit in search(journal, "cat")] == [
        "stream:1", "stream:3", "stream:2", "stream:0",
    ]  # fmt: skip
    assert [hit.place for hit in search(journal, "CAT", limit=2)] == ["stream:1", "stream:3"]


@pytest.mark.parametrize(
    "phrase",
    [
        '"quoted"', "a OR b", "a AND NOT b", "NEAR(a b)", "text : a", "a*", "^a", "-a", "(a", 'a"', "a'b",
        "100%", "a_b", "{a}", "a + b", "'; DROP TABLE audit_rows; --", "a\0b", "\\d+", ".*a",
    ],
)  # fmt: skip
def test_a_phrase_is_data(journal, phrase):
    opened(journal, "r", "s", said(0, f"before {phrase} behind"), said(1, "q u i t e other"))
    assert [hit.place for hit in search(journal, phrase)] == ["stream:0"]


@pytest.mark.parametrize(
    "phrase", ["a " * 201, "\u6f22" * 201, "", " ", "%", '"*"', "\0", "!?", "\ud800", 7]
)
def test_a_phrase_without_a_word_or_with_very_many_is_refused_at_once(journal, phrase):
    with pytest.raises(InvalidFilter):
        Audit(journal).search(phrase)


def test_nothing_is_found_twice(journal):
    opened(
        journal, "r", "s",
        response(0, text="once upon"), response(5, text="once upon"),
        response(6, text="once upon", step=3, source=child("kid")),
    )  # fmt: skip
    assert [hit.place for hit in search(journal, "once upon")] == ["stream:6", "stream:0"]
    opened(journal, "kid", "s", response(0, text="once upon", step=3))
    assert {(hit.run_id, hit.place) for hit in search(journal, "once upon")} == {
        ("kid", "stream:0"), ("r", "stream:0"),
    }  # fmt: skip


def test_a_search_is_narrowed(clock, journal):
    opened(journal, "r1", "s1", said(0, "cat"), ended(1, "r1"))
    clock.pass_(DAY)
    opened(journal, "r2", "s2", said(0, "cat"), failed(1, "r2"))

    def ids(**filters):
        return [hit.run_id for hit in search(journal, "cat", **filters)]

    assert ids() == ["r2", "r1"]
    assert ids(since=START + DAY) == ["r2"]
    assert ids(until=START + DAY) == ["r1"]
    assert ids(session="s1") == ["r1"]
    assert ids(run="r2") == ["r2"]
    assert ids(status="completed") == ["r1"]
    assert ids(limit=1) == ["r2"]
    assert ids(session="s1", status="failed") == []
