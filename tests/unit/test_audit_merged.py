"""What is archived and what is live answers as one journal, wherever the boundary is."""

from contextlib import contextmanager

import pytest

from journal import Journal
from journal.errors import ArchiveOfAnotherJournal, StorageFailed
from journal.ids import Position
from journal.stores import open_audit
from journal.stores.views import ViewsUnusable
from projections.archive.opened import open_archive
from projections.archive.writing import write_archive
from projections.audit import REVISION, Audit, AuditFilter, RowMaker
from projections.audit import audit as audit_module
from projections.audit.usage import KEYS
from tests import samples
from tests.corpus import Calls
from tests.recorded import FILES
from tests.unit.audited import DAY, called, child, ended, failed, opened, record, response, returned


class Prefix:
    """The rows of a journal's first events, as an archive gives them."""

    def __init__(self, journal, last_position):
        self.location, self.faults = "prefix", ()
        self.reader, self.views = journal.reader, journal.views
        self.last_position = Position(last_position)
        events = [each for each in journal.reader.all_events() if each.position <= last_position]
        self._store = open_audit(journal.reader.store, REVISION, in_memory=True)
        with self._store.writing() as writer:
            rows, facts = RowMaker(writer.facts, journal.reader.document).take(events)
            writer.put(rows, facts, self.last_position)
        self._entered = self._store.reading()
        self._rows = self._entered.__enter__()

    def reading(self):
        return self._rows


def answers(audit, phrases=("the", "weather", "cat")):
    """Ask everything that all rows tell."""
    found = {
        "tools": list(audit.tools()),
        "tools of one": list(audit.tools(tool="lookup")),
        "some tools": list(audit.tools(AuditFilter(limit=3))),
        "failed": list(audit.tools(failed=True)),
        "failures": list(audit.failures(cancelled=True)),
        "approvals": list(audit.approvals()),
        "gaps": list(audit.gaps()),
    }
    for by in (*((key,) for key in KEYS), ("session", "day"), ("tool", "run")):
        found[f"usage by {by}"] = list(audit.usage(by=by))
    for phrase in phrases:
        found[f"search {phrase}"] = list(audit.search(phrase))
    for status in ("failed", "completed", "running", "crashed"):
        asked = AuditFilter(status=status)
        found[status] = [list(audit.tools(asked)), list(audit.search(phrases[0], asked))]
    stats = audit.stats()
    found["stats"] = stats.runs, stats.usage, stats.tools
    run_ids = {row.run_id for row in found["tools"]} | {run.run_id for run in found["failures"]}
    traces = set()
    for run_id in sorted(run_ids):
        rows = found[run_id] = list(audit.timeline(run_id))
        traces |= {each.row.trace_id for each in rows} - {None}
    for trace in sorted(traces):
        found[trace] = list(audit.trace(trace))
    return found


def play(journal):
    """Journal runs in which a boundary may cut everything in two."""
    for run_id in ("r1", "r2"):
        run = opened(journal, run_id, f"s-{run_id}", called(0, "a"))
        made = samples.checkpoint("k", run_id, stream_cursor=0, messages=[samples.user("the cat")])
        made["resume"]["trace_context"] = {"trace_id": "t"}
        run.checkpoint(made)
        run.append(called(1, "b", source=child("kid")))
        run.approval(samples.approval(run_id=run_id, session_id=f"s-{run_id}", action_id="a"))
        run.append(returned(9, "a", flow="approval_required", content="the"))
        run.approval(
            samples.approval("approved", run_id=run_id, session_id=f"s-{run_id}", action_id="a")
        )
        run.append(called(10, "a"))
        run.append(returned(11, "a", content="the weather", error=run_id == "r2"))
        run.append(returned(5, "late", content="cat"))
        run.append(called(4, "late"))
        run.append(response(12, text="the cat", total_tokens=3))
        run.append(response(13, text="the cat", total_tokens=3))
        run.append(called(14, "open"))
        run.append((failed if run_id == "r2" else ended)(15, run_id))
        run.release()
    kid = opened(journal, "kid", "s-r1", called(0, "b"))
    kid.append(returned(1, "b", content="the cat"))
    kid.append(response(2, text="cat", total_tokens=5))
    kid.release()
    run = opened(journal, "r1", None, record(16, "run_start", run_id="r1", conversation_id="c"))
    run.append(failed(17, "r1"))
    run.release()


