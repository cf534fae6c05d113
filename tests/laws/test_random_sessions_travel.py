"""Whatever hosts call, in whatever order: another journal that reads the export answers alike."""

import random

import pytest

from journal import Journal, times
from journal.claims import current_claim
from journal.errors import JournalError
from journal.export import export_all
from journal.hosts.session_store import SessionStore
from journal.ingest import Ingest
from journal.json_door import dumps, equal
from journal.run_status import current_status
from projections import (
    approvals,
    checkpoints,
    compact_run_trace,
    compact_session_trace,
    deferred_tools,
    list_run_records,
    list_session_records,
    pending_publications,
    replay,
    resume_snapshot,
    run_page,
    run_record,
    session_page,
    session_record,
    stream_records,
)
from tests.laws.random_calls import FORKS, RUNS, SESSIONS, RandomCalls

SEEDS = range(20)


def claim_of(journal, run_id):
    claim = current_claim(journal.reader, run_id)
    return None if claim is None else [claim.claim_id, claim.state]


def questions(journal):
    """All that can be asked of a journal, by name."""
    yield "sessions", lambda: list_session_records(journal)
    yield "page of sessions", lambda: session_page(journal, 200)
    for session_id in SESSIONS:
        for ask in (session_record, list_run_records, pending_publications, compact_session_trace):
            yield f"{ask.__name__} {session_id}", lambda s=session_id, ask=ask: ask(journal, s)
        yield f"page {session_id}", lambda s=session_id: run_page(journal, s, 200)
        yield f"snapshot {session_id}", lambda s=session_id: resume_snapshot(journal, s).to_json()
    for run_id in (*RUNS, *FORKS):
        for ask in (run_record, approvals, deferred_tools, checkpoints, stream_records, claim_of):
            yield f"{ask.__name__} {run_id}", lambda r=run_id, ask=ask: ask(journal, r)
        yield f"status {run_id}", lambda r=run_id: current_status(journal.reader, r)
        yield f"view {run_id}", lambda r=run_id: replay(journal, r).to_json()
        for session_id in SESSIONS:
            yield (
                f"snapshot {session_id} {run_id}",
                lambda s=session_id, r=run_id: resume_snapshot(journal, s, r).to_json(),
            )
            yield (
                f"trace {session_id} {run_id}",
                lambda s=session_id, r=run_id: compact_run_trace(journal, s, r),
            )


def answers(journal):
    found = {}
    for name, ask in questions(journal):
        try:
            found[name] = ask()
        except JournalError as error:
            found[name] = [type(error).__name__, str(error)]
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_another_journal_answers_the_same(seed, tmp_path, monkeypatch):
    numbers = random.Random(seed)
    if seed % 3 == 0:  # the clock was set back, and stands still
        monkeypatch.setattr(times, "now", lambda: 1_800_000_000_000_000)
    location = tmp_path / "runs.db" if seed % 5 == 0 else "memory://"
    with Journal.open(location) as journal, Journal.open("memory://") as other:
        calls = RandomCalls(SessionStore(journal), numbers)
        taken, wanted = 0, numbers.randrange(5, 40)
        while taken < wanted:
            try:
                calls.one()
                taken += 1
            except JournalError:
                pass
        exported = [dumps(line) for line in export_all(journal.reader)]
        Ingest(other).read(exported)
        expected, found = answers(journal), answers(other)
        for name, answer in expected.items():
            assert equal(found[name], answer), name
        assert [dumps(line) for line in export_all(other.reader)] == exported
        for again in (other, journal):
            assert not Ingest(again).read(exported).recorded
