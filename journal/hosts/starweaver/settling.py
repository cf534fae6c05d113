"""What a host left unsettled that died: how its run ended, and the run it went on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journal import times
from journal.boundary import suspend_requested
from journal.errors import RunIsLeased
from journal.events import RunStatusChanged, RunSuspended
from journal.facts import noted
from journal.ids import run_stream, session_stream
from journal.journal import Journal
from journal.leases import why_free
from journal.offers import STATUS_FACTS, Offer
from journal.records import TERMINAL
from journal.related import came_from, goes_on_in
from journal.run_offers import RunOffers
from journal.run_status import current_status
from journal.written_here import was_written_here
from projections import replay, run_record

WHY = "its host ended after its last checkpoint, before the evidence"
"""Why a run was given the status that its last checkpoint told."""

PREVIEW = 1000
"""Characters of an answer that the record of a run gets."""


def settle(journal: Journal, run_id: str) -> None:
    """Record that a run ended which only lacks that, and what becomes of its source.

    A host that dies after the last checkpoint of a run, and before its evidence, leaves a run
    that is over but for its record; the run that it went on with waits for that, too. Nothing
    is recorded of a run that goes on, or that somebody may be writing.

    Args:
        run_id: of the run that went on, or of its source.
    """
    reader = journal.reader
    last = goes_on_in(reader, run_id) or run_id
    source = source_of(journal, last) if reader.has_run(last) else None
    if any(_is_written(journal, each) for each in (last, source) if each is not None):
        return
    try:
        ended = current_status(reader, last) in TERMINAL or _end(journal, last)
        if ended and source is not None:
            link(journal, last, source)
            _end_source(journal, last, source)
    except RunIsLeased:
        return  # somebody goes on with it in this moment


def settle_source(journal: Journal, run_id: str) -> None:
    """End the run that a run went on with, where the process ended before it could.

    The evidence of another run cannot tell of it any more: that one goes on with this run,
    and stops where an operator asked the source to.

    Args:
        run_id: of the run that went on, which is taken to go on in another one.
    """
    source = source_of(journal, run_id)
    if source is None:
        return
    link(journal, run_id, source)
    if current_status(journal.reader, source) not in TERMINAL:
        _hand_on_request(journal, source, run_id)
    _end_source(journal, run_id, source)


def source_of(journal: Journal, run_id: str) -> str | None:
    """Tell the run that a run went on with, also where its own record does not tell it yet."""
    reader = journal.reader
    source = run_record(journal, run_id).get("restore_from_run_id")
    if source is None:
        return came_from(reader, run_id, journal.session_of(run_id))
    known = reader.has_run(source) and goes_on_in(reader, source) == run_id
    return str(source) if known else None


def link(journal: Journal, run_id: str, source: str) -> None:
    """Record in a run what it goes on with; nothing where that is recorded."""
    record = run_record(journal, run_id)
    if record.get("restore_from_run_id") != source:
        record.pop("latest_checkpoint", None)
        journal.save_run({**record, "restore_from_run_id": source})


def outcome(status: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """Tell what becomes of a run that another one went on with.

    Args:
        status: of the other run.
        run: its record.
    """
    run_id = run["run_id"]
    if status in ("completed", "waiting"):
        return {"status": "completed", "output_preview": f"resumed in {run_id}"}
    why = (run.get("terminal_error") or {}).get("message", status)
    error = {"code": "continuation_failed", "message": f"{run_id}: {why}"}
    return {"status": "failed", "terminal_error": error}


def _is_written(journal: Journal, run_id: str) -> bool:
    return why_free(journal.reader.lease(run_id), times.now()) is None


def _end(journal: Journal, run_id: str) -> bool:
    """Give a run the status that its last checkpoint told; tell whether it is over."""
    reader = journal.reader
    if not was_written_here(reader, run_id):
        return False  # its evidence may still come from another journal
    live = replay(journal, run_id, tail=0).live
    status = live.status
    fact = reader.last_run_event(run_id, STATUS_FACTS)
    if status not in TERMINAL or (fact is not None and fact.name == RunSuspended.NAME):
        return False
    preview = live.output[:PREVIEW] if isinstance(live.output, str) else None
    _change(journal, run_id, {"status": status, "reason": WHY, "output_preview": preview})
    return True


def _end_source(journal: Journal, run_id: str, source: str) -> None:
    record = run_record(journal, run_id)
    status = record["status"]
    over = status if status in TERMINAL else "completed"  # it goes on in another one by then
    _change(journal, source, outcome(over, record))


def _change(journal: Journal, run_id: str, fields: dict[str, Any]) -> None:
    """Change the status of a run that did not end."""
    session_id = journal.session_of(run_id)
    ours = RunOffers(run_id, session_id, None, journal.redactor)
    if "terminal_error" in fields:
        change = ours.said(RunStatusChanged.NAME, fields)
    else:
        change = ours.status(fields["status"], fields.get("reason"), fields.get("output_preview"))

    def decide() -> list[Offer]:
        ended = current_status(journal.reader, run_id) in TERMINAL
        return [] if ended else noted(change, session_id)

    journal.decide((run_stream(run_id), session_stream(session_id)), decide)


def _hand_on_request(journal: Journal, source: str, run_id: str) -> None:
    """Ask of a run what an operator asked of its source, unless it did stop since."""
    asked = suspend_requested(journal.reader, source)
    if asked is None:
        return
    stopped = journal.reader.last_run_event(run_id, (RunSuspended.NAME,))
    if stopped is None or stopped.recorded_at < asked.recorded_at:
        journal.request_suspend(run_id, asked.reason, asked.operator)
