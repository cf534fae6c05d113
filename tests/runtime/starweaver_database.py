"""A session database of runs of all kinds, written by the runtime's own store."""

import asyncio

from starweaver import SqliteSessionStore

from journal.hosts.starweaver import graceful_shutdown
from tests.recorded import FILES, lines

from .scenarios import SCENARIOS

TIME = "2026-11-29T20:44:38.544407Z"


def in_a_loop(main):
    """Run in a loop of its own; leave no thread of the runtime behind."""

    async def settled():
        async with graceful_shutdown():
            return await main

    return asyncio.run(settled())


async def fill(path):
    """Make runs of all kinds: those of the scenarios, and others by hand out of what they hold."""
    store = SqliteSessionStore(path)
    for scenario in SCENARIOS.values():
        await scenario(store)
    for name in (name for name in FILES if name != "long"):
        await give(store, name)
    await decide_approval(store)
    await complete_deferred_tool(store)
    await store.save_stream_cursor(
        "text", await only_run(store, "text"), cursor_of(await only_run(store, "text"))
    )
    await copy_run(store, "running", keep=3)
    await copy_run(store, "failed later", keep=4)
    await store.update_run_status("failed later", await only_run(store, "failed later"), "failed")
    await copy_run(store, "cancelled later", keep=4)
    await store.update_run_status(
        "cancelled later", await only_run(store, "cancelled later"), "cancelled"
    )
    await copy_run(store, "published", keep=None, publish=("archive", "replay"))
    await copy_run(store, "half published", keep=None, publish=("archive", "replay"))
    [waiting] = await store.pending_stream_publications("half published")
    await store.acknowledge_stream_publication(waiting["publication_id"], "archive")
    await store.save_session({**(await store.load_session("text")).to_dict(), "status": "archived"})


async def give(store, name):
    """Make the calls of a recorded run again; the session has its name from the file."""
    for line in lines(name):
        args = [moved(arg, f"corpus {name}") for arg in line["args"]]
        if args[0] == name:
            args[0] = f"corpus {name}"
        await getattr(store, line["op"])(*args)


def moved(value, session_id):
    """Put a record into another session."""
    if isinstance(value, list):
        return [moved(item, session_id) for item in value]
    if not isinstance(value, dict):
        return value
    ours = ("session_id", "starweaver.durable_session_id")
    return {
        key: session_id if key in ours else moved(item, session_id) for key, item in value.items()
    }


def renamed(value, old, new):
    """Replace a string wherever it stands for itself."""
    if isinstance(value, dict):
        return {key: renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, old, new) for item in value]
    return new if value == old else value


async def only_run(store, session_id):
    [run] = await store.list_runs(session_id)
    return run.run_id


def cursor_of(run_id):
    position = {"family": "display", "scope": f"run:{run_id}", "sequence": 3}
    return {"position": position, "created_at": TIME}


async def decide_approval(store):
    run_id = await only_run(store, "approval")
    [asked] = await store.load_approvals("approval", run_id)
    decision = {"status": "approved", "decided_by": "ann", "decided_at": TIME, "reason": "fine"}
    await store.append_approval({**asked.to_dict(), "status": "approved", "decision": decision})
    claim = {"claim_id": "claim 1", "session_id": "approval", "run_id": run_id, "created_at": TIME}
    await store.claim_hitl_resume(claim)
    await store.mark_hitl_resume_started("approval", run_id, "claim 1")


async def complete_deferred_tool(store):
    run_id = await only_run(store, "deferred")
    [asked] = await store.load_deferred_tools("deferred", run_id)
    await store.append_deferred_tool(
        {**asked.to_dict(), "status": "completed", "response": {"pages": 3}}
    )


async def copy_run(store, session_id, *, keep, publish=()):
    """Give the calls for a run of the scenarios again, as another run.

    Args:
        keep: only so many checkpoints, and no commit; None commits the whole of it.
    """
    source = await only_run(store, "tools")
    run_id = f"run of {session_id}"

    def own(record):
        return renamed(record, source, run_id)

    checkpoints = [own(one) for one in await store.load_checkpoints("tools", source)]
    for number, checkpoint in enumerate(checkpoints):
        checkpoint["checkpoint_id"] = f"{session_id} {number}"
    for checkpoint in checkpoints[:keep]:
        await store.commit_checkpoint(session_id, checkpoint)
    records = [one.to_dict() for one in await store.replay_stream_records("tools", source)]
    if keep is not None:
        await store.append_stream_records(session_id, run_id, records[:keep])
        return
    scope = f"run:{run_id}"
    shown = {"session_id": session_id, "run_id": run_id, "type": "RUN_STARTED", "timestamp": TIME}
    message = {**shown, "sequence": 0}
    await store.commit_run_evidence(
        {
            "run": {
                "session_id": session_id, "run_id": run_id, "status": "completed", "input": [],
                "conversation_id": checkpoints[0]["conversation_id"], "sequence_no": 0,
                "revision": 1, "created_at": TIME, "updated_at": TIME,
            },
            "context_state": moved(own((await store.resume_snapshot("tools", source)).state), session_id),
            "environment_state": None,
            "stream_records": own(records),
            "checkpoints": checkpoints,
            "approvals": [],
            "deferred_tools": [],
            "stream_cursors": [],
            "display_messages": [message],
            "replay_events": [
                {"scope": scope, "sequence": 0, "timestamp": TIME, "event": {"kind": "heartbeat"}}
            ],
            "display_snapshot": {
                "scope": scope, "revision": 1, "display_messages": [message],
                "cursor": {"family": "display", "scope": scope, "sequence": 0},
            },
            "publication_targets": {target: target in publish for target in ("archive", "replay")},
            "related_run_updates": [],
        }
    )  # fmt: skip
