"""A run whose events were dropped is answered from the archive, and nothing of it is made up."""

import pytest

from journal import Journal
from journal.errors import RunIsArchived
from projections.archive.dropping import drop_archived
from projections.archive.opened import open_archive
from projections.archive.writing import write_archive
from projections.audit import Audit, AuditFilter
from tests.dropped import write_run
from tests.unit.audited import DAY, called, ended, failed, opened, response, returned


def test_a_dropped_run_is_answered_from_the_archive_only(clock, tmp_path):
    with Journal.open(tmp_path / "runs.db") as journal:
        with opened(
            journal, "old", "s",
            called(0, "a"), returned(1, "a", content="gold"), response(2, total_tokens=5), failed(3, "old"),
        ) as run:  # fmt: skip
            run.set_status("failed")
        clock.pass_(DAY)
        opened(journal, "new", "s", called(0, "b"), response(1, total_tokens=7), ended(2, "new"))
        whole = Audit(journal)
        asked = {
            "tools": lambda audit: list(audit.tools()),
            "failures": lambda audit: list(audit.failures()),
            "usage": lambda audit: list(audit.usage(by=["session", "day"])),
            "search": lambda audit: list(audit.search("gold")),
            "timeline": lambda audit: list(audit.timeline("old")),
            "term": lambda audit: list(audit.term("old", "gold")),
            "runs": lambda audit: audit.stats().runs,
        }
        expected = {name: ask(whole) for name, ask in asked.items()}
        assert all(expected.values())
        write_archive(journal, tmp_path / "archive", before=clock.now)
        drop_archived(journal, tmp_path / "archive")
        assert journal.reader.dropped("old") is not None
        with open_archive(tmp_path / "archive") as archive:
            both = Audit(journal, archive)
            assert both.left_out() == 0
            assert {name: ask(both) for name, ask in asked.items()} == expected
        alone = Audit(journal)
        assert [call.run_id for call in alone.tools()] == ["new"]
        assert list(alone.search("gold")) == []
        for question in ("timeline", "term"):
            with pytest.raises(RunIsArchived):
                asked[question](alone)
        assert alone.left_out() == 1
        for question in (alone.tools, alone.failures, alone.usage, alone.approvals, alone.gaps):
            with pytest.raises(RunIsArchived):
                list(question(AuditFilter.of(run="old")))
        assert alone.stats().runs == expected["runs"]
        assert [failure.run_id for failure in alone.failures()] == ["old"]


def test_a_copy_is_not_the_last_that_was_heard_of_a_run(clock, tmp_path):
    with Journal.open(tmp_path / "runs.db") as journal:
        write_run(journal, "base", messages=5)
        write_run(journal, "stays", messages=6, status=None)
        expected = list(Audit(journal).gaps())
        assert [gap.run_id for gap in expected] == ["stays"]
        clock.pass_(DAY)
        write_archive(journal, tmp_path / "archive", before=clock.now)
        assert drop_archived(journal, tmp_path / "archive").copies
        with open_archive(tmp_path / "archive") as archive:
            assert list(Audit(journal, archive).gaps()) == expected
