"""The view of a run says which of the values it shows were redacted."""

import asyncio
import json

import pytest

from journal import AsyncJournal, Journal
from journal.errors import CorruptEvent
from journal.ids import run_stream
from projections import Redaction, VersionCursor, replay
from tests import samples
from tests.unit.changed_rows import replaced
from tests.unit.test_redaction import GONE, SECRET, begun, call, hide


@pytest.fixture
def journal():
    with Journal.open("memory://", redact=hide) as opened:
        yield opened


def shown(journal, at="latest"):
    view = replay(journal, "r", at=at)
    assert view.to_json()["redacted"] == [
        {"version": one.version, "name": one.name, "path": one.path} for one in view.redacted
    ]
    return [(one.version, one.name, one.path) for one in view.redacted]


ARGUMENT = "$.event.call.arguments.token"


def test_a_view_without_redacted_values_says_so(journal):
    begun(journal).append(samples.record(0))
    assert replay(journal, "r").redacted == ()
    assert replay(journal, "r").to_json()["redacted"] == []


def test_a_record_counts_from_its_cursor_on_until_a_checkpoint_takes_it_in(journal):
    run = begun(journal)
    run.append_many([samples.record(0), call(1, token=SECRET), samples.record(2)])
    run.checkpoint(samples.checkpoint("k1", stream_cursor=2))
    run.append(call(3, token=SECRET))
    assert shown(journal, "stream:0") == []
    assert shown(journal, "stream:1") == [(3, "stream.recorded.v1", ARGUMENT)]
    assert shown(journal, VersionCursor(4)) == [(3, "stream.recorded.v1", ARGUMENT)]
    assert shown(journal, "checkpoint:k1") == []
    assert shown(journal) == [(6, "stream.recorded.v1", ARGUMENT)]


def test_documents_count_while_they_are_the_ones_shown(journal):
    run = begun(journal)
    run.export_environment({"provider_id": "local", "metadata": {"key": SECRET}})
    run.checkpoint(samples.checkpoint("k1", messages=[samples.user(SECRET)], output=SECRET))
    run.export_context(samples.context([samples.user(SECRET)]))
    content = "message_history[0].parts[0].content"
    assert shown(journal) == [
        (2, "environment.exported.v1", "$.metadata.key"),
        (3, "checkpoint.taken.v1", f"$.state.{content}"),
        (3, "checkpoint.taken.v1", "$.state.output"),
        (4, "context.exported.v1", f"$.{content}"),
    ]
    run.export_context(samples.context([samples.user("harmless")]))
    run.checkpoint(samples.checkpoint("k2", messages=[samples.user("harmless")]))
    assert shown(journal) == [(2, "environment.exported.v1", "$.metadata.key")]
    assert replay(journal, "r", at="checkpoint:k1").redacted[0] == Redaction(
        2, "environment.exported.v1", "$.metadata.key"
    )


def test_the_latest_record_of_an_approval_or_a_deferred_tool_counts(journal):
    run = begun(journal)
    run.approval(samples.approval(request={"command": SECRET}))
    run.deferred_tool(samples.deferred_tool(request={"query": SECRET}))
    assert shown(journal) == [
        (2, "approval.requested.v1", "$.request.command"),
        (3, "deferred_tool.requested.v1", "$.request.query"),
    ]
    run.approval(samples.approval("approved", request={"command": GONE}))
    told = {"request": {"query": GONE}, "response": {"answer": SECRET}}
    run.deferred_tool(samples.deferred_tool("completed", **told))
    assert shown(journal) == [(5, "deferred_tool.resolved.v1", "$.response.answer")]


def test_messages_cut_out_of_a_later_document_count_as_its(journal):
    run = begun(journal)
    run.checkpoint(samples.checkpoint("k1", stream_cursor=0, messages=[]))
    messages = [samples.user(SECRET), samples.answer("fine"), samples.user("more")]
    run.checkpoint(samples.checkpoint("k2", stream_cursor=5, messages=messages))
    view = replay(journal, "r", at="message:1")
    assert view.cursor.derived
    assert [one.version for one in view.redacted] == [3]


def test_arrival_out_of_order_changes_nothing(journal):
    run = begun(journal)
    run.append(call(7, token=SECRET))
    run.append(call(1, token=SECRET))
    run.checkpoint(samples.checkpoint("k1", stream_cursor=1))
    assert shown(journal, "stream:1") == []
    assert shown(journal) == [(2, "stream.recorded.v1", ARGUMENT)]


def test_a_mark_that_is_no_list_of_paths_is_damage(journal):
    begun(journal).append(call(1, token=SECRET))
    data = {**journal.reader.event(run_stream("r"), 2).data, "redacted": [7]}
    replaced(journal, journal._store, run_stream("r"), 2, data=json.dumps(data).encode())
    with pytest.raises(CorruptEvent):
        replay(journal, "r")


def test_tasks_are_redacted_too():
    async def work():
        async with AsyncJournal.open("memory://", redact=hide) as journal:
            run = await journal.run("r", session_id="s", conversation_id="c")
            await asyncio.gather(*(run.append(call(n, token=SECRET)) for n in range(20)))
            return replay(journal.sync, "r")

    view = asyncio.run(work())
    assert len(view.redacted) == 20
    assert all(one["event"]["call"]["arguments"] == {"token": "[redacted]"} for one in view.tail)
