"""A damaged event that a fork inherits is an error at every cursor, never a shorter answer."""

import sqlite3
from contextlib import closing

import pytest

from journal import Journal
from journal.errors import BrokenBase
from projections import replay
from tests import samples

READ = """SELECT position FROM events WHERE version = ?
    AND stream = (SELECT stream FROM events ORDER BY position LIMIT 1)"""


def damage(path, version):
    with closing(sqlite3.connect(path)) as database, database:
        guards = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        guards = guards.fetchall()
        for name, _ in guards:
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute(f"UPDATE events SET data = x'00' WHERE position = ({READ})", (version,))
        for _, sql in guards:
            database.execute(sql)


@pytest.mark.parametrize("version", range(2, 8))
@pytest.mark.parametrize("cursor", ["version:1", "checkpoint:k0", "message:1", "message:2"])
@pytest.mark.parametrize("run_id", ["b", "c"])
def test_a_fork_does_not_lose_what_it_inherits(tmp_path, version, cursor, run_id):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        run = journal.run("a", session_id="s", conversation_id="c")
        for at in range(4):
            run.append(samples.record(at))
            messages = [samples.user("m")] * (at + 1)
            run.checkpoint(samples.checkpoint(f"k{at}", "a", stream_cursor=at, messages=messages))
        journal.fork(replay(journal, "a", "stream:2"), "b")
        journal.fork(replay(journal, "b"), "c")
    for views in tmp_path.glob("*.views*"):
        views.unlink()
    damage(path, version)
    with Journal.open(path) as journal, pytest.raises(BrokenBase, match="run:a"):
        replay(journal, run_id, cursor)


def test_what_is_damaged_later_in_the_source_is_no_concern_of_the_fork(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        run = journal.run("a", session_id="s", conversation_id="c")
        for at in range(4):
            run.append(samples.record(at))
        journal.fork(replay(journal, "a", "version:3"), "b")
    for views in tmp_path.glob("*.views*"):
        views.unlink()
    damage(path, 4)
    with Journal.open(path) as journal:
        assert len(replay(journal, "b").tail) == 2
