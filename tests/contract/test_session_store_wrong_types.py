"""Whatever a host hands in, in place of any argument: an error of ours, and nothing is lost."""

import inspect

import pytest

import projections
from journal import Journal
from journal.errors import InvalidJSON, InvalidRecord, JournalError
from journal.events import Operator
from journal.export import export_all
from journal.hosts.session_store import SessionStore
from journal.json_door import dumps
from tests.contract import host_records as h

WRONG = [
    None, True, 5, -1, 2**70, 1.5, float("nan"), "", "\ud800", "x\x00y", "s1", [], [1], ["a"],
    {}, {"a": 1}, {1: 2}, b"x", b"{", object(), (), set(), {"limit": float("nan")},
    "publication:5", "publication:null", 'publication:["s1"]', "publication:[1,2]",
]  # fmt: skip
NO_OBJECT = [None, True, 5, 1.5, "s1", [], [1], ()]
REFERENCE = {"provider": "p", "reference": "r"}
RIGHT = {
    "session_id": "s1",
    "run_id": "w",
    "status": "archived",
    "filter": {},
    "query": {"limit": 5},
    "state": h.STATE,
    "environment_state": REFERENCE,
    "ref_or_state": REFERENCE,
    "checkpoint": h.checkpoint(),
    "records": [h.record(0)],
    "after_sequence": 0,
    "cursor": h.cursor(3, scope="run:w"),
    "commit": h.evidence("r7"),
    "bundle": h.evidence("r7"),
    "claim": h.claim(),
    "claim_id": "claim-1",
    "publication_id": 'publication:["s1","w"]',
    "target": "archive",
    "limit": 5,
    "output_preview": "x",
    "operator": Operator(user="u", host="h"),
    "reason": "because",
}
RECORDS = {
    "save_session": h.session(),
    "approval": h.approval(run_id="w"),
    "append_approval": h.approval(run_id="w"),
    "deferred_tool": h.deferred(run_id="w"),
    "append_deferred_tool": h.deferred(run_id="w"),
}
VERBS = (
    "save_session", "set_session_status", "save_context", "save_environment", "save_run",
    "set_status", "commit_checkpoint", "append_records", "save_cursor", "approval",
    "deferred_tool", "claim_resume", "start_resume", "release_resume", "commit_run_evidence",
    "acknowledge_publication", "request_suspend", "allow_resume", "run_record",
    "session_record", "is_committed", "session_of",
)  # fmt: skip
METHODS = [
    name
    for name, _ in inspect.getmembers(SessionStore, inspect.isfunction)
    if not name.startswith("_")
]
READERS = (
    "run_record", "session_record", "list_session_records", "session_page", "list_run_records",
    "recent_run_records", "run_page", "checkpoints", "stream_records", "approvals",
    "deferred_tools", "pending_publications", "resume_snapshot", "compact_run_trace",
    "compact_session_trace",
)  # fmt: skip


@pytest.fixture
def store():
    with Journal.open("memory://") as journal:
        made = SessionStore(journal)
        made.save_session(h.session())
        made.commit_run_evidence(h.WAITING)
        made.append_run(h.run("r1"))
        yield made


def swapped(name, function, wrong, but=()):
    """Each way to call a function with one wrong argument."""
    parameters = [each for each in inspect.signature(function).parameters if each not in but]
    right = {
        key: RECORDS.get(name, h.run("r9")) if key == "record" else RIGHT.get(key)
        for key in parameters
    }
    for key in parameters:
        for each in wrong:
            yield key, each, right | {key: each}


def refused_or_taken(store, name, function, but=()):
    for key, wrong, arguments in swapped(name, function, WRONG, but):
        try:
            function(**arguments)
        except JournalError:
            continue
        except Exception as error:
            error.add_note(f"{name}({key}={wrong!r})")
            raise
    store.load_session("s1")
    assert len(store.list_runs("s1")) >= 2
    for line in export_all(store.journal.reader):
        dumps(line)


@pytest.mark.parametrize("name", METHODS)
def test_methods_refuse_with_errors_of_ours(store, name):
    refused_or_taken(store, name, getattr(store, name))


@pytest.mark.parametrize("name", VERBS)
def test_verbs_refuse_with_errors_of_ours(store, name):
    refused_or_taken(store, name, getattr(store.journal, name))


@pytest.mark.parametrize("name", READERS)
def test_readers_refuse_with_errors_of_ours(store, name):
    function = getattr(projections, name)
    journal = store.journal
    reading = inspect.signature(function).parameters
    keys = [key for key in reading if key not in ("journal", "at")]
    for key in keys:
        for wrong in WRONG:
            given = {
                each: RIGHT.get(each, 5)
                for each in keys
                if reading[each].default is inspect.Parameter.empty
            }
            try:
                function(journal, **(given | {key: wrong}))
            except JournalError:
                continue
            except Exception as error:
                error.add_note(f"{name}({key}={wrong!r})")
                raise


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("save_session", "record"),
        ("append_run", "record"),
        ("append_run_allocated", "record"),
        ("append_approval", "record"),
        ("append_deferred_tool", "record"),
        ("commit_checkpoint", "checkpoint"),
        ("commit_run_evidence", "commit"),
        ("claim_hitl_resume", "claim"),
        ("save_context_state", "state"),
        ("save_environment_state", "environment_state"),
        ("save_stream_cursor", "cursor"),
        ("list_session_page", "query"),
        ("list_run_page", "query"),
        ("list_sessions", "filter"),
    ],
)
def test_what_is_no_object_is_an_invalid_record_with_its_path(store, name, key):
    before = store.journal.reader.last_position()
    for at, wrong, arguments in swapped(name, getattr(store, name), NO_OBJECT):
        if at == key and not (name == "list_sessions" and wrong is None):
            with pytest.raises((InvalidRecord, InvalidJSON)) as refused:
                getattr(store, name)(**arguments)
            assert refused.value.path == "$"
    assert store.journal.reader.last_position() == before


@pytest.mark.parametrize("wrong", [None, 5, True, [], {}, 1.5, b"s1"])
def test_what_is_no_id_is_an_invalid_record(store, wrong):
    for call in (
        lambda: store.load_session(wrong),
        lambda: store.load_run("s1", wrong),
        lambda: store.list_runs(wrong),
        lambda: store.update_session_status(wrong, "active"),
        lambda: store.acknowledge_stream_publication(wrong, "archive"),
        lambda: store.journal.save_context(wrong, h.STATE),
        lambda: store.journal.save_cursor(wrong, "w", h.cursor(3, scope="run:w")),
    ):
        with pytest.raises(InvalidRecord) as refused:
            call()
        assert refused.value.path == "$"


@pytest.mark.parametrize("wrong", [None, 5, 1.5, "records", b"records", {}, {"sequence": 1}])
def test_what_is_no_list_of_records_is_an_invalid_record(store, wrong):
    with pytest.raises(InvalidRecord, match="expected a list"):
        store.append_stream_records("s1", "w", wrong)
    with pytest.raises(InvalidRecord, match="expected a list"):
        store.journal.append_records("s1", "w", wrong)
