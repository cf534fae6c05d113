"""The rules of a session store, by each way to it and on the runtime's own store.

Deliberate differences from the runtime's own store, tested for the journal alone:

- A run id is unique in a journal, not only in its session.
- A record or a state that equals the last is a retry; the other store counts a revision.
- An approval or a deferred tool call that is recorded by itself keeps the rules that the other
  store has for bundles only.
- A run record or a bundle brings its session where that is new, as a checkpoint does.
- A filter, a query or a publication id that makes no sense is refused; the other store ignores
  unknown keys and ids.
"""

import pytest

from tests.contract.host_records import (
    STATE,
    WAITING,
    approval,
    checkpoint,
    claim,
    cursor,
    deferred,
    evidence,
    record,
    run,
    session,
)

pytestmark = pytest.mark.anyio
DIAGNOSTIC = {"code": "broken", "message": "it broke"}


async def revision(store, run_id="r1"):
    return (await store.load_run("s1", run_id))["revision"]


@pytest.mark.parametrize(
    ("taken", "status", "active"),
    [
        ("starting", "running", True),
        ("running", "running", True),
        ("waiting", "waiting", True),
        ("completed", "completed", False),
        ("failed", "failed", False),
        ("cancelled", "cancelled", False),
    ],
)
async def test_a_checkpoint_brings_its_session_and_its_run(either, taken, status, active):
    await either.commit_checkpoint("s1", checkpoint(status=taken))
    session = await either.load_session("s1")
    assert session["status"] == "active"
    assert session["head_run_id"] == "r1"
    assert session.get("active_run_id") == ("r1" if active else None)
    run = await either.load_run("s1", "r1")
    assert (run["status"], run["sequence_no"], run["revision"]) == (status, 1, 1)
    assert run["conversation_id"] == "c"
    assert run["latest_checkpoint"]["checkpoint_id"] == "k1"
    code = run.get("terminal_error", {}).get("code")
    assert code == (f"checkpoint_run_{taken}" if taken in {"failed", "cancelled"} else None)
    assert (await either.compact_run_trace("s1", "r1"))["checkpoints"] == ["k1"]


async def test_a_refused_checkpoint_brings_nothing(either):
    wrong = checkpoint()
    del wrong["resume"]
    await either.refused("commit_checkpoint", "s1", wrong)
    with either.refuses():
        await either.load_session("s1")


async def test_session_run_and_checkpoint_come_in_one_transaction(ours):
    await ours.commit_checkpoint("s1", checkpoint())
    assert ours.journal.metrics().commits == 1


async def test_a_checkpoint_alone_needs_its_run(either):
    await either.refused("append_checkpoint", "s1", checkpoint())
    await either.save_session(session())
    await either.refused("append_checkpoint", "s1", checkpoint())
    await either.append_run(run())
    await either.append_checkpoint("s1", checkpoint())
    assert [each["checkpoint_id"] for each in await either.load_checkpoints("s1", "r1")] == ["k1"]


@pytest.mark.parametrize("name", ["append_run", "commit_run_evidence"])
async def test_a_record_or_a_bundle_brings_its_session_as_well(ours, name):
    await getattr(ours, name)(run() if name == "append_run" else evidence())
    session = await ours.load_session("s1")
    assert (session["status"], session["head_run_id"]) == ("active", "r1")


async def test_a_run_id_belongs_to_one_session(ours):
    await ours.commit_checkpoint("s1", checkpoint())
    await ours.refused("commit_checkpoint", "s2", checkpoint("k2"))


