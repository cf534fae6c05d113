"""What the audit tells of real runs, as their host gave them, and of hosts that stream nothing."""

from collections import Counter

import pytest

from journal import Journal
from journal.documents import Walk
from projections import replay
from projections.audit import RowMaker
from projections.children import response_text
from tests.corpus import Calls
from tests.recorded import FILES

SILENT = {"model_stream", "node_start", "node_complete", "checkpoint"}


def taken(journal, events):
    walk = Walk()
    maker = RowMaker(lambda _: {}, lambda event: journal.reader.document(event, walk))
    rows, facts = maker.take(events)
    return rows, {one.run_id: one for one in facts}


@pytest.fixture(scope="module", params=FILES)
def given(request):
    with Journal.open("memory://") as journal:
        calls = Calls(request.param)
        calls.give(journal)
        events = list(journal.reader.all_events())
        yield journal, calls, events, *taken(journal, events)


def test_nothing_is_unreadable_and_every_meaningful_record_is_a_row(given):
    _, calls, _, rows, _ = given
    assert "unreadable" not in {row.kind for row in rows}
    said = Counter()
    for run_id, records in calls.records.items():
        for record in records:
            event = record["event"]
            if event["kind"] not in SILENT:
                kind = event["kind"]
                said[run_id, f"custom:{event['event']['kind']}" if kind == "custom" else kind] += 1
    streamed = Counter((row.run_id, row.kind) for row in rows if row.rank == 0)
    assert streamed == said


def test_facts_say_how_each_run_stands(given):
    journal, calls, _, _, facts = given
    assert facts.keys() == set(calls.run_ids)
    for run_id, found in facts.items():
        live = replay(journal, run_id).live
        assert found.status == live.status
        if live.error is not None:
            assert (found.error_kind, found.error) == tuple(live.error.values())
        own = [one["event"] for one in calls.records[run_id] if "source" not in one]
        called = [one["call"]["id"] for one in own if one["kind"] == "tool_call"]
        answered = [
            response_text(one["response"]) for one in own if one["kind"] == "model_response"
        ]
        texts = [text for text in answered if text]
        assert found.last_call_id == (called[-1] if called else None)
        assert found.last_text == (texts[-1][:500] if texts else None)
        assert found.sequences == f"0-{len(calls.records[run_id]) - 1}"
        assert found.agent == "main"
        assert (found.ended_at is not None) is (live.status in {"completed", "failed", "cancelled"})


def test_each_run_has_its_prompt_once(given):
    _, calls, _, rows, _ = given
    for run_id, commit in calls.commits.items():
        texts = [part["text"] for part in commit["run"]["input"]]
        prompts = [row for row in rows if row.kind == "prompt" and row.run_id == run_id]
        assert [row.text for row in prompts].count("\n".join(texts)) == 1
        assert not any(row.from_state for row in prompts)


def stripped(events):
    """Leave out what a host that streams nothing would not have given."""
    return [event for event in events if event.name != "stream.recorded.v1"]


def test_a_host_that_streams_nothing_tells_the_same_by_its_checkpoints(given):
    journal, calls, events, rows, _ = given
    bare, _ = taken(journal, stripped(events))
    # An interrupted tool's return is another one in the history than in the stream.
    said = () if calls.name == "cancel" else ("text", "duration_ms")
    for kind, cells in (
        ("model_response", ("run_id", "text", "model", "host_at", "requests", "total_tokens")),
        ("tool_call", ("run_id", "tool", "call_id", "text")),
        ("tool_return", ("run_id", "tool", "call_id", "status", *said)),
    ):
        told = [row for row in bare if row.kind == kind]
        assert all(row.from_state for row in told)
        streamed = [
            row for row in rows
            if row.kind == kind and row.rank == 0 and row.child_run_id is None
            # What asks for something is not put into the history.
            and row.status not in {"approval_required", "deferred"}
        ]  # fmt: skip
        shown = Counter(tuple(getattr(row, cell) for cell in cells) for row in told)
        expected = Counter(tuple(getattr(row, cell) for cell in cells) for row in streamed)
        assert shown == expected, kind


def test_without_documents_what_a_difference_shows_is_told_all_the_same(given):
    _, _, events, _, _ = given
    rows, _ = RowMaker(lambda _: {}).take(stripped(events))
    assert "unreadable" not in {row.kind for row in rows}
    assert any(row.from_state for row in rows) or not any(
        event.data.get("messages", 0) > 1 for event in events
    )


def test_only_a_run_without_stream_records_is_told_by_its_checkpoints(given):
    _, _, events, rows, _ = given
    streamed = set()
    for event in events:
        if event.name == "stream.recorded.v1":
            streamed.add(event.run_id)
        told = [row for row in rows if row.position == event.position and row.from_state]
        assert not (told and event.run_id in streamed)
