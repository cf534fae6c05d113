"""The demo: a real agent on the real runtime, journaled live, replayed, and forked.

The model is scripted, so that no network is needed; the runtime, its tools and its records
are the real ones.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from journal.cli.changes import show_diff
from journal.cli.demo_agent import FIRST, INSTEAD, run_agent
from journal.cli.messages import call_text
from journal.cli.output import Output
from journal.cli.page import evidence_json, field, heading, show_fields, show_message, status
from journal.hosts.starweaver import JournalSessionStore, restored_state
from journal.journal import Journal
from projections import (
    LATEST,
    Cursor,
    MessageCursor,
    RunView,
    StreamCursor,
    diff_runs,
    log,
    replay,
)

if TYPE_CHECKING:
    from projections import RunDiff


class Moment(NamedTuple):
    """A point of the demo's run, and why it is worth a look."""

    about: str
    view: RunView


def run_demo(journal: Journal, db: str, output: Output) -> None:
    """Run the agent, show moments of its run and the resume evidence; fork it, and compare."""
    if not output.json:
        output.line("An agent with a scripted model runs on Starweaver, and each of its stream")
        output.line("records is journaled as it passes.")
        heading(output, "live")
    session_id = f"demo-{uuid4().hex[:8]}"
    run_id = run_agent(JournalSessionStore(journal), output, FIRST, session_id)
    moments = _moments(journal, run_id)
    if not output.json:
        for moment in moments:
            _show_moment(output, moment)
        heading(output, "resume evidence at latest")
        show_fields(output, moments[-1].view.evidence or {})
    fork_id = _fork(journal, output, moments[1].view)
    diff = diff_runs(journal, run_id, fork_id)
    if output.json:
        output.document(_document(journal, db, moments, diff))
        return
    heading(output, "diff of the two")
    show_diff(output, diff)
    heading(output, "look further")
    output.line(("  the journal is ", "dim"), _location(journal), whole=True)
    for line in _commands(db, moments, fork_id):
        output.line("  ", (line, "bold"), whole=True)


def _fork(journal: Journal, output: Output, view: RunView) -> str:
    """Let the agent go on from a moment of its run, asked for something else."""
    if not output.json:
        about = f"  from {view.cursor.requested} on; nothing before it is copied or run again"
        heading(output, "fork", (about, "dim"))
    store = JournalSessionStore(journal, fork_of=view)
    return run_agent(store, output, INSTEAD, view.session_id, restored_state(view))


def _moments(journal: Journal, run_id: str) -> list[Moment]:
    first_call = next(log(journal, run_id, kinds=["tool_call"]))

    def moment(about: str, cursor: Cursor) -> Moment:
        return Moment(about, replay(journal, run_id, at=cursor))

    return [
        moment("the first tool is about to run", StreamCursor(first_call.anchor)),
        moment("both forecasts are in the history", MessageCursor(3)),
        moment("the run is over", LATEST),
    ]


def _show_moment(output: Output, moment: Moment) -> None:
    view = moment.view
    live = view.live
    heading(output, view.cursor.requested, (f"  {moment.about}", "dim"))
    field(output, "  status", status(live.status), f" at {live.node}, step {live.step}")
    field(output, "  messages", f"{len(view.messages)}, the last one:")
    show_message(output, len(view.messages), view.messages[-1])
    for call in live.open_tool_calls:
        text = call_text(call.name, call.arguments)
        field(output, "  open call", (f"{text}  ", "yellow"), (call.id, "dim"))


def _document(journal: Journal, db: str, moments: list[Moment], diff: RunDiff) -> dict[str, Any]:
    last = moments[-1].view
    return {
        "schema": "runjournal.demo",
        "schema_version": 1,
        "location": _location(journal),
        "run_id": last.run_id,
        "session_id": last.session_id,
        "views": [moment.view.to_json() for moment in moments],
        "evidence": evidence_json(last),
        "fork": {"run_id": diff.run_b, "cursor": moments[1].view.cursor.requested},
        "diff": diff.to_json(),
        "commands": _commands(db, moments, diff.run_b),
    }


def _location(journal: Journal) -> str:
    location = journal.location
    return location if location == "memory://" else _readable(str(Path(location).resolve()))


def _readable(path: str) -> str:
    """Read a path as UTF-8 where the system's encoding is another, and could not."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _commands(db: str, moments: list[Moment], fork_id: str) -> list[str]:
    known = db == "runjournal.db" or db == os.environ.get("RUNJOURNAL_DB")
    program = "runjournal" if known else f"runjournal --db {shlex.quote(_readable(db))}"
    run_id, first = moments[0].view.run_id, moments[0].view.cursor.requested
    return [
        f"{program} runs --tree",
        f"{program} log {run_id} --kind tool_call --kind tool_return",
        f"{program} replay {run_id} --at {first}",
        f"{program} diff {run_id} --against {fork_id}",
        f"{program} evidence {run_id} --json",
    ]
