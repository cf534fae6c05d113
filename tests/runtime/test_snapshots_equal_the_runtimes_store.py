"""What a run is resumed from is what the runtime's own SQLite store gives, field by field.

Every scenario is driven through both at once: each call of the runtime goes to the real
`SqliteSessionStore`, which answers it, and to the journal. After each call the records are
compared, and in the end the snapshots and traces. Times are left out: each store has its own
clock.

Where the two differ on purpose; of these the runtime's own runs meet only the first:

- The store lists a cursor that session and run share twice in a snapshot; the journal once.
- The store gives a run the checkpoint that it was handed last, or the one with the highest step,
  then id; the journal the last in logical order. Both name the same one in all of these runs.
- After a checkpoint that does not say where it was taken the store lists all stream records; the
  journal those after the checkpoint's place in logical order.
- A run record that is saved without its checkpoint and cursors loses them in the store, and
  stream records appended late set the cursor back; in the journal a cursor never goes back.
- A session record that is saved late, or without the ids of its runs, makes the store forget what
  the runs did meanwhile; in the journal that stays.
- A record that says it is of a higher revision than was counted keeps it in the journal, as one
  from another store; a record equal to the last one is no change.
- The store adds what the host did not say: a namespace, a deletion fence, and the time at which a
  context state is read (`started_at`); the journal gives back what was saved. The runtime says
  all three.
"""

import asyncio
import copy
import re

import pytest
from starweaver import SessionStore, SqliteSessionStore

from journal import Journal
from journal.hosts.starweaver import graceful_shutdown
from journal.json_door import equal
from projections import (
    checkpoints,
    compact_run_trace,
    compact_session_trace,
    list_run_records,
    list_session_records,
    recent_run_records,
    resume_snapshot,
    run_page,
    run_record,
    session_page,
    session_record,
    stream_records,
)
from tests.runtime import scenarios

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")

READING = (
    "load_session",
    "load_run",
    "load_checkpoints",
    "list_sessions",
    "list_runs",
    "pending_stream_publications",
)


def timeless(value):
    """Put one word in place of every time."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items()}
    if isinstance(value, list):
        return [timeless(item) for item in value]
    return "a time" if isinstance(value, str) and TIME.fullmatch(value) else value


def once(cursors):
    """Leave out what the store lists twice."""
    return [cursor for at, cursor in enumerate(cursors) if cursor not in cursors[:at]]


def differences(expected, found, path="$"):
    """List where two JSON values differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            line
            for key in sorted({*expected, *found})
            for line in differences(
                expected.get(key, "(absent)"), found.get(key, "(absent)"), f"{path}.{key}"
            )
        ]
    return [] if equal(expected, found) else [f"{path}: {expected!r} is {found!r}"[:2000]]


class Tee(SessionStore):
    """Hands every call to the real store and to a journal; the real store answers."""

    def __init__(self, journal):
        self.journal = journal
        self.real = SqliteSessionStore.in_memory()
        self.calls = []
        self.differences = []

    async def _both(self, name, *arguments, write):
        arguments = copy.deepcopy(arguments)
        self.calls.append(name)
        answer = await getattr(self.real, name)(*arguments)
        await asyncio.to_thread(write, self.journal, *copy.deepcopy(arguments))
        for session in await self.real.list_sessions():
            await self.compare_records(session.to_dict(), f"after {len(self.calls)}: {name}")
        return answer.to_dict() if hasattr(answer, "to_dict") else answer

    async def compare_records(self, session, when):
        session_id = session["session_id"]
        self.compare(session, session_record(self.journal, session_id), f"{when}, session")
        for run in await self.real.list_runs(session_id):
            found = run_record(self.journal, run.run_id)
            self.compare(run.to_dict(), found, f"{when}, run")

    def compare(self, expected, found, what):
        told = differences(timeless(expected), timeless(found))
        self.differences += [f"{what}: {line}" for line in told]

    async def save_session(self, record):
        return await self._both("save_session", record, write=Journal.save_session)

    async def commit_checkpoint(self, session_id, checkpoint):
        return await self._both(
            "commit_checkpoint", session_id, checkpoint, write=Journal.commit_checkpoint
        )

    async def commit_run_evidence(self, commit):
        return await self._both("commit_run_evidence", commit, write=Journal.commit_run_evidence)


