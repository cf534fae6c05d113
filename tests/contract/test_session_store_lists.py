"""Sessions and runs are found again: by id, in lists, in pages, and in what they led to."""

import pytest

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

pytestmark = pytest.mark.anyio
WORKSPACE = {"workspace_id": "w", "display_label": "W", "provenance_digest": "d"}


def ids(records, key="session_id"):
    return [each[key] for each in records]


async def slots(store):
    held = await store.load_session("s1")
    return tuple(held.get(f"{slot}_run_id") for slot in ("active", "head", "head_success"))


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_a_run_that_ends_frees_the_active_slot(either, status):
    await either.save_session(session())
    await either.append_run(run())
    assert await slots(either) == ("r1", "r1", None)
    await either.update_run_status("s1", "r1", status)
    assert await slots(either) == (None, "r1", "r1" if status == "completed" else None)


async def test_the_slots_follow_the_runs(either):
    await either.save_session(session())
    assert await slots(either) == (None, None, None)
    await either.append_run(run("r1", "queued"))
    assert await slots(either) == ("r1", "r1", None)
    await either.commit_run_evidence(evidence("r1"))
    assert await slots(either) == (None, "r1", "r1")
    await either.commit_checkpoint("s1", checkpoint(run_id="r2"))
    assert await slots(either) == ("r2", "r2", "r1")
    await either.commit_run_evidence(evidence("r2", "waiting"))
    assert await slots(either) == ("r2", "r2", "r1")
    await either.append_run(run("r3", "cancelled"))
    assert await slots(either) == ("r2", "r3", "r1")
    await either.update_run_status("s1", "r2", "cancelled")
    assert await slots(either) == (None, "r2", "r1")


async def test_a_session_is_filtered_for(either):
    await either.save_session(session("a", profile="p", workspace=WORKSPACE))
    await either.save_session(session("b", profile="p"))
    await either.save_session(session("c", workspace=WORKSPACE))
    await either.update_session_status("c", "archived")
    found = {
        "status": await either.list_sessions({"status": "archived"}),
        "profile": await either.list_sessions({"profile": "p"}),
        "workspace": await either.list_sessions({"workspace": "w"}),
        "both": await either.list_sessions({"profile": "p", "workspace": "w"}),
        "none": await either.list_sessions({"profile": "nobody's"}),
    }
    assert {name: sorted(ids(each)) for name, each in found.items()} == {
        "status": ["c"],
        "profile": ["a", "b"],
        "workspace": ["a", "c"],
        "both": ["a"],
        "none": [],
    }
    assert sorted(ids(await either.list_sessions())) == ["a", "b", "c"]
    assert len(await either.list_sessions({"limit": 2})) == 2


async def test_a_filter_by_something_else_is_refused(direct):
    with direct.refuses():
        await direct.list_sessions({"titel": "typo"})


async def pages(ask, key, boundary):
    """Read page after page until there is no more."""
    found, query = [], {"limit": 2}
    while True:
        page = await ask(query)
        found.append(ids(page[key], key[:-1] + "_id"))
        if not page["hasMore"]:
            return found, page
        query = {"limit": 2, boundary: page["nextKey"]}


async def test_sessions_come_in_pages_newest_first(either):
    for at in range(5):
        await either.save_session(session(f"s{at}", updated_at=f"2026-01-0{at + 1}T00:00:00Z"))
    found, last = await pages(either.list_session_page, "sessions", "after")
    assert found == [["s4", "s3"], ["s2", "s1"], ["s0"]]
    beyond = await either.list_session_page({"limit": 2, "after": last["nextKey"]})
    assert (beyond["sessions"], beyond["hasMore"]) == ([], False)
    assert beyond["nextKey"] == last["nextKey"]


async def test_runs_come_in_pages_newest_first(either):
    await either.save_session(session())
    for at in range(5):
        await either.append_run(run(f"r{at}"))
    found, last = await pages(lambda query: either.list_run_page("s1", query), "runs", "before")
    assert found == [["r4", "r3"], ["r2", "r1"], ["r0"]]
    beyond = await either.list_run_page("s1", {"limit": 2, "before": last["nextKey"]})
    assert beyond == {"runs": [], "nextKey": {"sequenceNo": 1}, "hasMore": False}


@pytest.mark.parametrize("limit", [0, 201, -1])
async def test_a_page_has_1_to_200_records(either, limit):
    await either.save_session(session())
    with either.refuses():
        await either.list_session_page({"limit": limit})
    with either.refuses():
        await either.list_run_page("s1", {"limit": limit})


@pytest.mark.parametrize(
    "query", [{}, {"limit": True}, {"limit": "2"}, {"limit": 2, "before": 3, "after": 3}]
)
async def test_a_query_that_is_none_is_refused(direct, query):
    await direct.save_session(session())
    await direct.refused("list_session_page", query)
    await direct.refused("list_run_page", "s1", query)


async def test_a_page_of_200_is_whole(ours):
    await ours.save_session(session())
    page = await ours.list_run_page("s1", {"limit": 200})
    assert page == {"runs": [], "hasMore": False}


async def test_runs_are_listed_by_their_numbers(either):
    await either.save_session(session())
    for name in ("z", "y", "x"):
        await either.append_run(run(name))
    listed = await either.list_runs("s1")
    assert [(each["run_id"], each["sequence_no"]) for each in listed] == [
        ("z", 1),
        ("y", 2),
        ("x", 3),
    ]
    assert ids(await either.list_recent_runs("s1", 2), "run_id") == ["y", "x"]
    assert await either.list_recent_runs("s1", 0) == []
    with either.refuses():
        await either.list_recent_runs("s1", -1)


