"""Waiting runs are continued by one host at a time, and publications wait for each target."""

import pytest

from tests.contract.host_records import (
    APPROVED,
    WAITING,
    approval,
    claim,
    continuation,
    deferred,
    evidence,
    record,
    run,
    session,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def waiting(either):
    """A store with a run that waits for a person and for a tool."""
    await either.save_session(session())
    await either.commit_run_evidence(WAITING)
    return either


async def start(store):
    await store.claim_hitl_resume(claim())
    await store.mark_hitl_resume_started("s1", "w", "claim-1")


async def test_only_a_run_that_waits_is_claimed(either):
    await either.save_session(session())
    await either.refused("claim_hitl_resume", claim(run_id="r1"))
    await either.append_run(run())
    await either.refused("claim_hitl_resume", claim(run_id="r1"))


async def test_a_claim_begins_unstarted(waiting):
    await waiting.refused("claim_hitl_resume", claim(state="started"))


async def test_a_claim_is_exclusive(waiting):
    await waiting.claim_hitl_resume(claim())
    await waiting.refused("claim_hitl_resume", claim("claim-2"))
    await waiting.refused("mark_hitl_resume_started", "s1", "w", "claim-2")
    await waiting.refused("release_hitl_resume_claim", "s1", "w", "claim-2")


async def test_a_released_claim_makes_room(waiting):
    await waiting.claim_hitl_resume(claim())
    await waiting.release_hitl_resume_claim("s1", "w", "claim-1")
    before = await waiting.everything()
    await waiting.release_hitl_resume_claim("s1", "w", "claim-1")
    assert await waiting.everything() == before
    await waiting.refused("mark_hitl_resume_started", "s1", "w", "claim-1")
    await waiting.claim_hitl_resume(claim("claim-2"))


async def test_a_claim_may_be_made_again_after_its_release(waiting):
    await waiting.claim_hitl_resume(claim())
    await waiting.release_hitl_resume_claim("s1", "w", "claim-1")
    await waiting.claim_hitl_resume(claim())
    await waiting.mark_hitl_resume_started("s1", "w", "claim-1")


async def test_a_started_claim_is_kept(waiting):
    await start(waiting)
    before = await waiting.everything()
    await waiting.mark_hitl_resume_started("s1", "w", "claim-1")
    assert await waiting.everything() == before
    await waiting.refused("release_hitl_resume_claim", "s1", "w", "claim-1")
    await waiting.refused("claim_hitl_resume", claim("claim-2"))


async def test_claims_hold_after_a_restart(on_disk):
    await on_disk.save_session(session())
    await on_disk.commit_run_evidence(WAITING)
    await on_disk.claim_hitl_resume(claim())
    on_disk.restart()
    await on_disk.refused("claim_hitl_resume", claim("claim-2"))
    await on_disk.mark_hitl_resume_started("s1", "w", "claim-1")
    on_disk.restart()
    await on_disk.refused("release_hitl_resume_claim", "s1", "w", "claim-1")
    await on_disk.commit_run_evidence(continuation())


async def test_a_continuation_settles_the_run_it_continues(waiting):
    await start(waiting)
    committed = await waiting.commit_run_evidence(continuation(output_preview="done"))
    assert (committed["revision"], committed["restore_from_run_id"]) == (1, "w")
    source = await waiting.load_run("s1", "w")
    assert (source["status"], source["output_preview"]) == ("completed", "done")
    assert source["revision"] == 2
    [approved] = await waiting.load_approvals("s1", "w")
    assert (approved["status"], approved["decision"]) == ("approved", APPROVED)
    [ended] = await waiting.load_deferred_tools("s1", "w")
    assert (ended["status"], ended["response"]) == ("completed", {"url": "x"})
    session = await waiting.load_session("s1")
    assert "active_run_id" not in session
    assert session["head_run_id"] == session["head_success_run_id"] == "n"
    before = await waiting.everything()
    assert await waiting.commit_run_evidence(continuation(output_preview="done")) == committed
    assert await waiting.everything() == before
    await waiting.refused("claim_hitl_resume", claim("claim-2"))


async def test_a_continuation_needs_a_started_claim(waiting):
    await waiting.refused("commit_run_evidence", continuation())
    await waiting.claim_hitl_resume(claim())
    await waiting.refused("commit_run_evidence", continuation())


@pytest.mark.parametrize(
    "update",
    [
        {"expected_status": "running"},
        {"resume_claim_id": "claim-2"},
        {"resume_claim_id": None},
        {"status": "running"},
        {"run_id": "n"},
        {"run_id": "nobody"},
        {"approvals": [approval(run_id="w", status="approved", decision=APPROVED, request={})]},
        {"approvals": [approval(run_id="n", status="approved", decision=APPROVED)]},
        {"deferred_tools": [deferred(run_id="w", status="completed", request={})]},
    ],
    ids=[
        "the run is in another status",
        "another claim",
        "no claim",
        "it does not end",
        "the run itself",
        "an unknown run",
        "another request",
        "an approval of another run",
        "another tool call",
    ],
)  # fmt: skip
async def test_a_wrong_update_of_the_continued_run_is_refused(waiting, update):
    await start(waiting)
    await waiting.refused("commit_run_evidence", continuation(**update))


async def test_a_continuation_says_which_run_it_continues(waiting):
    await start(waiting)
    bundle = continuation()
    del bundle["run"]["restore_from_run_id"]
    await waiting.refused("commit_run_evidence", bundle)


def published(archive, replay, run_id="p"):
    targets = {"archive": archive, "replay": replay}
    return evidence(run_id, publication_targets=targets, stream_records=[record(0)])


def wanted(publication):
    return publication["archive_pending"], publication["replay_pending"]


async def test_a_publication_is_listed_until_each_target_has_it(either):
    await either.save_session(session())
    await either.commit_run_evidence(evidence("quiet"))
    assert await either.pending_stream_publications("s1") == []
    await either.commit_run_evidence(published(True, True))
    [publication] = await either.pending_stream_publications("s1")
    assert (publication["session_id"], publication["run_id"]) == ("s1", "p")
    assert publication["stream_records"] == [record(0)]
    assert wanted(publication) == (True, True)
    name = publication["publication_id"]
    await either.acknowledge_stream_publication(name, "archive")
    before = await either.everything()
    await either.acknowledge_stream_publication(name, "archive")
    assert await either.everything() == before
    [publication] = await either.pending_stream_publications("s1")
    assert wanted(publication) == (False, True)
    await either.acknowledge_stream_publication(name, "replay")
    assert await either.pending_stream_publications("s1") == []
    before = await either.everything()
    await either.acknowledge_stream_publication(name, "replay")
    assert await either.everything() == before


async def test_evidence_committed_again_is_not_published_again(either):
    await either.save_session(session())
    await either.commit_run_evidence(published(True, False))
    [publication] = await either.pending_stream_publications("s1")
    assert wanted(publication) == (True, False)
    await either.acknowledge_stream_publication(publication["publication_id"], "archive")
    await either.commit_run_evidence(published(True, False))
    assert await either.pending_stream_publications("s1") == []


async def test_the_outbox_holds_after_a_restart(on_disk):
    await on_disk.save_session(session())
    await on_disk.commit_run_evidence(published(True, True))
    [publication] = await on_disk.pending_stream_publications("s1")
    await on_disk.acknowledge_stream_publication(publication["publication_id"], "replay")
    on_disk.restart()
    [publication] = await on_disk.pending_stream_publications("s1")
    assert wanted(publication) == (True, False)
    await on_disk.acknowledge_stream_publication(publication["publication_id"], "archive")
    on_disk.restart()
    assert await on_disk.pending_stream_publications("s1") == []


async def test_an_unknown_target_is_refused(either):
    await either.save_session(session())
    await either.commit_run_evidence(published(True, True))
    [publication] = await either.pending_stream_publications("s1")
    await either.refused("acknowledge_stream_publication", publication["publication_id"], "moon")


@pytest.mark.parametrize(
    "name", ["", "p", "publication:", 'publication:["s1"]', "publication:[1,2]", 'publication:["s1","x"]']
)  # fmt: skip
async def test_what_names_no_publication_is_refused(ours, name):
    await ours.save_session(session())
    await ours.refused("acknowledge_stream_publication", name, "archive")


async def test_ids_of_any_text_name_a_publication(ours):
    odd = 'a:b","c\\ é☃'
    await ours.save_session(session(odd))
    bundle = published(True, False, run_id=odd)
    bundle["run"]["session_id"] = odd
    await ours.commit_run_evidence(bundle)
    [publication] = await ours.pending_stream_publications(odd)
    await ours.acknowledge_stream_publication(publication["publication_id"], "archive")
    assert await ours.pending_stream_publications(odd) == []
