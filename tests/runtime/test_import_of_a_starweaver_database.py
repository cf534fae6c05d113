"""A database that the real runtime wrote becomes a journal in which every record is equal."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from starweaver import SqliteSessionStore

from journal import Journal
from journal.doctor import examine
from journal.events import (
    ApprovalDecided,
    ApprovalRequested,
    CheckpointTaken,
    ContextExported,
    CursorSaved,
    DeferredToolRequested,
    DeferredToolResolved,
    EnvironmentExported,
    ResumeClaimed,
    ResumeStarted,
    RunCommitted,
    StreamRecorded,
)
from journal.export import export_all
from journal.hosts.starweaver_import import import_database
from journal.ingest import Ingest
from journal.json_door import dumps, loads
from journal.json_door import equal as same
from projections import run_record, session_record

from .starweaver_database import copy_run, fill, in_a_loop, only_run


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "starweaver.db"
    in_a_loop(fill(path))
    return path


@pytest.fixture
def imported(source, tmp_path):
    with Journal.open(tmp_path / "runs.db") as journal:
        journal.result = import_database(journal, source)
        yield journal


class Loaded:
    """What the runtime's own store gives."""

    def __init__(self, path):
        self._path = path
        in_a_loop(self._load())

    async def _load(self):
        store = SqliteSessionStore(self._path)
        self.sessions = [one.to_dict() for one in await store.list_sessions()]
        self.runs = {}
        for session in self.sessions:
            for run in await store.list_runs(session["session_id"]):
                self.runs[run.run_id] = await self._run(store, run)
        self.publications = [
            one
            for session in self.sessions
            for one in await store.pending_stream_publications(session["session_id"])
        ]

    async def _run(self, store, run):
        ids = run.session_id, run.run_id
        return {
            "run": run.to_dict(),
            "stream_records": [one.to_dict() for one in await store.replay_stream_records(*ids)],
            "checkpoints": await store.load_checkpoints(*ids),
            "approvals": [one.to_dict() for one in await store.load_approvals(*ids)],
            "deferred_tools": [one.to_dict() for one in await store.load_deferred_tools(*ids)],
            "state": (await store.resume_snapshot(*ids)).state,
        }

    def rows(self, statement):
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as connection:
            return connection.execute(statement).fetchall()


@pytest.fixture(scope="module")
def loaded(source, tmp_path_factory):
    copied = tmp_path_factory.mktemp("loaded") / "starweaver.db"
    shutil.copy(source, copied)
    return Loaded(copied)


def events(journal, run_id, *names):
    return list(journal.reader.run_events(run_id, names=names))


def documents(journal, run_id, name):
    return [journal.reader.document(event) for event in events(journal, run_id, name)]


def test_the_database_has_runs_of_every_kind(loaded):
    assert len(loaded.runs) >= 20
    statuses = {each["run"]["status"] for each in loaded.runs.values()}
    assert statuses == {"running", "waiting", "completed", "failed", "cancelled"}


def test_every_record_is_equal(imported, loaded):
    assert imported.result.refused == {}
    for session in loaded.sessions:
        assert same(imported.session_record(session["session_id"]), session)
    assert set(imported.reader.run_ids()) == set(loaded.runs)
    for run_id, run in loaded.runs.items():
        assert same(imported.run_record(run_id), run["run"])
        assert same(
            [one.data["record"] for one in events(imported, run_id, StreamRecorded.NAME)],
            run["stream_records"],
        )
        assert same(documents(imported, run_id, CheckpointTaken.NAME), run["checkpoints"])
        approvals = events(imported, run_id, ApprovalRequested.NAME, ApprovalDecided.NAME)
        assert same([one.data["record"] for one in approvals], run["approvals"])
        deferred = events(imported, run_id, DeferredToolRequested.NAME, DeferredToolResolved.NAME)
        assert same([one.data["record"] for one in deferred], run["deferred_tools"])
        cursors = [one.data["cursor"] for one in events(imported, run_id, CursorSaved.NAME)]
        assert same(cursors, run["run"].get("stream_cursors", []))


