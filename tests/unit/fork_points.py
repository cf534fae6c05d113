"""Points of runs to fork, where a view is not needed."""

from dataclasses import dataclass

from journal.events import RunForked
from journal.ids import Version
from journal.lineage import Lineage
from tests import samples


@dataclass(frozen=True)
class Point:
    """What `Journal.fork` asks of a view."""

    lineage: Lineage
    session_id: str = "s"
    conversation_id: str | None = "c"


def after(sequence):
    """The place right after everything of a sequence."""
    return sequence, 2, 0


def point(journal, source="r", sequence=None, *, version=None, forked=None, until=None, **ids):
    """A point of a run: right after a sequence, or its end."""
    head = journal.reader.head(source) if version is None else version
    before = None if sequence is None else after(sequence)
    cursor = "latest" if sequence is None else f"stream:{sequence}"
    lineage = Lineage(source, Version(head), before, until, forked or source, cursor)
    return Point(lineage, **ids)


def history(count):
    return [samples.user(f"question {at}: " + "why? " * 20) for at in range(count)]


def record_steps(run, steps, *, first=0, prefix="k"):
    """Write a record and a checkpoint a step; each checkpoint has one message more."""
    for at in range(first, first + steps):
        run.append(samples.record(at))
        taken = samples.checkpoint(
            f"{prefix}{at}",
            run.run_id,
            stream_cursor=at,
            messages=history(at + 1),
            step=at,
            conversation_id=run.conversation_id or "c",
        )
        run.checkpoint(taken)


def opening_of(journal, run_id):
    """The typed first event of a fork."""
    event = next(journal.reader.run_events(run_id)).event
    assert isinstance(event, RunForked)
    return event


def bases(journal, run_id):
    """Where each document of a run builds on: stream and version, or None."""
    return [
        (event.data.get("base_stream", event.stream), event.data["base_version"])
        if "base_version" in event.data
        else None
        for event in journal.reader.run_events(run_id)
        if "delta" in event.data
    ]