async def test_a_run_gets_the_next_number_or_its_own(either):
    await either.save_session(session())
    await either.append_run(run("r1"))
    await either.append_run(run("r7", sequence_no=7))
    given = await either.append_run_allocated(run("next"))
    assert given["sequence_no"] == 8
    kept = await either.append_run_allocated(run("r1", profile="p"))
    assert (kept["sequence_no"], kept["profile"]) == (1, "p")
    await either.refused("append_run", run("r1", sequence_no=9))
    await either.refused("append_run", run("another", sequence_no=7))


async def test_a_session_without_records_has_no_runs(either):
    assert await either.list_runs("nobody") == []
    assert await either.list_recent_runs("nobody", 5) == []
    assert await either.list_run_page("nobody", {"limit": 5}) == {"runs": [], "hasMore": False}
    assert await either.pending_stream_publications("nobody") == []


async def test_what_is_not_there_is_not_found(either):
    await either.save_session(session())
    for name, args in {
        "load_session": ("nobody",),
        "load_run": ("s1", "nobody"),
        "update_session_status": ("nobody", "archived"),
        "save_context_state": ("nobody", STATE),
        "save_environment_state": ("nobody", {"provider": "p", "reference": "r"}),
        "update_run_status": ("s1", "nobody", "completed"),
        "append_stream_records": ("s1", "nobody", [record(0)]),
        "save_stream_cursor": ("s1", "nobody", cursor(1, scope="run:nobody")),
        "append_approval": (approval(run_id="nobody"),),
        "append_deferred_tool": (deferred(run_id="nobody"),),
        "compact_run_trace": ("s1", "nobody"),
        "compact_session_trace": ("nobody",),
        "resume_snapshot": ("s1", "nobody"),
    }.items():
        await either.refused(name, *args)
    for name in (
        "load_checkpoints",
        "replay_stream_records",
        "load_approvals",
        "load_deferred_tools",
    ):
        assert await getattr(either, name)("s1", "nobody") == []


async def test_a_run_of_another_session_is_not_found(either):
    await either.save_session(session())
    await either.save_session(session("s2"))
    await either.append_run(run())
    await either.append_checkpoint("s1", checkpoint())
    with either.refuses():
        await either.load_run("s2", "r1")
    assert await either.load_checkpoints("s2", "r1") == []
    await either.refused("update_run_status", "s2", "r1", "completed")


async def test_a_session_keeps_what_was_saved(either):
    metadata = {"a": {"b": [1, 2.5, "é☃"]}}
    saved = session(title="T", profile="p", workspace=WORKSPACE, metadata=metadata)
    await either.save_session(saved)
    held = await either.load_session("s1")
    assert {key: held[key] for key in saved} == saved
    reference = {"provider": "virtual", "reference": "x"}
    await either.save_environment_state("s1", reference)
    await either.save_context_state("s1", {**STATE, "metadata": {"k": 1}})
    held = await either.load_session("s1")
    assert held["environment_state"] == reference
    assert held["state"]["metadata"] == {"k": 1}
    assert held["title"] == "T"


async def test_stream_records_come_back_by_sequence(either):
    await either.save_session(session())
    await either.append_run(run())
    await either.append_stream_records("s1", "r1", [record(4), record(0)])
    await either.append_stream_records("s1", "r1", [record(2)])
    held = await either.replay_stream_records("s1", "r1")
    assert held == [record(0), record(2), record(4)]
    assert await either.replay_stream_records("s1", "r1", 0) == held[1:]
    assert await either.replay_stream_records("s1", "r1", 4) == []
    [at] = (await either.load_run("s1", "r1"))["stream_cursors"]
    assert at["position"] == {"family": "raw_runtime", "scope": "run:r1", "sequence": 4}


async def test_a_snapshot_holds_what_a_run_resumes_from(either):
    await either.save_session(session())
    taken = checkpoint(stream_cursor=1)
    await either.commit_run_evidence(
        evidence(
            status="waiting",
            checkpoints=[taken],
            stream_records=[record(at) for at in range(4)],
            approvals=[approval()],
            deferred_tools=[deferred()],
            stream_cursors=[cursor(3)],
        )
    )
    snapshot = await either.resume_snapshot("s1", "r1")
    assert snapshot["session"]["session_id"] == "s1"
    assert snapshot["run"]["status"] == "waiting"
    assert snapshot["state"]["agent_id"] == "main"
    assert snapshot["latest_checkpoint"]["checkpoint_id"] == "k1"
    assert [each["sequence"] for each in snapshot["stream_records"]] == [2, 3]
    assert ids(snapshot["approvals"], "approval_id") == ["a1"]
    assert ids(snapshot["deferred_tools"], "deferred_id") == ["d1"]
    assert {each["position"]["sequence"] for each in snapshot["stream_cursors"]} == {3}


async def test_traces_give_an_overview(either):
    await either.save_session(session(title="T"))
    await either.commit_run_evidence(
        evidence(
            of_run={"output_preview": "the answer"},
            checkpoints=[checkpoint(stream_cursor=1), checkpoint("k0", step=2, stream_cursor=3)],
            stream_records=[record(at) for at in range(4)],
            approvals=[approval()],
        )
    )
    trace = await either.compact_run_trace("s1", "r1")
    assert trace["checkpoints"] == ["k1", "k0"]
    assert (trace["latest_checkpoint"], trace["stream_cursor"]) == ("k0", 3)
    assert (trace["status"], trace["approvals"], trace["output_preview"]) == (
        "completed",
        1,
        "the answer",
    )
    trace = await either.compact_session_trace("s1")
    assert (trace["title"], trace["runs"], trace["latest_run_id"]) == ("T", 1, "r1")
    assert trace["last_output_preview"] == "the answer"
