"""The journal as session store of the Starweaver agent runtime.

    async with graceful_shutdown():
        runtime = create_agent_runtime(
            model=model, session_store=JournalSessionStore(journal), durable_session_id="s1"
        )
        async for event in record(runtime.stream("Hello")):
            ...

To go on from a moment of an earlier run, in a fork of it:

    view = replay(journal, run_id, at=MessageCursor(3))
    runtime = create_agent_runtime(
        model=model,
        session_store=JournalSessionStore(journal, fork_of=view),
        durable_session_id=view.session_id,
        state=restored_state(view),
    )

To go on with a run that waits for decisions, was suspended, or whose process died:

    async for event in record(await resume_run(journal, run_id, model=model)):
        ...

Needs the extra `starweaver`. The records are described in the runtime's own documentation and,
as far as the journal reads them, in `journal.records`.
"""

try:
    import starweaver as _starweaver  # noqa: F401 - says at once that the extra is missing
except ImportError as missing:
    raise ImportError(
        "journal.hosts.starweaver needs pip install 'runjournal[starweaver]'"
    ) from missing

from journal.hosts.starweaver.bridge import StoreBridge
from journal.hosts.starweaver.continuing import resume_run
from journal.hosts.starweaver.recording import graceful_shutdown, record
from journal.hosts.starweaver.restoring import restored_state
from journal.hosts.starweaver.sessions import decisions, rebuild_session
from journal.hosts.starweaver.store import JournalSessionStore

__all__ = [
    "JournalSessionStore",
    "StoreBridge",
    "decisions",
    "graceful_shutdown",
    "rebuild_session",
    "record",
    "restored_state",
    "resume_run",
]
