"""What the writers write: made from a number, so that a reader can make it again.

A number stands for one event of a run. Which kind it is, and everything in it, follows from
the run's id and the number alone.
"""

import hashlib
import json
import random
from typing import NamedTuple

from tests import samples

NOTED = {
    "checkpoint.taken.v1": "checkpoint",
    "context.exported.v1": "context",
    "environment.exported.v1": "environment",
    "run.status_changed.v1": "status",
    "stream.recorded.v1": "record",
}
"""Stored names of the events that come from here, and the kind of each."""

KINDS = {5: "checkpoint", 9: "context", 13: "status", 16: "checkpoint", 20: "environment"}
"""The kind of a number, by its rest modulo 23; all others are records."""

HARD = [None, True, False, 0, 0.0, -0.0, 1, 1.0, 1e300, 2**64 - 1, -(2**63), "", "\u0000", "ß…🙂"]
"""Values that careless storage changes."""


def kind(number):
    return KINDS.get(number % 23, "record")


def payload(run_id, number):
    """Make what a number stands for, as plain JSON; a status is a pair."""
    chance = random.Random(f"{run_id}/{number}")
    match kind(number):
        case "checkpoint":
            return samples.checkpoint(
                f"k{number}", run_id, stream_cursor=number, messages=_history(number), step=number
            )
        case "context":
            return samples.context(_history(number), extra={"number": number})
        case "environment":
            return {"provider_id": "e", "metadata": {"number": number, "held": chance.choice(HARD)}}
        case "status":
            return {"status": chance.choice(["running", "waiting"]), "reason": str(number)}
    return _record(number, chance)


def _record(number, chance):
    pick = chance.random()
    if pick < 0.7:
        return samples.delta(number, chance.randbytes(chance.randrange(60)).hex())
    if pick < 0.8:
        text = chance.randbytes(chance.randrange(3000)).hex()
        returned = {"tool_call_id": f"c{number}", "name": "n", "content": text, "is_error": False}
        return samples.record(number, "tool_return", step=1, tool_return=returned)
    hard = {"values": chance.sample(HARD, 6), "nested": [{"a": {"b": chance.choice(HARD)}}]}
    return samples.record(number, "custom", event={"kind": "note", "payload": hard})


def _history(number):
    # Grows by one every ten numbers and starts again at 400, as a compaction does.
    return [samples.user(f"message {at} " + "x" * 80) for at in range(number // 10 % 40)]


def batch_of(run_id, first, size):
    """Make the records of a batch; each says which batch it is of."""
    mark = {"first": first, "size": size}
    return [
        {**_record(number, random.Random(f"{run_id}/{number}")), "batch": mark}
        for number in range(first, first + size)
    ]


def write(run, number):
    """Give the run what a number stands for; the receipt, or what to await for it."""
    made = payload(run.run_id, number)
    match kind(number):
        case "checkpoint":
            return run.checkpoint(made)
        case "context":
            return run.export_context(made)
        case "environment":
            return run.export_environment(made)
        case "status":
            return run.set_status(made["status"], reason=made["reason"])
    return run.append(made)


def digest(value):
    """Digest JSON so that values differ when their JSON types do; the order of keys is free."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class Receipted(NamedTuple):
    """One event that somebody was told is durable."""

    run_id: str
    number: int
    version: int
    position: int
    digest: str


def receipted(run_id, receipts, values, first):
    """Pair the receipts of the numbers from `first` on with what they are for."""
    return [
        Receipted(run_id, first + at, receipt.version, receipt.position, digest(value))
        for at, (receipt, value) in enumerate(zip(receipts, values, strict=True))
    ]


def recorded(journal, event):
    """Give back what was written for a recorded event, and its number."""
    match NOTED[event.name]:
        case "record":
            value = event.data["record"]
            return value["sequence"], value
        case "status":
            value = {k: v for k, v in event.data.items() if k != "generation"}  # of the lease
            return int(event.data["reason"]), value
        case "checkpoint":
            value = journal.reader.document(event)
            return int(value["checkpoint_id"].removeprefix("k")), value
        case "context":
            value = journal.reader.document(event)
            return value["extra"]["number"], value
    value = journal.reader.document(event)
    return value["metadata"]["number"], value


def expected(run_id, number, value):
    """Make again what a recorded value must be equal to; a record says of which batch it is."""
    if "batch" in value:
        mark = value["batch"]
        return {**_record(number, random.Random(f"{run_id}/{number}")), "batch": mark}
    return payload(run_id, number)