RETRIES = {
    "commit_checkpoint": ("s1", checkpoint()),
    "append_checkpoint": ("s1", checkpoint()),
    "append_stream_records": ("s1", "r1", [record(0), record(1)]),
    "save_stream_cursor": ("s1", "r1", cursor(5)),
    "append_approval": (approval(),),
    "append_deferred_tool": (deferred(),),
    "commit_run_evidence": (evidence(checkpoints=[checkpoint()], stream_records=[record(0)]),),
    "claim_hitl_resume": (claim(),),
    "update_run_status": ("s1", "r1", "completed", "done"),
}
OUR_RETRIES = {
    "save_session": (session(title="T"),),
    "append_run": (run(profile="p"),),
    "update_session_status": ("s1", "archived"),
    "save_context_state": ("s1", {**STATE, "session_id": "affinity"}),
    "save_environment_state": ("s1", {"provider": "virtual", "reference": "x"}),
}
CONFLICTS = {
    "commit_checkpoint": ("s1", checkpoint(step=3)),
    "append_checkpoint": ("s1", checkpoint(step=3)),
    "append_stream_records": ("s1", "r1", [record(2), record(1, "other")]),
    "save_stream_cursor": ("s1", "r1", cursor(4)),
    "commit_run_evidence": (evidence(checkpoints=[checkpoint()]),),
    "claim_hitl_resume": (claim("claim-2"),),
}
OUR_CONFLICTS = {
    "append_approval": (approval(request={"risk": "low"}),),
    "append_deferred_tool": (deferred(request={"queue": "other"}),),
}


async def prepare(store):
    await store.save_session(session())
    await store.append_run(run())
    await store.commit_run_evidence(WAITING)


async def same_again(store, name, args, *, restart):
    await prepare(store)
    await getattr(store, name)(*args)
    if restart:
        store.restart()
    before = await store.everything()
    await getattr(store, name)(*args)
    assert await store.everything() == before


@pytest.mark.parametrize("name", RETRIES)
async def test_the_same_again_changes_nothing(either, name):
    await same_again(either, name, RETRIES[name], restart=False)


@pytest.mark.parametrize("name", RETRIES)
async def test_the_same_after_a_restart_changes_nothing(on_disk, name):
    await same_again(on_disk, name, RETRIES[name], restart=True)


@pytest.mark.parametrize("name", OUR_RETRIES)
async def test_the_same_record_or_state_again_changes_nothing(ours, name):
    await same_again(ours, name, OUR_RETRIES[name], restart=False)


async def conflicting(store, name, first, second, *, restart):
    await prepare(store)
    await getattr(store, name)(*first)
    if restart:
        store.restart()
    await store.refused(name, *second)


@pytest.mark.parametrize("name", CONFLICTS)
async def test_what_conflicts_is_refused_and_changes_nothing(either, name):
    await conflicting(either, name, RETRIES[name], CONFLICTS[name], restart=False)


@pytest.mark.parametrize("name", CONFLICTS)
async def test_what_conflicts_after_a_restart_is_refused(on_disk, name):
    await conflicting(on_disk, name, RETRIES[name], CONFLICTS[name], restart=True)


@pytest.mark.parametrize("name", OUR_CONFLICTS)
async def test_a_request_stays_as_it_was_made(ours, name):
    await conflicting(ours, name, RETRIES[name], OUR_CONFLICTS[name], restart=False)


async def test_a_new_run_starts_at_revision_one(either):
    await either.save_session(session())
    await either.append_run(run("by record"))
    await either.commit_checkpoint("s1", checkpoint(run_id="by checkpoint"))
    of_new = {"checkpoints": [checkpoint(run_id="by bundle")], "stream_records": [record(0)]}
    committed = await either.commit_run_evidence(evidence("by bundle", **of_new))
    assert committed["revision"] == 1
    assert await revision(either, "by record") == 1
    assert await revision(either, "by checkpoint") == 1


async def test_a_commit_raises_the_revision_by_one(either):
    await either.save_session(session())
    await either.append_run(run())
    await either.commit_checkpoint("s1", checkpoint())
    before = await revision(either)
    bundle = evidence(
        checkpoints=[checkpoint(), checkpoint("k2", step=2)],
        stream_records=[record(0), record(1)],
        approvals=[approval()],
        stream_cursors=[cursor(1)],
    )
    committed = await either.commit_run_evidence(bundle)
    assert committed["revision"] == await revision(either) == before + 1


DIAGNOSED = pytest.mark.parametrize(
    ("status", "diagnostic", "accepted"),
    [
        ("failed", None, False),
        ("failed", DIAGNOSTIC, True),
        ("completed", DIAGNOSTIC, False),
        ("cancelled", None, True),
        ("cancelled", DIAGNOSTIC, True),
        ("queued", DIAGNOSTIC, False),
        ("running", DIAGNOSTIC, False),
        ("waiting", DIAGNOSTIC, False),
    ],
)


