"""The audit rows take in the whole journal before they answer, whatever happened meanwhile."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from journal import Journal
from journal.errors import CorruptEvent, StorageFailed
from journal.ids import Position
from journal.readable import stretches
from journal.stores.audit import Wanted
from journal.stores.sqlite_audit_writer import SQLiteAuditWriter
from journal.stores.views import ViewsUnusable
from journal.views import Views
from projections.audit import catch_up, catching_up
from tests import samples
from tests.corpus import Calls


def go_on(journal, run_id="r", word="tea", records=5):
    with journal.run(run_id, session_id="s") as run:
        first = (journal.reader.head(run_id) or 0) * 10
        for number in range(records):
            event = {"kind": word, "payload": {"text": f"{word} {number}"}}
            run.append(samples.record(first + number, "custom", event=event))


def everything(store):
    with store.reading() as rows:
        facts = {one.run_id: one for one in rows.runs()}
        return sorted(rows.rows(Wanted()), key=lambda row: (row.position, row.part)), facts


def made_anew(journal):
    """Give the rows as they are when nothing was derived before."""
    views = journal.views
    fresh = Views(views._open, lambda revision, _: views._open_audit(revision, True))
    try:
        return everything(catch_up(Derived(journal, fresh)))
    finally:
        fresh.close()


class Derived:
    def __init__(self, journal, views):
        self.reader, self.views = journal.reader, views


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(catching_up, "BATCH", 7)


def test_catching_up_in_pieces_gives_what_making_it_anew_gives(journal, small_batches):
    Calls("subagent").give(journal)
    first = everything(catch_up(journal))
    assert first == made_anew(journal)
    Calls("session").give(journal)
    go_on(journal)
    assert everything(catch_up(journal)) == made_anew(journal)
    assert len(everything(catch_up(journal))[0]) > len(first[0])


def test_after_catching_up_there_is_nothing_to_do(journal):
    go_on(journal)
    catch_up(journal)
    steps = []
    catch_up(journal, lambda *step: steps.append(step))
    assert steps == []


def test_progress_is_told_by_position(journal, small_batches):
    go_on(journal, records=20)
    steps = []
    catch_up(journal, lambda *step: steps.append(step))
    last = journal.reader.last_position()
    assert [done for _, done, _ in steps] == [*range(7, last, 7), last]
    assert {total for _, _, total in steps} == {last}


def test_a_journal_without_events_has_no_rows(journal):
    assert everything(catch_up(journal)) == ([], {})


@contextmanager
def put_back(path):
    """Put a journal back to what it is now, after the block."""
    kept = path.with_name("kept.db")
    with Journal.open(path) as journal:
        journal.backup(kept)
    yield
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    shutil.copy(kept, path)


@pytest.mark.parametrize("more", [0, 3, 5, 40])
def test_rows_of_a_journal_that_was_put_back_are_made_again(tmp_path, more):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        go_on(journal, "before")
    with put_back(path), Journal.open(path) as journal:
        go_on(journal, word="first")
        catch_up(journal)
    with Journal.open(path) as journal:
        if more:
            go_on(journal, word="second", records=more)
        rows, facts = everything(catch_up(journal))
        assert "custom:first" not in {row.kind for row in rows}
        assert (rows, facts) == made_anew(journal)


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("more", [1, 120, 300])
def test_a_journal_that_was_put_back_is_noticed_behind_events_of_sessions(tmp_path, before, more):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        if before:
            go_on(journal, "before", records=before)
    with put_back(path), Journal.open(path) as journal:
        go_on(journal, word="first", records=1)
        catch_up(journal)
    with Journal.open(path) as journal:
        for number in range(more):
            journal.save_session(samples.session_record(session_id=f"s{number}"))
        rows, facts = everything(catch_up(journal))
        assert "custom:first" not in {row.kind for row in rows}
        assert (rows, facts) == made_anew(journal)
        assert facts.keys() == ({"before"} if before else set())


def test_rows_of_now_are_kept_behind_events_of_sessions(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        go_on(journal)
        for number in range(250):
            journal.save_session(samples.session_record(session_id=f"s{number}"))
        catch_up(journal)
    monkeypatch.setattr(SQLiteAuditWriter, "clear", None)
    with Journal.open(path) as journal:
        go_on(journal, "later")
        assert everything(catch_up(journal))[1].keys() == {"r", "later"}


def test_a_removed_views_file_changes_no_answer(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        Calls("tools").give(journal)
        before = everything(catch_up(journal))
    Path(f"{path}.views").unlink()
    with Journal.open(path) as journal:
        assert everything(catch_up(journal)) == before


def test_two_who_catch_up_at_once_lose_and_double_nothing(tmp_path, small_batches, monkeypatch):
    path = tmp_path / "runs.db"
    with Journal.open(path) as one, Journal.open(path) as other:
        Calls("session").give(one)
        turns = []
        put = catching_up._CatchUp._batches

        def interrupted(self, after):
            for batch in put(self, after):
                if len(turns) < 3 and self._reader is one.reader:
                    turns.append(after)
                    catch_up(other)  # it has all of it before this one takes its batch in
                    go_on(other, f"r{len(turns)}")
                yield batch

        with monkeypatch.context() as patched:
            patched.setattr(catching_up._CatchUp, "_batches", interrupted)
            for _ in range(3):
                catch_up(one)
                go_on(one)
        assert len(turns) == 3
        assert everything(catch_up(one)) == made_anew(one)


def test_a_damaged_event_is_passed_over_and_remembered(tmp_path, flip, small_batches):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        go_on(journal)
        go_on(journal, "other")
        positions = {(event.stream, event.version): event.position
                     for event in journal.reader.all_events()}  # fmt: skip
    damaged = [("run:r", 3), ("run:r", 4), ("session:s", 2), ("run:other", 6)]
    for stream, version in damaged:
        flip(path, stream, version)
    with Journal.open(path) as journal:
        store = catch_up(journal)
        rows, facts = everything(store)
        noted = store.damage()
    assert [position for position, _ in noted] == sorted(positions[one] for one in damaged)
    assert "event 3 of 'run:r'" in noted[0][1] + noted[1][1]
    assert [row.version for row in rows if row.run_id == "r"] == [1, 2, 5, 6]
    assert [row.version for row in rows if row.run_id == "other"] == [1, 2, 3, 4, 5]
    assert facts["r"].version == 6
    assert facts["other"].version == 5


class Holes:
    """A store with positions that hold nothing, and some that hold what cannot be read."""

    def __init__(self, events, corrupt):
        self.events = events
        self.corrupt = corrupt

    def read_all(self, *, after, limit):
        page = [event for event in self.events if event.position > after][:limit]
        for event in page:
            if event.position in self.corrupt:
                raise CorruptEvent(event.stream, event.version, "destroyed")
        return page


@pytest.mark.parametrize("corrupt", [{5}, {2}, {900}, {5, 6}, {2, 5, 6, 7, 900}])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_what_can_be_read_is_read_also_where_positions_are_unused(journal, corrupt, limit):
    go_on(journal, records=6)
    stored = journal.reader._store.read_all()
    places = (2, 5, 6, 7, 300, 301, 302, 900, 901)
    events = [
        event._replace(position=Position(at)) for event, at in zip(stored, places, strict=False)
    ]
    found = list(stretches(Holes(events, corrupt), Position(0), limit))
    read = [event.position for stretch in found for event in stretch.events()]
    damaged = [one.position for stretch in found for one in stretch.damaged]
    there = [event.position for event in events]
    assert read == [at for at in there if at not in corrupt]
    assert damaged == [at for at in there if at in corrupt]
    assert found[-1].upto == there[-1]


def test_rows_that_cannot_be_used_are_made_in_memory(tmp_path, monkeypatch):
    with Journal.open(tmp_path / "runs.db") as journal:
        go_on(journal)
        before = everything(catch_up(journal))
        asked = journal.views.audit
        failing = asked(catching_up.REVISION)

        @contextmanager
        def full():
            raise ViewsUnusable(None, "the disk is full")
            yield

        monkeypatch.setattr(failing, "writing", full, raising=False)
        store = catch_up(journal)
        assert store is not failing
        assert store.location == "memory"
        assert everything(store) == before


def test_rows_that_can_be_kept_nowhere_are_an_error():
    class Nowhere:
        def audit(self, _):
            raise ViewsUnusable(None, "no room")

        def distrust(self, _):
            pass

    with Journal.open("memory://") as journal, pytest.raises(StorageFailed, match="no room"):
        catch_up(Derived(journal, Nowhere()))


def test_a_failed_batch_leaves_what_was_there(journal, monkeypatch):
    go_on(journal)
    before = everything(catch_up(journal))
    go_on(journal, "later")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(catching_up._CatchUp, "_put", stop)
        with pytest.raises(KeyboardInterrupt):
            catch_up(journal)
    assert everything(catch_up(journal)) == made_anew(journal)
    assert len(everything(catch_up(journal))[0]) > len(before[0])