def _reading(name):
    async def read(self, *arguments):
        answer = await getattr(self.real, name)(*arguments)
        if isinstance(answer, list):
            return [one.to_dict() if hasattr(one, "to_dict") else one for one in answer]
        return answer.to_dict() if hasattr(answer, "to_dict") else answer

    return read


for _name in READING:
    setattr(Tee, _name, _reading(_name))


async def compare_all(tee, outcomes):
    """Compare what both give of every run, and of its session."""
    journal, real = tee.journal, tee.real
    for outcome in outcomes:
        session_id, run_id = outcome.session_id, outcome.run_id
        expected = (await real.resume_snapshot(session_id, run_id)).to_dict()
        expected["stream_cursors"] = once(expected["stream_cursors"])
        found = resume_snapshot(journal, session_id, run_id).to_json()
        tee.compare(expected, found, "snapshot")
        tee.compare(
            await real.load_checkpoints(session_id, run_id),
            checkpoints(journal, run_id),
            "checkpoints",
        )
        tee.compare(
            [one.to_dict() for one in await real.replay_stream_records(session_id, run_id, 3)],
            stream_records(journal, run_id, 3),
            "stream records",
        )
        tee.compare(
            await real.compact_run_trace(session_id, run_id),
            compact_run_trace(journal, session_id, run_id),
            "run trace",
        )
    session_id = outcomes[0].session_id
    expected = (await real.resume_snapshot(session_id)).to_dict()
    expected["stream_cursors"] = once(expected["stream_cursors"])
    tee.compare(expected, resume_snapshot(journal, session_id).to_json(), "snapshot of no run")
    tee.compare(
        await real.compact_session_trace(session_id),
        compact_session_trace(journal, session_id),
        "session trace",
    )
    for theirs, ours in (
        (real.list_runs(session_id), list_run_records(journal, session_id)),
        (real.list_recent_runs(session_id, 2), recent_run_records(journal, session_id, 2)),
        (real.list_sessions(), list_session_records(journal)),
    ):
        tee.compare([one.to_dict() for one in await theirs], ours, "list")
    query = {"limit": 2}
    page = run_page(journal, session_id, 2)
    tee.compare(await real.list_run_page(session_id, query), page, "page of runs")
    query["before"] = page["nextKey"]
    tee.compare(
        await real.list_run_page(session_id, query),
        run_page(journal, session_id, 2, query["before"]),
        "second page of runs",
    )
    tee.compare(
        await real.list_session_page({"limit": 1}), session_page(journal, 1), "page of sessions"
    )


def streamed(journal):
    """Give the journal a run's stream records as they pass, once it has heard of the run."""

    async def tap(run):
        held, written, run_id = [], None, None
        async for event in run:
            held.append(event)
            run_id = run_id or event.run_id  # later events need not tell
            if written is None and journal.reader.has_run(run_id):
                written = await asyncio.to_thread(journal.run, run_id)
            if written is not None:
                await asyncio.to_thread(written.append_many, [one.raw for one in held])
                for one in held:
                    yield one
                held.clear()
        written.release()

    return tap


async def drive(scenario, *, live):
    async with graceful_shutdown():
        with Journal.open("memory://") as journal:
            tee = Tee(journal)
            tap = streamed(journal) if live else None
            outcomes = await scenarios.SCENARIOS[scenario](tee, tap)
            await compare_all(tee, outcomes)
            return tee


@pytest.mark.parametrize("scenario", scenarios.SCENARIOS)
def test_every_run_is_resumed_from_the_same(scenario):
    tee = asyncio.run(drive(scenario, live=False))
    assert "commit_run_evidence" in tee.calls
    assert tee.differences == []


@pytest.mark.parametrize("scenario", ["parallel_tools", "approval", "subagent", "three_runs"])
def test_runs_that_are_streamed_live_are_resumed_from_the_same(scenario):
    tee = asyncio.run(drive(scenario, live=True))
    assert "commit_run_evidence" in tee.calls
    assert tee.differences == []
