"""What is offered to the journal: one event to be, before it has a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from journal.errors import RedactionFailed
from journal.events import Imported, StreamRecorded
from journal.ids import StreamId
from journal.json_door import JSON, dumps, loads
from journal.redact import Redactor
from journal.stores.interface import Identity
from journal.values import WORTH_LOOKING, fingerprints

UNPARSED: JSON = object()
"""Many records wait in a batch, and nearly none is ever compared: so many parsed ones would
only keep the garbage collector busy."""

NO_FIELDS: Mapping[str, JSON] = MappingProxyType({})

STATE_CHAIN = "state"
ENVIRONMENT_CHAIN = "environment"


class Offer(NamedTuple):
    """One event to be, without its version.

    A tuple because making one is on the way of every write, and costs a third of a frozen
    dataclass.
    """

    stream: StreamId
    name: str
    parsed: JSON
    """The value; `UNPARSED` for a stream record, whose value is in its bytes."""
    data: bytes = b""
    """The event's bytes; empty for a document, whose bytes depend on its base."""
    identity: Identity | None = None
    chain: str | None = None
    """For a document: the chain of differences it joins."""
    fields: Mapping[str, JSON] = NO_FIELDS
    """For a document: the event's fields besides the difference."""
    size: int = 0
    """For a document: length of its compact encoding, in bytes."""
    last_of: tuple[str, ...] = ()
    """When the stream's last event of these names is of this name and equal, it is the same."""
    values: tuple[int, ...] = ()
    """For any but a document: fingerprints of its large strings."""
    is_delta: bool = False
    """A piece of what a model streams: it may wait for company."""

    @property
    def value(self) -> JSON:
        """What the host handed in, for comparing with what is held."""
        return self.parsed if self.parsed is not UNPARSED else loads(self.data)["record"]

    @property
    def what(self) -> str:
        """Say what it is, for messages."""
        if self.name == StreamRecorded.NAME:
            return f"stream record {self.identity}"
        kind = self.name.rsplit(".", 1)[0]
        return f"{kind} {self.identity}" if self.identity is not None else kind


def large_values(value: JSON, data: bytes) -> tuple[int, ...]:
    """Give the fingerprints of the large strings of a value, `data` its bytes."""
    return fingerprints(value) if len(data) >= WORTH_LOOKING else ()


def imported(offer: Offer, recorded_at: int | None) -> Offer:
    """Mark an offer as coming from another journal, which recorded it at that time."""
    mark = Imported(recorded_at=recorded_at).model_dump(exclude_none=True)
    return _noted(offer, "imported", mark)


def marked(offer: Offer, paths: Sequence[str]) -> Offer:
    """Mark an offer as redacted at these paths; without any it stays as it is."""
    return _noted(offer, "redacted", list(paths)) if paths else offer


def redacted(
    redactor: Redactor | None,
    kind: str,
    offer: Offer,
    make: Callable[[JSON], Offer],
    *,
    below: tuple[str, ...] = (),
) -> Offer:
    """Let the hook see what is offered, and offer what it leaves.

    Args:
        redactor: None where the journal has no hook.
        kind: what the hook is told that the record is.
        offer: a valid offer of the record as it was handed in.
        make: makes the offer of the value that is left, with all checks.
        below: keys of the offer's value that lead to the record.

    Raises:
        RedactionFailed: the hook failed, or what it left is refused.
    """
    if redactor is None:
        return offer
    value, paths = redactor.redact(offer.value, kind, below)
    if not paths and offer.chain is None:
        return offer
    with redactor.blamed(kind):
        made = make(value)
    if (made.stream, made.identity) != (offer.stream, offer.identity):
        raise RedactionFailed(kind, "$", "its ids and its sequence must stay as they are")
    return marked(made, paths)


def _noted(offer: Offer, key: str, note: JSON) -> Offer:
    if offer.chain is not None:
        return offer._replace(fields={**offer.fields, key: note})
    facts = offer.data[:-1] + b"," if offer.data != b"{}" else b"{"
    return offer._replace(data=facts + dumps(key) + b":" + dumps(note) + b"}")