@DIAGNOSED
async def test_a_saved_run_has_a_diagnostic_where_it_needs_one(
    either, status, diagnostic, accepted
):
    await either.save_session(session())
    saved = run(status=status, **({"terminal_error": diagnostic} if diagnostic else {}))
    if not accepted:
        await either.refused("append_run", saved)
        return
    await either.append_run(saved)
    assert (await either.load_run("s1", "r1")).get("terminal_error") == diagnostic


@DIAGNOSED
async def test_committed_evidence_has_a_diagnostic_where_it_needs_one(
    either, status, diagnostic, accepted
):
    await either.save_session(session())
    of_run = {"terminal_error": diagnostic} if diagnostic else {}
    bundle = evidence(status=status, of_run=of_run)
    if not accepted:
        await either.refused("commit_run_evidence", bundle)
        return
    committed = await either.commit_run_evidence(bundle)
    assert (committed["status"], committed.get("terminal_error")) == (status, diagnostic)


@pytest.mark.parametrize("status", ["failed", "cancelled"])
async def test_a_status_update_that_ends_badly_says_so_in_general(either, status):
    await either.save_session(session())
    await either.append_run(run())
    await either.update_run_status("s1", "r1", status, "what the caller knows of it")
    changed = await either.load_run("s1", "r1")
    assert changed["status"] == status
    assert changed["terminal_error"] == {
        "code": f"legacy_status_update_{status}",
        "message": f"run {status}",
    }
    assert "output_preview" not in changed


async def test_a_status_update_keeps_the_preview_of_an_output(either):
    await either.save_session(session())
    await either.append_run(run())
    await either.update_run_status("s1", "r1", "completed", "the output")
    changed = await either.load_run("s1", "r1")
    assert (changed["status"], changed["output_preview"]) == ("completed", "the output")


async def test_a_cursor_never_goes_back(either):
    await either.save_session(session())
    await either.append_run(run())
    await either.save_stream_cursor("s1", "r1", cursor(5))
    await either.refused("save_stream_cursor", "s1", "r1", cursor(4))
    await either.refused(
        "commit_run_evidence", evidence(stream_cursors=[cursor(4)]), match="cursor"
    )
    await either.save_stream_cursor("s1", "r1", cursor(2, "replay_event"))
    await either.save_stream_cursor("s1", "r1", cursor(6))
    held = (await either.load_run("s1", "r1"))["stream_cursors"]
    at = {each["position"]["family"]: each["position"]["sequence"] for each in held}
    assert at == {"display": 6, "replay_event": 2}


async def test_a_cursor_is_of_its_run(either):
    await either.save_session(session())
    await either.append_run(run())
    await either.refused("save_stream_cursor", "s1", "r1", cursor(5, scope="run:r2"))
    elsewhere = evidence(stream_cursors=[cursor(5, scope="run:r2")])
    await either.refused("commit_run_evidence", elsewhere)


async def test_affinity_ids_are_not_the_durable_ones(either):
    affinity = {**STATE, "session_id": "of the provider", "run_id": "of the provider, too"}
    await either.save_session(session())
    await either.save_context_state("s1", affinity)
    assert (await either.load_session("s1"))["state"]["session_id"] == "of the provider"
    await either.commit_run_evidence({**evidence(), "context_state": affinity})
    snapshot = await either.resume_snapshot("s1", "r1")
    assert snapshot["state"]["run_id"] == "of the provider, too"
    assert snapshot["run"]["run_id"] == "r1"


@pytest.mark.parametrize("key", ["starweaver.durable_session_id", "starweaver.durable_run_id"])
async def test_durable_ids_must_match(either, key):
    await either.save_session(session())
    foreign = {**STATE, "metadata": {key: "another"}}
    await either.refused("commit_run_evidence", {**evidence(), "context_state": foreign})
    right = {"starweaver.durable_session_id": "s1", "starweaver.durable_run_id": "r1"}
    ours = {**STATE, "metadata": right}
    await either.commit_run_evidence({**evidence(), "context_state": ours})