def test_sessions_and_revisions_are_told_as_they_stood(imported, loaded):
    exported = [dumps(line) for line in export_all(imported.reader)]
    with Journal.open("memory://") as copy:
        Ingest(copy).read(exported)
        for journal in (imported, copy):
            for session in loaded.sessions:
                assert same(session_record(journal, session["session_id"]), session)
            for run_id, run in loaded.runs.items():
                assert run_record(journal, run_id)["revision"] == run["run"]["revision"]


def test_states_of_runs_are_equal(imported, loaded):
    committed = {run_id for (run_id,) in loaded.rows("SELECT run_id FROM run_context_records")}
    assert committed
    for run_id in committed:
        assert same(
            documents(imported, run_id, ContextExported.NAME), [loaded.runs[run_id]["state"]]
        )
    states = loaded.rows("SELECT run_id, json(record) FROM run_environment_records")
    assert states
    for run_id, text in states:
        [state] = documents(imported, run_id, EnvironmentExported.NAME)
        assert same(state, loads(text.encode()))


def test_seals_publications_and_claims_are_equal(imported, loaded):
    seals = dict(loaded.rows("SELECT run_id, digest FROM run_evidence_commits"))
    for run_id in loaded.runs:
        sealed = events(imported, run_id, RunCommitted.NAME)
        assert [one.data["sha256"] for one in sealed] == (
            [seals[run_id]] if run_id in seals else []
        )
    assert {one["session_id"] for one in loaded.publications} == {"published", "half published"}
    for waiting in loaded.publications:
        [sealed] = events(imported, waiting["run_id"], RunCommitted.NAME)
        rest = sealed.data["rest"]
        for key in ("display_messages", "replay_events", "display_snapshot"):
            assert same(rest[key], waiting[key])
        assert rest["publication_targets"] == {
            target: waiting[f"{target}_pending"] for target in ("archive", "replay")
        }
    run_id = next(
        run_id for run_id, run in loaded.runs.items() if run["run"]["session_id"] == "approval"
    )
    [claimed] = events(imported, run_id, ResumeClaimed.NAME)
    [started] = events(imported, run_id, ResumeStarted.NAME)
    assert claimed.data["claim"]["claim_id"] == started.data["claim_id"] == "claim 1"


def test_counts_are_those_of_the_tables(imported, loaded):
    tables = {
        "session": "session_records",
        "run": "run_records",
        "stream_record": "stream_records",
        "checkpoint": "checkpoint_records",
        "approval": "approval_records",
        "deferred_tool": "deferred_tool_records",
        "context_state": "run_context_records",
        "environment_state": "run_environment_records",
        "resume_claim": "hitl_resume_claims",
    }
    for kind, table in tables.items():
        [(rows,)] = loaded.rows(f"SELECT count(*) FROM {table}")
        assert imported.result.recorded[kind] == rows
    assert [one.what for one in imported.result.not_mapped] == [
        "host_event_publication_outbox",
        "run_evidence_commits.digest",
    ]


def test_the_journal_is_sound_and_travels(imported, tmp_path):
    report = examine(imported.location)
    assert not report.findings
    exported = [dumps(line) for line in export_all(imported.reader)]
    with Journal.open(tmp_path / "again.db") as again:
        Ingest(again).read(exported)
        assert [dumps(line) for line in export_all(again.reader)] == exported


def test_importing_again_adds_nothing(imported, source):
    before = imported.reader.last_position()
    again = import_database(imported, source)
    assert imported.reader.last_position() == before
    assert again.repeated == imported.result.recorded
    assert not again.recorded
    dry = import_database(imported, source, dry_run=True)
    assert (dry.recorded, dry.repeated) == (again.recorded, again.repeated)


def test_importing_again_adds_nothing_to_what_went_on(imported, source):
    for session_id in imported.reader.session_ids():
        imported.save_session({**imported.session_record(session_id), "title": "went on"})
    for run_id in imported.reader.run_ids():
        imported.save_run({**imported.run_record(run_id), "metadata": {"went": "on"}})
        with imported.run(run_id) as run:
            run.export_context({"agent_id": "main", "metadata": {"went": "on"}})
    before = imported.reader.last_position()
    assert not import_database(imported, source).recorded
    assert imported.reader.last_position() == before


