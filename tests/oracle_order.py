"""Part of the oracle (`tests.oracle`): the order of events, and the messages after them."""

from dataclasses import dataclass

RECORD, CHECKPOINT, CONTEXT, ENVIRONMENT = "record", "checkpoint", "context", "environment"
APPROVAL, DEFERRED, FACT = "approval", "deferred", "fact"
RUN_RECORDS = ("run.saved.v1", "run.committed.v1")
"""Facts that hold the host's run record."""


class Outside(Exception):
    """The cursor names no place of this run."""


@dataclass
class Arrival:
    """One event of a run, in order of arrival."""

    kind: str
    body: dict
    """The host's JSON; of a fact, its fields."""
    version: int
    recorded_at: int
    """Microseconds since the epoch."""
    name: str = ""
    """Of a fact: its stored name."""


@dataclass
class Event:
    """An arrival with its place."""

    kind: str
    body: dict
    version: int
    recorded_at: int
    name: str
    anchor: int


def bare(document):
    """Take a record out of its envelope, if it is in one."""
    return document["payload"] if "schema" in document or "version" in document else document


def in_order(arrivals):
    """Give every arrival its anchor and sort by (anchor, records first, version)."""
    events = []
    for arrival in arrivals:
        anchor = max([event.anchor for event in events], default=-1)
        if arrival.kind == RECORD:
            anchor = arrival.body["sequence"]
        if arrival.kind == CHECKPOINT:
            cursor = arrival.body["resume"]["cursor"].get("stream_cursor")
            anchor = anchor if cursor is None else cursor
        events.append(
            Event(
                arrival.kind,
                arrival.body,
                arrival.version,
                arrival.recorded_at,
                arrival.name,
                anchor,
            )
        )
    return sorted(events, key=lambda e: (e.anchor, 0 if e.kind == RECORD else 1, e.version))


def is_own(event, *kinds):
    """Tell whether it is a record of the run itself, of one of these kinds."""
    return (
        event.kind == RECORD
        and event.body.get("source") is None
        and event.body["event"]["kind"] in kinds
    )


def last(events, kind):
    """Find the last event of a kind: its index and itself, or -1 and None."""
    for at in range(len(events) - 1, -1, -1):
        if events[at].kind == kind:
            return at, events[at]
    return -1, None


def responses(events, step):
    """Collect the model's answers of steps above this one."""
    return [
        event.body["event"]["response"]
        for event in events
        if is_own(event, "model_response") and event.body["event"]["step"] > step
    ]


def history(events):
    """Work out the messages at the end of these events."""
    at, checkpoint = last(events, CHECKPOINT)
    base, step = [], -1
    if checkpoint is not None:
        base, step = checkpoint.body["state"]["message_history"], checkpoint.body["run_step"]
    for later, event in enumerate(events):
        if later > at and event.kind == CONTEXT:
            held = bare(event.body).get("message_history")
            if held is not None:
                at, base = later, held
    added = responses(events[at + 1 :], step)
    return base + [{**response, "kind": "response"} for response in added]


def counts(events):
    """Count the messages after each event."""
    found = []
    base, step, at = 0, -1, -1
    for place, event in enumerate(events):
        if event.kind == CHECKPOINT:
            base, step, at = (
                len(event.body["state"]["message_history"]),
                event.body["run_step"],
                place,
            )
        if event.kind == CONTEXT and bare(event.body).get("message_history") is not None:
            base, at = len(bare(event.body)["message_history"]), place
        added = 0
        for later in events[at + 1 : place + 1]:
            if is_own(later, "model_response") and later.body["event"]["step"] > step:
                added += 1
        found.append(base + added)
    return found


def epochs(numbers):
    """Cut the places into epochs: a new one begins where the number of messages falls."""
    found = [[]]
    for place, number in enumerate(numbers):
        if place > 0 and number < numbers[place - 1]:
            found.append([])
        found[-1].append(place)
    return found


def step_of(event):
    """Tell the step an event shows the run to have reached."""
    if is_own(event, "model_response"):
        return event.body["event"]["step"]
    return event.body["run_step"] if event.kind == CHECKPOINT else 0
