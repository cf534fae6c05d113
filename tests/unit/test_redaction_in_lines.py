"""Exported lines carry what was redacted, and a hook sees what is ingested."""

import io

import orjson
import pytest

from journal import Journal
from journal.errors import InvalidLine
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import replay
from tests import samples
from tests.unit.test_redaction import GONE, SECRET, call, hide, written
from tests.unit.test_redaction_in_bundles import BUNDLE, without_secrets


def exported(journal):
    return [dumps(line) + b"\n" for line in export_all(journal.reader)]


def filled(hook):
    journal = Journal.open("memory://", redact=hook)
    run = journal.run("r", session_id="s", conversation_id="c")
    run.append_many([call(n, token=SECRET) for n in range(3)])
    run.checkpoint(samples.checkpoint("k1", messages=[samples.user(SECRET)], stream_cursor=1))
    run.set_status("waiting", reason=SECRET)
    run.suspend(SECRET)
    journal.claim_resume({**samples.resume_claim(), "note": SECRET})
    journal.save_session(samples.session_record(metadata={"note": SECRET}))
    journal.commit_run_evidence({**BUNDLE, "stream_records": [call(3, token=SECRET)]})
    return journal


def told(journal):
    return [
        (event.name, event.version, event.data.get("redacted"), event.data.get("sha256"))
        for event in journal.reader.all_events()
    ]


def test_another_journal_keeps_what_was_redacted():
    with filled(hide) as journal, Journal.open("memory://") as other:
        lines = exported(journal)
        counts = Ingest(other).read(lines)
        assert sum(counts.recorded.values()) == len(lines)
        assert told(other) == told(journal)
        assert replay(other, "r").to_json() == replay(journal, "r").to_json()
        again = Ingest(other).read(lines)
        assert sum(again.repeated.values()) == len(lines)
        assert exported(other) == lines


def test_a_hook_sees_what_is_ingested(tmp_path):
    with filled(None) as journal, Journal.open(tmp_path / "runs.db", redact=hide) as other:
        Ingest(other).read(exported(journal))
        now, was = replay(other, "r"), replay(journal, "r")
        assert now.checkpoint == without_secrets(was.checkpoint)
        assert now.tail == tuple(without_secrets(list(was.tail)))
        with filled(hide) as direct:
            assert [one[:3] for one in told(other)] == [one[:3] for one in told(direct)]
        again = Ingest(other).read(exported(journal))
        assert set(again.recorded.values()) <= {0}
    assert SECRET.encode() not in written(tmp_path)


def test_what_both_redacted_is_told_together():
    def other_hook(value, path, _kind):
        return 0 if path == "$.event.step" else value

    with filled(hide) as journal, Journal.open("memory://", redact=other_hook) as other:
        Ingest(other).read(exported(journal))
        [record] = [e for e in other.reader.run_events("r") if e.version == 2]
        assert record.data["redacted"] == ["$.event.call.arguments.token", "$.event.step"]
        assert record.data["record"]["event"]["call"]["arguments"] == {"token": GONE}


def test_a_bundle_line_is_redacted_item_by_item():
    with Journal.open("memory://", redact=hide) as journal:
        line = dumps({"type": "run_evidence", "commit": BUNDLE})
        Ingest(journal).read(io.BytesIO(line))
        assert replay(journal, "r").approvals[0]["request"] == {"command": GONE}


def test_a_hook_that_fails_refuses_its_line():
    def hook(value, _path, _kind):
        if value == SECRET:
            raise LookupError
        return value

    lines = [
        dumps({"type": "stream_record", "session_id": "s", "run_id": "r", "record": record})
        for record in (samples.record(0), call(1, token=SECRET), samples.record(2))
    ]
    with Journal.open("memory://", redact=hook) as journal:
        with pytest.raises(InvalidLine, match=r"line 2: the redaction hook failed on a stream rec"):
            Ingest(journal).read(lines)
        counts = Ingest(journal, keep_going=True).read(lines)
        assert [refused.line for refused in counts.refused] == [2]
        assert journal.reader.head("r") == 3


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        ("$", "not a list"),
        (["$"] * 41, "not a list of at most 40 paths"),
        ([7], "not a path"),
        (["event.call"], "not a path"),
        (["$" * 201], "not a path"),
    ],
)
def test_a_mark_that_says_no_paths_is_refused(mark, reason):
    line = {
        "type": "stream_record",
        "session_id": "s",
        "run_id": "r",
        "record": samples.record(0),
        "redacted": mark,
    }
    with Journal.open("memory://") as journal:
        with pytest.raises(InvalidLine, match=reason):
            Ingest(journal).read([dumps(line)])
        assert list(journal.reader.all_events()) == []


def test_a_mark_stands_beside_the_record_not_in_an_events_data():
    data = {"status": "waiting", "redacted": ["$.reason"]}
    line = {"type": "event", "run_id": "r", "name": "run.status_changed.v1", "data": data}
    commit = {"type": "run_evidence", "commit": BUNDLE, "redacted": ["$"]}
    with Journal.open("memory://") as journal:
        journal.run("r", session_id="s")
        for bad in (line, commit):
            with pytest.raises(InvalidLine, match="not a member"):
                Ingest(journal).read([orjson.dumps(bad)])
