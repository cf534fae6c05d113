"""A bundle is redacted item by item, each as what it is, and keeps the name of what is left."""

import hashlib

import pytest

from journal import Journal
from journal.errors import RecordConflict, RedactionFailed
from journal.json_door import canonical, dumps
from journal.records import CHECKPOINT, RUN_RECORD, STREAM_RECORD, wrap
from projections import replay
from tests import samples
from tests.unit.test_redaction import GONE, SECRET, call, hide, written

RECORDS = [call(n, token=SECRET, page=n) for n in range(4)]
CHECKPOINT_TAKEN = samples.checkpoint("k", messages=[samples.user(SECRET)], stream_cursor=3)
BUNDLE = samples.bundle(
    run=samples.run_record(metadata={"note": SECRET}),
    context_state=samples.context([samples.user(SECRET)]),
    environment_state={"provider_id": "local", "metadata": {"note": SECRET}},
    stream_records=RECORDS,
    checkpoints=[CHECKPOINT_TAKEN],
    approvals=[samples.approval(request={"command": SECRET})],
    deferred_tools=[samples.deferred_tool(request={"query": SECRET})],
    stream_cursors=[{**samples.stream_cursor(), "metadata": {"note": SECRET}}],
    display_messages=[{"text": SECRET}],
    host_event_publications=[{"text": SECRET}],
)


def without_secrets(value):
    if isinstance(value, dict):
        return {key: without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    return hide(value, "", "")


class Watching:
    """A hook that counts what it saw, by kind and path."""

    def __init__(self):
        self.seen = []

    def __call__(self, value, path, kind):
        self.seen.append((kind, path))
        return hide(value, path, kind)


def test_every_item_is_seen_once_as_what_it_is(tmp_path):
    hook = Watching()
    with Journal.open(tmp_path / "runs.db", redact=hook) as journal:
        journal.commit_run_evidence(BUNDLE)
        roots = [kind for kind, path in hook.seen if path == "$"]
        paths = {kind: {path for what, path in hook.seen if what == kind} for kind in roots}
    assert sorted(roots) == sorted(
        [
            *["stream_record"] * 4,
            *["run", "context_state", "environment_state", "checkpoint", "approval"],
            *["deferred_tool", "stream_cursor", "run_evidence"],
        ]
    )
    assert "$.event.call.arguments.token" in paths["stream_record"]
    assert "$.display_messages[0].text" in paths["run_evidence"]
    assert not any(path.startswith("$.stream_records") for path in paths["run_evidence"])
    assert SECRET.encode() not in written(tmp_path)


def test_the_name_of_a_bundle_is_that_of_what_is_left():
    with Journal.open("memory://", redact=hide) as journal:
        receipt = journal.commit_run_evidence(BUNDLE)
        assert journal.commit_run_evidence(dumps(BUNDLE)) == receipt.__class__(
            receipt.version, receipt.position, receipt.recorded_at, repeated=True
        )
        [committed] = [
            event for event in journal.reader.run_events("r") if event.name == "run.committed.v1"
        ]
        left = without_secrets(BUNDLE)
        assert committed.data["sha256"] == hashlib.sha256(canonical(left)).hexdigest()
        assert committed.data["redacted"] == [
            "$.display_messages[0].text",
            "$.host_event_publications[0].text",
            "$.run.metadata.note",
        ]
        assert journal.run_record("r") == left["run"]
        with pytest.raises(RecordConflict):
            journal.commit_run_evidence({**BUNDLE, "display_messages": []})


def test_what_was_tapped_and_redacted_before_is_not_written_again():
    with Journal.open("memory://", redact=hide) as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        run.append_many(RECORDS)
        run.checkpoint(CHECKPOINT_TAKEN)
        run.approval(BUNDLE["approvals"][0])
        before = journal.reader.head("r")
        journal.commit_run_evidence(BUNDLE)
        names = [event.name for event in journal.reader.run_events("r", after=before)]
        assert sorted(names) == [
            "context.exported.v1",
            "cursor.saved.v1",
            "deferred_tool.requested.v1",
            "environment.exported.v1",
            "run.committed.v1",
        ]
        view = replay(journal, "r")
        assert view.checkpoint["state"]["message_history"] == [samples.user(GONE)]
        assert {one.name for one in view.redacted} == {
            "approval.requested.v1",
            "checkpoint.taken.v1",
            "context.exported.v1",
            "deferred_tool.requested.v1",
            "environment.exported.v1",
        }


def test_a_tool_return_whose_parts_the_host_drops_on_commit_is_still_the_same():
    def returned(**private):
        answer = {
            "tool_call_id": "c1",
            "name": "read",
            "content": SECRET,
            "is_error": False,
            "private_metadata": private,
        }
        return samples.record(0, "tool_return", step=1, tool_return=answer)

    with Journal.open("memory://", redact=hide) as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        run.append(returned(starweaver_tool_return_content_parts=[{"text": SECRET}], kept=1))
        journal.commit_run_evidence(samples.bundle(stream_records=[returned(kept=1)]))
        assert len(replay(journal, "r").tail) == 1


def test_enveloped_items_are_redacted_in_their_envelopes():
    enveloped = {
        **BUNDLE,
        "run": wrap(BUNDLE["run"], RUN_RECORD),
        "stream_records": [wrap(record, STREAM_RECORD) for record in RECORDS],
        "checkpoints": [wrap(CHECKPOINT_TAKEN, CHECKPOINT)],
    }
    with Journal.open("memory://", redact=hide) as journal:
        journal.commit_run_evidence(enveloped)
        view = replay(journal, "r")
        assert view.checkpoint == without_secrets(CHECKPOINT_TAKEN)
        assert journal.run_record("r") == without_secrets(BUNDLE["run"])
        assert journal.commit_run_evidence(enveloped).repeated


@pytest.mark.parametrize(
    ("place", "answer", "kind", "path"),
    [
        ("$.event.call.id", "", "run_evidence", "$.stream_records[0].event.call.id"),
        ("$.display_messages", 7, "run_evidence", "$.display_messages"),
        ("$.conversation_id", "another", "run", "$.conversation_id"),
    ],
)
def test_a_bundle_that_the_hook_breaks_is_not_written_at_all(place, answer, kind, path):
    def hook(value, at, _kind):
        return answer if at == place and isinstance(value, str | list) else value

    bundle = samples.bundle(stream_records=RECORDS, display_messages=[{"text": SECRET}])
    with Journal.open("memory://", redact=hook) as journal:
        with pytest.raises(RedactionFailed) as error:
            journal.commit_run_evidence(bundle)
        assert (error.value.kind, error.value.path) == (kind, path)
        assert list(journal.reader.all_events()) == []
