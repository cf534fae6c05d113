"""What evidence wants published is noted in its session until each target acknowledged it."""

import pytest

from journal import Journal
from journal.errors import InvalidRecord, RunNotFound
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import pending_publications
from tests import samples


@pytest.fixture
def published(journal):
    both = {"archive": True, "replay": True}
    journal.commit_run_evidence(samples.bundle(publication_targets=both))
    return journal


def pending(journal):
    return [
        (each["run_id"], each["archive_pending"], each["replay_pending"])
        for each in pending_publications(journal, "s")
    ]


def notes(journal):
    return [
        event.data.get("publishes")
        for event in journal.reader.session_events("s", names=["session.run_changed.v1"])
    ]


def test_the_session_is_told_what_is_to_be_published(published):
    assert notes(published) == [["archive", "replay"]]
    assert pending(published) == [("r", True, True)]


def test_evidence_that_is_not_to_be_published_says_nothing(journal):
    journal.commit_run_evidence(samples.bundle())
    assert notes(journal) == [None]
    assert pending(journal) == []
    assert journal.acknowledge_publication("r", "archive") is None


def test_each_target_acknowledges_once_and_again_safely(published):
    first = published.acknowledge_publication("r", "replay")
    assert not first.repeated
    assert pending(published) == [("r", True, False)]
    again = published.acknowledge_publication("r", "replay")
    assert (again.version, again.repeated) == (first.version, True)
    published.acknowledge_publication("r", "archive")
    assert pending(published) == []


def test_only_what_was_wanted_is_acknowledged(journal):
    some = {"archive": True, "replay": False}
    journal.commit_run_evidence(samples.bundle(publication_targets=some))
    assert journal.acknowledge_publication("r", "replay") is None
    assert pending(journal) == [("r", True, False)]


def test_unknown_targets_and_runs_are_told(published):
    with pytest.raises(InvalidRecord, match="archive, replay"):
        published.acknowledge_publication("r", "nowhere")
    with pytest.raises(RunNotFound):
        published.acknowledge_publication("nope", "archive")


def test_acknowledging_needs_no_lease(published):
    with published.run("r"):
        assert not published.acknowledge_publication("r", "archive").repeated


def test_the_outbox_is_there_after_a_restart_and_in_a_copy(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        both = {"archive": True, "replay": True}
        journal.commit_run_evidence(samples.bundle(publication_targets=both))
        journal.acknowledge_publication("r", "replay")
    with Journal.open(tmp_path / "j.db") as journal, Journal.open("memory://") as copy:
        Ingest(copy).read(map(dumps, export_all(journal.reader)))
        for each in (journal, copy):
            assert pending(each) == [("r", True, False)]
            assert each.acknowledge_publication("r", "replay").repeated
