"""How a run would be resumed, and the request that one stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.cli.failures import complain
from journal.cli.messages import call_text, shown
from journal.cli.output import Output
from journal.cli.page import field, heading, status
from journal.cli.waiting import show_item

if TYPE_CHECKING:
    from projections import ResumeOutlook, SuspendRequested

STOPS = {
    "crashed": "at its first boundary after somebody resumed it: nobody is writing it now",
    "waiting": "it waits already, and resuming it answers this",
}
"""When a run stops that was asked to, by how it stands."""

STATE_STYLES = {"unknown_after_crash": "red", "accepted_rerun": "yellow", "pending": "green"}


def show_requested(output: Output, requested: SuspendRequested) -> None:
    """Print that a run was asked to stop, and when it will."""
    operator = requested.operator
    account = f"{operator.user}@{operator.host}"
    field(output, "run", shown(requested.run_id), "  ", status(requested.run_status))
    field(output, "suspend", requested.reason)
    field(output, "asked by", f"{operator.name} ({account})" if operator.name else account)
    stops = STOPS.get(requested.run_status or "", "at its next boundary, and then waits")
    field(output, "stops", stops)
    if requested.receipt.repeated:
        field(output, "repeated", "this was recorded before, and stays as it is")


def tell_outlook(output: Output, outlook: ResumeOutlook) -> bool:
    """Print how a run would be resumed; tell whether nothing stands in the way."""
    output.one(outlook, show_outlook)
    for obstacle in outlook.obstacles:
        complain(obstacle.message)
    return not outlook.obstacles


def show_outlook(output: Output, outlook: ResumeOutlook) -> None:
    """Print how a run would be resumed."""
    field(output, "run", shown(outlook.run_id))
    field(output, "session", shown(outlook.session_id))
    why = "" if outlook.suspended is None else f": {shown(outlook.suspended)}"
    field(output, "status", status(outlook.status), why)
    field(output, "attempt", f"{outlook.attempt}, when a host resumes it")
    checkpoint = "none" if outlook.checkpoint_id is None else shown(outlook.checkpoint_id)
    field(output, "checkpoint", checkpoint, f"  {outlook.messages} messages")
    able = ("no, see below", "red") if outlook.obstacles else ("yes, by its host", "green")
    field(output, "can resume", able)
    if outlook.open_tool_calls:
        heading(output, "open tool calls")
    for call in outlook.open_tool_calls:
        state = (f"{call.state:<20}", STATE_STYLES.get(call.state, ""))
        text = call_text(shown(call.name), call.arguments)
        output.line("  ", state, text, "  ", (shown(call.id), "dim"), whole=True)
    for title, items in (("waits for", outlook.waiting), ("decided", outlook.decisions)):
        for item in items:
            heading(output, title)
            show_item(output, item)
    if outlook.obstacles:
        heading(output, "stands in the way")
    for obstacle in outlook.obstacles:
        output.line("  ", obstacle.message, whole=True)