def test_every_boundary_gives_the_answers_of_the_whole(clock, journal):
    play(journal)
    expected = answers(Audit(journal))
    assert all(
        expected[question] for question in ("tools", "failed", "failures", "approvals", "gaps")
    )
    for position in range(journal.reader.last_position() + 1):
        assert answers(Audit(journal, Prefix(journal, position))) == expected, position


@pytest.mark.parametrize("name", [name for name in FILES if name != "long"])
def test_recorded_runs_are_answered_alike_wherever_they_are_cut(name):
    with Journal.open("memory://") as journal:
        Calls(name).give(journal)
        expected = answers(Audit(journal))
        last = journal.reader.last_position()
        for position in {1, last // 3, last // 2, last - 1, last}:
            assert answers(Audit(journal, Prefix(journal, position))) == expected, position


def test_an_archive_answers_with_its_journal_as_the_journal_alone(clock, tmp_path):
    with Journal.open(tmp_path / "runs.db") as journal:
        play(journal)
        clock.pass_(DAY)
        for run in ("x", "y"):
            opened(journal, run, "s", called(0, "a"), returned(1, "a", content="the cat"))
        opened(journal, "r2", None, called(20, "more"))
        expected = answers(Audit(journal))
        terms = list(Audit(journal).term("r2", "the"))
        write_archive(journal, tmp_path / "archive", before=clock.now)
        with open_archive(tmp_path / "archive") as archive:
            assert 0 < archive.last_position < journal.reader.last_position()
            both = Audit(journal, archive)
            assert answers(both) == expected
            assert list(both.term("r2", "the")) == terms
            counted = {each.name: each.events for each in both.stats().events}
        assert counted == {each.name: each.events for each in Audit(journal).stats().events}
        write_archive(journal, tmp_path / "archive", before=clock.now + DAY)
        with open_archive(tmp_path / "archive") as archive:
            assert answers(Audit(journal, archive)) == expected
            alone = answers(Audit(None, archive))
            assert {name for name in expected if alone[name] != expected[name]} <= {
                "gaps", "stats", "running", "crashed",
            }, "who is at a run is not archived"  # fmt: skip
            assert list(Audit(None, archive).term("r2", "the")) == terms


def test_an_archive_of_another_journal_is_refused(clock, tmp_path):
    with Journal.open(tmp_path / "a.db") as journal, Journal.open(tmp_path / "b.db") as other:
        opened(journal)
        write_archive(journal, tmp_path / "archive", before=clock.now + 1)
        with open_archive(tmp_path / "archive") as archive:
            with pytest.raises(ArchiveOfAnotherJournal):
                Audit(other, archive)
            with pytest.raises(ValueError, match="nothing to ask"):
                Audit(None, None)


class Failing:
    """A reader that becomes unusable after some rows."""

    def __init__(self, reader, left):
        self._reader, self._left = reader, left

    def rows(self, wanted, **limit):
        for number, row in enumerate(self._reader.rows(wanted, **limit)):
            if number == self._left:
                raise ViewsUnusable(None, "somebody sat on it")
            yield row

    def __getattr__(self, name):
        return getattr(self._reader, name)


def failing(monkeypatch, left, times):
    reading = audit_module.reading
    attempts = []

    @contextmanager
    def broken(journal, archive):
        with reading(journal, archive) as reader:
            attempts.append(1)
            yield Failing(reader, left) if len(attempts) <= times else reader

    monkeypatch.setattr(audit_module, "reading", broken)


def test_rows_that_turn_out_unusable_are_made_again_in_memory(monkeypatch, journal):
    opened(journal, "r", "s", *(called(at, f"c{at}") for at in range(100)))
    expected = list(Audit(journal).tools())
    failing(monkeypatch, 20, 1)
    assert list(Audit(journal).tools()) == expected


def test_it_is_an_error_once_a_part_of_the_answer_was_given(monkeypatch, journal):
    opened(journal, "r", "s", *(called(at, f"c{at}") for at in range(100)))
    failing(monkeypatch, 50, 1)
    answer = Audit(journal).tools(AuditFilter(limit=99))  # then the first are given early
    next(answer)
    with pytest.raises(StorageFailed, match="somebody sat on it"):
        list(answer)


def test_it_is_an_error_when_nothing_helps(monkeypatch, journal):
    opened(journal, "r", "s", called(0, "c"))
    failing(monkeypatch, 0, 1000)
    with pytest.raises(StorageFailed, match="somebody sat on it"):
        list(Audit(journal).tools())
