"""Lists and pages of records: filtered, bounded, each record once, our errors for bad keys."""

import pytest

from journal.errors import InvalidRecord
from journal.json_door import equal
from projections import (
    list_run_records,
    list_session_records,
    recent_run_records,
    run_page,
    run_record,
    session_page,
    session_record,
)
from tests import samples


@pytest.fixture
def sessions(journal):
    """Five sessions of two runs each; the second one was touched last."""
    for at in range(5):
        name = f"s{at}"
        journal.save_session(
            samples.session_record(
                name, profile=f"p{at % 2}", workspace={"workspace_id": "w", "display_label": name}
            )
        )
        for run in ("a", "b"):
            made = samples.run_record(f"{name}{run}", name, status="running")
            journal.save_run(made)
    journal.set_session_status("s1", "archived")
    return journal


def ids(records, key="session_id"):
    return [record[key] for record in records]


def walk(page_of, kind, key):
    found, after = [], None
    while True:
        page = page_of(after)
        assert len(page[kind]) <= 2
        found += ids(page[kind], key)
        if not page["hasMore"]:
            return found
        after = page["nextKey"]


def test_sessions_are_listed_by_their_latest_change(sessions):
    assert ids(list_session_records(sessions)) == ["s1", "s4", "s3", "s2", "s0"]
    sessions.append_records("s3", "s3a", [samples.record(0)])
    assert ids(list_session_records(sessions)) == ["s3", "s1", "s4", "s2", "s0"]
    for record in list_session_records(sessions):
        assert equal(record, session_record(sessions, record["session_id"]))


def test_sessions_are_filtered(sessions):
    assert ids(list_session_records(sessions, status="archived")) == ["s1"]
    assert ids(list_session_records(sessions, profile="p0")) == ["s4", "s2", "s0"]
    assert ids(list_session_records(sessions, profile="p0", limit=2)) == ["s4", "s2"]
    assert ids(list_session_records(sessions, workspace="s3")) == ["s3"]
    assert len(list_session_records(sessions, workspace="w")) == 5
    assert list_session_records(sessions, profile="p9") == []
    assert list_session_records(sessions, limit=0) == []


def test_pages_of_sessions_hold_each_session_once(sessions):
    found = walk(lambda after: session_page(sessions, 2, after), "sessions", "session_id")
    assert found == ids(list_session_records(sessions))


def test_runs_are_listed_by_number(sessions):
    sessions.save_run(samples.run_record("late", "s0", sequence_no=9))
    sessions.save_run(samples.run_record("early", "s0", sequence_no=5))
    assert ids(list_run_records(sessions, "s0"), "sequence_no") == [1, 2, 5, 9]
    assert ids(recent_run_records(sessions, "s0", 2), "run_id") == ["early", "late"]
    assert recent_run_records(sessions, "s0", 0) == []
    assert len(recent_run_records(sessions, "s0", 99)) == 4
    for record in list_run_records(sessions, "s0"):
        assert equal(record, run_record(sessions, record["run_id"]))


def test_pages_of_runs_hold_each_run_once_the_newest_first(sessions):
    for at in range(3):
        sessions.commit_checkpoint("s0", samples.checkpoint(run_id=f"more{at}"))
    found = walk(lambda before: run_page(sessions, "s0", 2, before), "runs", "run_id")
    assert found == ["more2", "more1", "more0", "s0b", "s0a"]
    assert run_page(sessions, "s0", 200)["nextKey"] == {"sequenceNo": 1}
    beyond = run_page(sessions, "s0", 2, {"sequenceNo": 1})
    assert beyond == {"runs": [], "nextKey": {"sequenceNo": 1}, "hasMore": False}


def test_what_is_not_there_has_empty_lists_and_pages(journal):
    empty = {"nextKey": None, "hasMore": False}
    assert list_run_records(journal, "s") == recent_run_records(journal, "s", 3) == []
    assert run_page(journal, "s", 3) == {"runs": [], **empty}
    assert list_session_records(journal) == []
    assert session_page(journal, 3) == {"sessions": [], **empty}
    after = {"updatedAt": "2026-01-01T00:00:00Z", "sessionId": "s"}
    assert session_page(journal, 3, after) == {"sessions": [], "nextKey": after, "hasMore": False}


@pytest.mark.parametrize("limit", [0, -1, 201, True, 1.0, "1", None])
def test_a_page_has_from_1_to_200_records(journal, limit):
    for ask in (lambda: session_page(journal, limit), lambda: run_page(journal, "s", limit)):
        with pytest.raises(InvalidRecord) as raised:
            ask()
        assert raised.value.path == "$.limit"
        assert "from 1 to 200" in str(raised.value)


@pytest.mark.parametrize("limit", [-1, True, 1.0, "1"])
def test_a_list_has_a_number_of_records_from_0(journal, limit):
    with pytest.raises(InvalidRecord, match=r"\$\.limit"):
        recent_run_records(journal, "s", limit)
    with pytest.raises(InvalidRecord, match=r"\$\.limit"):
        list_session_records(journal, limit=limit)


@pytest.mark.parametrize(
    "before", [3, [], {}, {"sequenceNo": 0}, {"sequenceNo": "1"}, {"sequenceNo": True}]
)
def test_a_key_of_runs_is_that_of_the_page_before(journal, before):
    with pytest.raises(InvalidRecord, match=r"\$\.before"):
        run_page(journal, "s", 1, before)


@pytest.mark.parametrize(
    "after",
    [
        3,
        {},
        {"sessionId": "s"},
        {"updatedAt": "2026-01-01T00:00:00Z"},
        {"updatedAt": "yesterday", "sessionId": "s"},
        {"updatedAt": "2026-01-01T00:00:00", "sessionId": "s"},
        {"updatedAt": 3, "sessionId": "s"},
        {"updatedAt": "2026-01-01T00:00:00Z", "sessionId": 3},
    ],
)
def test_a_key_of_sessions_is_that_of_the_page_before(journal, after):
    with pytest.raises(InvalidRecord, match=r"\$\.after"):
        session_page(journal, 1, after)
