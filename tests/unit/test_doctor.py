"""The doctor finds nothing in a healthy journal, changes nothing, and keeps nobody waiting."""

import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from journal import Journal
from journal.doctor import examine
from journal.errors import InvalidLocation, JournalNotFound
from journal.ids import StreamId
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.stores import open_store, sqlite_reader
from tests.corpus import Calls
from tests.samples import record
from tests.unit.care_files import EVENTS, behind_the_guards, lines, names, write_journal

OLD = Path(__file__).parents[1] / "fixtures" / "journals" / "format-1.journal"


@pytest.fixture
def path(tmp_path):
    return write_journal(tmp_path / "runs.db")


def codes(report):
    return [each.code for each in report.findings]


@pytest.mark.parametrize("quick", [False, True])
def test_nothing_is_found_in_a_healthy_journal(path, quick):
    report = examine(path, quick=quick)
    assert report.findings == ()
    assert report.is_sound
    counts = {"events": EVENTS, "runs": 1, "sessions": 1, "documents": 5}
    assert report.counts == counts
    assert report.facts["leases"] == {"live": 0, "expired": 0, "orphaned": 0}
    assert report.facts["format"] == report.facts["newest_format"]
    assert report.facts["file_bytes"] == path.stat().st_size


@pytest.mark.parametrize("name", ["session", "approval", "deferred", "subagent", "env"])
def test_nothing_is_found_in_runs_of_a_real_host(tmp_path, name):
    with Journal.open(tmp_path / "runs.db") as journal:
        Calls(name).give(journal)
    report = examine(tmp_path / "runs.db")
    assert report.findings == ()
    assert report.counts["documents"] > 0
    with Journal.open(tmp_path / "copy.db") as copy:
        Ingest(copy).read(map(dumps, lines(tmp_path / "runs.db")))
    assert examine(tmp_path / "copy.db").findings == ()


def test_nothing_is_found_while_others_write(path):
    told = []
    done = threading.Event()
    with Journal.open(path) as journal:
        run, other = journal.run("r"), journal.run("other", session_id="s")

        def write():
            at = 0
            while not done.is_set():
                other.append(record(at))
                at += 1

        def progress(what, done, total):
            told.append((what, done, total))
            run.append(record(1000 + len(told)))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            report = examine(path, progress=progress)
        finally:
            done.set()
            writer.join()
        assert report.findings == ()
        assert report.facts["leases"]["live"] == 2
        assert journal.reader.head("r") >= EVENTS
    assert {what for what, _, _ in told} == {"events", "documents"}


def test_the_file_and_what_is_beside_it_stay_as_they_are(path):
    before = path.read_bytes()
    examine(path)
    assert path.read_bytes() == before
    assert names(path.parent) == ["runs.db"]


def test_the_log_of_a_killed_writer_stays_as_it_is(path, tmp_path):
    left = tmp_path / "left"
    left.mkdir()
    with Journal.open(path) as journal, journal.run("r") as run:
        run.append(record(500))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", left / f"runs.db{suffix}")
    before = {suffix: (left / f"runs.db{suffix}").read_bytes() for suffix in ("", "-wal")}
    report = examine(left / "runs.db")
    assert report.is_sound
    assert report.counts["events"] == EVENTS + 2
    assert report.facts["wal_bytes"] == len(before["-wal"])
    for suffix, content in before.items():
        assert (left / f"runs.db{suffix}").read_bytes() == content


def test_an_examination_beside_an_open_journal_disturbs_none_of_its_locks(path):
    with Journal.open(path) as journal, journal.run("r") as run:
        run.append(record(500))
        examine(path)
        script = (
            "import sys, sqlite3\n"
            "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "print(db.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()[0])\n"
            "db.close()\n"
        )
        subprocess.run([sys.executable, "-c", script, path], check=True, timeout=60)
        # The other would have removed the log, had it been the last.
        assert run.append(record(501)).version == EVENTS + 2
    assert len(lines(path)) == EVENTS + 2


def test_a_file_of_an_old_format_is_told_what_an_upgrade_does(tmp_path):
    shutil.copyfile(OLD, tmp_path / "old.db")
    before = (tmp_path / "old.db").read_bytes()
    report = examine(tmp_path / "old.db")
    assert codes(report) == ["format.older", "file.permissions"]
    assert report.is_sound
    older = report.findings[0]
    assert "format 1" in older.what
    assert "adds" in older.advice
    assert (tmp_path / "old.db").read_bytes() == before


def test_a_lease_whose_owner_is_gone_is_noticed(path):
    script = (
        "import os, sys\n"
        "from journal import Journal\n"
        "Journal.open(sys.argv[1]).run('r')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True, timeout=60)
    report = examine(path)
    assert codes(report) == ["lease.orphaned"]
    assert report.is_sound
    assert report.findings[0].run_id == "r"
    assert "takes the lease over" in report.findings[0].advice
    assert report.facts["leases"] == {"live": 0, "expired": 0, "orphaned": 1}


def test_a_lease_that_expired_elsewhere_is_noticed(path):
    with closing(open_store(path, create=True)) as store:
        assert store.lease(StreamId("run:r")) is not None
    behind_the_guards(path, "UPDATE leases SET host = 'elsewhere', expires_at = 1")
    assert codes(examine(path)) == ["lease.expired"]
    assert "elsewhere" in examine(path).findings[0].what


def test_what_cannot_be_examined_is_refused(tmp_path):
    with pytest.raises(InvalidLocation, match="in memory"):
        examine("memory://")
    with pytest.raises(JournalNotFound):
        examine(tmp_path / "nothing.db")
    assert names(tmp_path) == []


@pytest.mark.parametrize("part", ["integrity check", "events", "documents"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("enough")])
def test_whoever_watches_may_stop_it(path, monkeypatch, part, error):
    monkeypatch.setattr(sqlite_reader, "OFTEN", 10)

    def progress(what, _done, _total):
        if what == part:
            raise error

    with pytest.raises(type(error)):
        examine(path, progress=progress)
    assert names(path.parent) == ["runs.db"]


def test_an_interrupt_within_a_long_statement_ends_it(path):
    with (
        closing(sqlite3.connect(path)) as db,
        pytest.raises(KeyboardInterrupt),
        sqlite_reader.watched(db, db.interrupt),
    ):
        db.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT count(*) FROM n"
        ).fetchall()


def test_progress_reaches_the_end_of_each_part(path, monkeypatch):
    monkeypatch.setattr(sqlite_reader, "OFTEN", 1000)
    told = {}
    examine(path, progress=lambda what, done, total: told.update({what: (done, total)}))
    assert told["events"] == (EVENTS, EVENTS)
    assert told["documents"] == (5, 5)
    assert told["integrity check"][0] > 0
    told.clear()
    examine(path, quick=True, progress=lambda what, done, total: told.update({what: done}))
    assert told == {"events": EVENTS}


def test_a_report_as_json(path, flip):
    flip(path, "run:r", 5)
    report = examine(path).to_json()
    assert json.loads(json.dumps(report)) == report
    assert (report["schema"], report["schema_version"]) == ("runjournal.doctor", 1)
    assert report["location"] == str(path)
    assert (report["sound"], report["quick"]) == (False, False)
    assert report["counts"]["events"] == EVENTS - 1
    [finding] = report["findings"]
    assert finding == {
        "severity": "wrong",
        "code": "event.damaged",
        "what": "its checksum does not match",
        "run_id": "r",
        "session_id": None,
        "version": 5,
        "advice": finding["advice"],
    }
