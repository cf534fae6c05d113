"""Every method of the runtime's facade is there, by each way and with the same parameters."""

import inspect

import pytest
from starweaver import store as facade

from journal import Journal
from journal.hosts.session_store import SessionStore
from journal.hosts.starweaver import JournalSessionStore, StoreBridge
from tests.contract.facades import AsyncNative, Plain
from tests.contract.host_records import (
    STATE,
    approval,
    checkpoint,
    cursor,
    deferred,
    evidence,
    record,
    run,
    session,
)

ARCHIVES = {"load_archive", "save_archive", "save_current_session"}
"""What the facade makes of the other methods, of sessions of the runtime."""
METHODS = {
    name: method
    for name, method in inspect.getmembers(facade.SessionStore, inspect.iscoroutinefunction)
    if not name.startswith("_")
} | {"append_run_allocated": facade.SqliteSessionStore.append_run_allocated}


def parameters(method):
    return [*inspect.signature(method).parameters][1:]


@pytest.mark.parametrize("name", sorted(METHODS.keys() - ARCHIVES))
def test_the_method_is_there_by_each_way(name):
    asked = parameters(METHODS[name])
    assert parameters(getattr(SessionStore, name)) == asked
    assert parameters(getattr(JournalSessionStore, name)) == asked
    assert callable(getattr(StoreBridge, name))
    assert name in vars(JournalSessionStore)


def test_the_plain_store_needs_no_extra():
    imported = inspect.getsource(inspect.getmodule(SessionStore))
    assert "starweaver" not in imported


@pytest.mark.anyio
async def test_the_facades_own_record_types_come_and_go(journal):
    store = JournalSessionStore(journal)
    assert isinstance(store, facade.SessionStore)
    await store.save_session(facade.SessionRecord(session()))
    held = await store.load_session("s1")
    assert isinstance(held, facade.SessionRecord)
    await store.save_session(held)
    [listed] = await store.list_sessions()
    assert isinstance(listed, facade.SessionRecord)
    await store.update_session_status("s1", facade.SessionStatus.ARCHIVED)
    assert (await store.load_session("s1")).raw["status"] == "archived"


def test_a_store_needs_a_loop_only_for_the_runtime():
    with Journal.open("memory://") as journal:
        store = JournalSessionStore(journal)
        with pytest.raises(RuntimeError, match="event loop"):
            store.to_native()


WRITES = {
    "save_session": (session(namespace_id="local", deletion_fence={"state": "stable"}),),
    "append_run": (run(),),
    "update_session_status": ("s1", "archived"),
    "save_context_state": ("s1", {**STATE, "metadata": {"k": 1}}),
    "save_environment_state": ("s1", {"provider": "virtual", "reference": "x"}),
    "append_checkpoint": ("s1", checkpoint()),
    "append_stream_records": ("s1", "r1", [record(0), record(1)]),
    "save_stream_cursor": ("s1", "r1", cursor(1)),
    "append_approval": (approval(),),
    "append_deferred_tool": (deferred(),),
    "update_run_status": ("s1", "r1", "waiting", None),
    "commit_checkpoint": ("s1", checkpoint(run_id="r2")),
    "commit_run_evidence": (evidence("r3", stream_records=[record(0)]),),
}
READS = {
    "load_session": ("s1",),
    "list_sessions": ({"status": "archived"},),
    "list_runs": ("s1",),
    "list_recent_runs": ("s1", 1),
    "list_run_page": ("s1", {"limit": 2}),
    "load_run": ("s1", "r1"),
    "load_checkpoints": ("s1", "r1"),
    "replay_stream_records": ("s1", "r1", 0),
    "load_approvals": ("s1", "r1"),
    "load_deferred_tools": ("s1", "r1"),
    "resume_snapshot": ("s1", "r1"),
    "compact_run_trace": ("s1", "r1"),
    "compact_session_trace": ("s1",),
}
TIMES = {"created_at", "updated_at"}


def timeless(answer):
    if isinstance(answer, list):
        return [timeless(item) for item in answer]
    if isinstance(answer, dict):
        # The bridge leaves out what is empty.
        return {key: timeless(item) for key, item in answer.items() if key not in TIMES and item}
    return answer


@pytest.mark.anyio
async def test_the_awaitable_methods_give_the_bridge_the_plain_stores_answers():
    awaited, plain = AsyncNative("memory://"), Plain("memory://")
    for name, args in WRITES.items():
        for store in (awaited, plain):
            await getattr(store, name)(*args)
    for name, args in READS.items():
        answers = [timeless(await getattr(store, name)(*args)) for store in (awaited, plain)]
        assert answers[0] == answers[1], name
    for store in (awaited, plain):
        store.close()
