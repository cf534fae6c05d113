"""The end of the journal, line by line, and what comes."""

from __future__ import annotations

import select
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journal.cli.clock import local_milliseconds
from journal.cli.escape import escape, shorten_middle
from journal.cli.failures import writing
from journal.cli.listing import EVENT_STYLES, ROOM_FOR_DATE
from journal.cli.output import Output, Part

if TYPE_CHECKING:
    from journal.codec import RecordedEvent
    from journal.subscription import Subscription
    from projections.tail_event import TailEvent

RUN_WIDTH = 24
"""Characters of the column that names the run."""

HEARTBEAT = 0.25
"""Seconds after which it is looked whether the output is still read."""


def show_tail(
    output: Output, subscription: Subscription, upto: int | None, *, across: bool
) -> None:
    """Print what a subscription gives, one event a line.

    Args:
        upto: the position at which it ends; None to wait for what comes.
        across: name the run in each line.
    """
    from projections.tail_event import TailEvent  # noqa: PLC0415 - help needs none of it

    if not output.json:
        if upto is not None and subscription.position >= upto:
            output.line("no events")
        else:
            _show_titles(output, across=across)
    for event in _events(subscription, upto):
        _show(output, TailEvent.of(event), across=across)


def _events(subscription: Subscription, upto: int | None) -> Iterator[RecordedEvent]:
    while upto is None or subscription.position < upto:
        event = subscription.get(HEARTBEAT)
        if event is not None:
            yield event
        elif _is_abandoned():
            return


def _is_abandoned() -> bool:
    """Tell whether nobody reads the standard output any more."""
    if not hasattr(select, "poll"):
        return False  # not on this system: the next line that is written tells
    try:
        output = sys.stdout.fileno()
    except OSError:
        return False  # it is no file
    poll = select.poll()
    poll.register(output, 0)
    return bool(poll.poll(0))


def _show_titles(output: Output, *, across: bool) -> None:
    time = f"{'TIME':<{23 if output.room(ROOM_FOR_DATE) else 12}}"
    run = f"{'RUN':<{RUN_WIDTH}}  " if across else ""
    output.line((f"{'POSITION':>8} {'VERSION':>7}  {time}  {run}EVENT", "dim"))
    _flush()


def _show(output: Output, event: TailEvent, *, across: bool) -> None:
    if output.json:
        output.document(event.to_json())
    else:
        output.line(*_line(output, event, across=across))
    _flush()


def _flush() -> None:
    """Let whoever reads see the line now."""
    with writing():
        sys.stdout.flush()


def _line(output: Output, shown: TailEvent, *, across: bool) -> list[Part]:
    event = shown.event
    mark = "*" if event.imported else " "
    run: list[Part] = []
    if across:
        whose = escape(event.stream if event.run_id is None else event.run_id)
        whose = whose if output.full else shorten_middle(whose, RUN_WIDTH)
        run = [(f"  {whose:<{RUN_WIDTH}}", "cyan")]
    style = EVENT_STYLES.get(shown.kind, "" if shown.known else "red")
    return [
        (f"{event.position:>8} {event.version:>7}{mark} ", "dim"),
        (local_milliseconds(event.recorded_at, date=output.room(ROOM_FOR_DATE)), "dim"),
        *run,
        (f"  {shown.kind:<20} " if shown.known else f"  {shown.kind} (unknown) ", style),
        shown.summary,
    ]