def test_a_dry_run_counts_the_same_and_writes_nothing(imported, source):
    with Journal.open("memory://") as journal:
        dry = import_database(journal, source, dry_run=True)
        assert journal.reader.last_position() == 0
    assert dry.recorded == imported.result.recorded
    assert dry.not_mapped == imported.result.not_mapped


def test_a_database_that_grew_adds_what_is_new(source, tmp_path):
    copied = tmp_path / "starweaver.db"
    shutil.copy(source, copied)

    async def grow():
        store = SqliteSessionStore(copied)
        run_id = await only_run(store, "running")
        checkpoint = (await store.load_checkpoints("running", run_id))[-1]
        await store.commit_checkpoint("running", {**checkpoint, "checkpoint_id": "one more"})
        await copy_run(store, "new", keep=2)

    with Journal.open(tmp_path / "runs.db") as journal:
        import_database(journal, copied)
        in_a_loop(grow())
        grown = import_database(journal, copied)
        assert grown.recorded == {
            "checkpoint": 3, "stream_record": 2, "stream_cursor": 1, "run": 2, "session": 2,
        }  # fmt: skip
        assert grown.refused == {}
        loaded = Loaded(copied)
        for session in loaded.sessions:
            assert same(journal.session_record(session["session_id"]), session)
        for run_id, run in loaded.runs.items():
            assert same(journal.run_record(run_id), run["run"])


def test_a_run_that_changed_after_its_commit_is_saved_again(source, tmp_path):
    copied = tmp_path / "starweaver.db"
    shutil.copy(source, copied)

    async def change():
        store = SqliteSessionStore(copied)
        await store.update_run_status("deferred", await only_run(store, "deferred"), "cancelled")

    with Journal.open(tmp_path / "runs.db") as journal:
        import_database(journal, copied)
        in_a_loop(change())
        changed = import_database(journal, copied)
        assert changed.recorded == {"run": 1, "session": 1}
        assert changed.refused == {}
        assert not import_database(journal, copied).recorded


def timeless(journal):
    """Give the lines of a journal without times: some of what is imported has none but ours."""
    return [{**line, "recorded_at": None} for line in export_all(journal.reader)]


KILLED = """
import os, signal, sys
from journal import Journal
from journal.hosts.starweaver_import import import_database

def stop(_what, done, _total):
    if done == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

with Journal.open(sys.argv[1]) as journal:
    import_database(journal, sys.argv[2], progress=stop)
"""


def test_a_killed_import_goes_on_when_it_is_called_again(source, imported, tmp_path):
    path = tmp_path / "killed.db"
    rows = imported.result.recorded.total()
    for rows_read in (rows // 10, rows // 3, rows * 2 // 3):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(path), str(source), str(rows_read)],
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.returncode == -signal.SIGKILL
    with Journal.open(path) as journal:
        last = import_database(journal, source)
        assert last.recorded
        assert last.repeated
        assert last.recorded + last.repeated == imported.result.recorded
        assert timeless(journal) == timeless(imported)


def test_a_store_that_is_open_is_imported_while_it_writes(source, tmp_path):
    copied = tmp_path / "live" / "starweaver.db"
    copied.parent.mkdir()
    shutil.copy(source, copied)

    async def live():
        store = SqliteSessionStore(copied)
        await copy_run(store, "live", keep=2)
        beside = {each.name for each in copied.parent.iterdir()}
        with Journal.open(tmp_path / "runs.db") as journal:
            result = await asyncio.to_thread(import_database, journal, copied)
            assert result.refused == {}
            assert journal.run_record("run of live")["status"] == "running"
        assert {each.name for each in copied.parent.iterdir()} == beside
        await copy_run(store, "live on", keep=2)

    in_a_loop(live())


def test_what_ended_here_since_is_not_refused_when_the_same_database_comes_again(imported, source):
    unfinished = [
        run_id
        for run_id in imported.reader.run_ids()
        if run_record(imported, run_id)["status"] in ("waiting", "running")
    ]
    assert unfinished
    for run_id in unfinished:
        imported.set_status(run_id, "completed")
    for dry_run in (True, False):
        again = import_database(imported, source, dry_run=dry_run)
        assert (again.recorded, again.refused) == ({}, {})
