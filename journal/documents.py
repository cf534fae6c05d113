"""Documents held as differences: a checkpoint costs what changed.

Each checkpoint or exported context is the difference from the run's previous one; the
first of a run from the last one of its session. A chain of differences ends at a document
held whole (its delta applies to null and it has no base). A new whole one is written when
the deltas since the last outgrow twice the document itself, so that a rebuild reads at most
about three times what it answers, and a run that only grows is hardly ever written whole.

Where the run that a document is based on is dropped (`journal.dropping`), the document was
copied before, whole, into its own stream: a `document.copied` event takes the base's place.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from journal.codec import RecordedEvent, decode
from journal.difference import DifferenceError, Sources, apply, diff
from journal.errors import BrokenBase, CorruptEvent
from journal.events import ENVIRONMENT_DOCUMENTS, STATE_DOCUMENTS
from journal.ids import StreamId, Version
from journal.json_door import JSON, dumps
from journal.stores.interface import Store

GROWTH = 2
"""Deltas in a chain may weigh this many times the document before it is held whole."""

SMALL = 16 * 1024
"""Bytes of deltas that are never worth writing a document whole."""

NEAR = 64
"""Events of a chain read at once."""

MAX_RUNS = 16
"""Other runs a rebuild may read; bounds what one damaged run makes unreadable."""


DOCUMENTS = (*STATE_DOCUMENTS, *ENVIRONMENT_DOCUMENTS)
"""Names of the events that hold a document."""

Place: TypeAlias = tuple[StreamId, Version]
"""Where an event stands: its stream and its version there."""


@dataclass(frozen=True, slots=True)
class Tip:
    """The last document of a chain: what the next one is compared with."""

    stream: StreamId
    version: Version
    document: JSON
    """Frozen: the next one may share its parts."""
    size: int
    """Length of the document's compact encoding, in bytes."""
    chain_bytes: int
    chain_runs: int
    sources: Sources = field(default_factory=Sources)
    """Finds parts of this document, and of the next; not safe for threads."""


def next_fields(tip: Tip | None, stream: StreamId, document: JSON, size: int) -> dict[str, Any]:
    """Choose how to hold the next document of a chain.

    Args:
        tip: the chain so far; None starts one.
        stream: where the event will stand.
        document: the accepted document.
        size: its compact encoding's length in bytes.

    Returns:
        The fields of `journal.events.Document`.
    """
    if tip is not None:
        foreign = tip.stream != stream
        runs = tip.chain_runs + foreign
        if runs <= MAX_RUNS:
            delta = diff(tip.document, document, tip.sources)
            chain = tip.chain_bytes + len(dumps(delta))
            if chain <= max(SMALL, GROWTH * size):
                fields = {"delta": delta, "base_version": tip.version}
                if foreign:
                    fields["base_stream"] = tip.stream
                return fields | {"chain_bytes": chain, "chain_runs": runs}
    return {"delta": diff(None, document), "chain_bytes": 0, "chain_runs": 0}


def next_tip(
    tip: Tip | None, stream: StreamId, version: Version, document: JSON, size: int
) -> tuple[dict[str, Any], Tip]:
    """Hold the next document of a chain; it is the tip then.

    Returns:
        The fields of `next_fields`, and the new tip.
    """
    held = next_fields(tip, stream, document, size)
    sources = tip.sources if tip is not None and tip.stream == stream else Sources()
    chain = held["chain_bytes"], held["chain_runs"]
    return held, Tip(stream, version, document, size, *chain, sources)


class Known(Protocol):
    """Documents that need not be rebuilt; treat them as frozen."""

    def get(self, place: Place) -> tuple[JSON] | None:
        """Give the document of an event, where it is known."""
        ...

    def nearest(self, place: Place) -> Version:
        """Tell the last version at or below one whose document may be known; 0 for none."""
        ...

    def put(self, place: Place, document: JSON) -> None:
        """Take a document that was rebuilt."""
        ...


class Documents:
    """Rebuilds documents from their chains."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rebuild(self, event: RecordedEvent, known: Known | None = None) -> JSON:
        """Rebuild the document of one event.

        Args:
            event: a checkpoint or an exported state.
            known: documents rebuilt before, which shorten the way; this one is added.

        Raises:
            CorruptEvent: the event's own run is damaged.
            BrokenBase: a run it builds on is damaged; the error names both.
        """
        try:
            return self._rebuild(event, known if known is not None else Walk(0))
        except CorruptEvent as error:
            if error.stream == event.stream:
                raise
            raise BrokenBase(event.stream, event.version, error.stream, error.reason) from error

    def tip(self, event: RecordedEvent) -> Tip:
        """Rebuild the document of one event as the tip of its chain."""
        document = self.rebuild(event)
        return Tip(
            event.stream,
            event.version,
            document,
            len(dumps(document)),
            event.data["chain_bytes"],
            event.data.get("chain_runs", 0),
        )

    def _rebuild(self, event: RecordedEvent, known: Known) -> JSON:
        chain = [event]
        document: JSON = None
        near: dict[Place, RecordedEvent] = {}
        while (base := _base(chain[-1])) is not None:
            held = known.get(base)
            if held is not None:
                document = held[0]
                break
            if base not in near:
                near = self._near(base, known.nearest(base))
            if base not in near:
                chain, document = self._past_the_gap(chain)
                break
            chain.append(_checked_base(chain[-1], near[base]))
        for link in reversed(chain):
            try:
                document = apply(document, link.data["delta"])
            except (DifferenceError, KeyError, TypeError) as error:
                reason = f"its difference does not fit: {error}"
                raise CorruptEvent(link.stream, link.version, reason) from error
        known.put((event.stream, event.version), document)
        return document

    def _past_the_gap(self, chain: list[RecordedEvent]) -> tuple[list[RecordedEvent], JSON]:
        """Give what is left to apply to a copied document of a chain that breaks off.

        Raises:
            CorruptEvent: no document of the chain was copied.
        """
        for at in range(len(chain) - 1, -1, -1):
            link = chain[at]
            if link.data.get("base_stream", link.stream) != link.stream:
                copy = self._store.find(link.stream, identity_of_copy(link.version))
                if copy is not None:
                    return chain[:at], _copied(decode(copy))
        place = _base(chain[-1])
        assert place is not None  # noqa: S101 - it was looked for
        raise CorruptEvent(*place, f"no document, but a base of {chain[-1].stream!r}")

    def _near(self, base: Place, after: Version) -> dict[Place, RecordedEvent]:
        """Read a base and, at once, the documents before it, which it is likely built on.

        Args:
            after: below the base, the version from which on documents are needed.
        """
        stream, version = base
        page = self._store.read_stream(
            stream,
            after=min(after, Version(version - 1)),
            upto=version,
            names=DOCUMENTS,
            newest_first=True,
            limit=NEAR,
        )
        return {(stream, row.version): decode(row) for row in page}


def identity_of_copy(version: int, stream: StreamId | None = None) -> str:
    """Give the identity of a copy (`document.copied`).

    Args:
        version: of the event whose document it is.
        stream: of that event, where the copy stands in another one.
    """
    return f"copied:{version}" if stream is None else f"copied:{version}:{stream}"


def _copied(copy: RecordedEvent) -> JSON:
    try:
        return apply(None, copy.data["delta"])
    except (DifferenceError, KeyError, TypeError) as error:
        reason = f"no copy of a document: {error}"
        raise CorruptEvent(copy.stream, copy.version, reason) from error


def _checked_base(event: RecordedEvent, base: RecordedEvent) -> RecordedEvent:
    if base.position >= event.position:
        raise CorruptEvent(event.stream, event.version, "it names a later event as its base")
    return base


class Walk:
    """Documents rebuilt on a walk along events, so that the next costs one difference.

    Treat what it hands out as frozen: the next document shares what is unchanged.
    """

    def __init__(self, room: int = 4) -> None:
        """Remember the last `room` documents."""
        self._room = room
        self._held: OrderedDict[Place, JSON] = OrderedDict()

    def get(self, place: Place) -> tuple[JSON] | None:
        """Give the document of an event when it is remembered."""
        return (self._held[place],) if place in self._held else None

    def nearest(self, place: Place) -> Version:
        """Tell the last version at or below one that is remembered; 0 for none."""
        stream, version = place
        known = (at for of, at in self._held if of == stream and at <= version)
        return max(known, default=Version(0))

    def put(self, place: Place, document: JSON) -> None:
        """Remember a document; the oldest goes when there is no more room."""
        self._held[place] = document
        if len(self._held) > self._room:
            self._held.popitem(last=False)


def _base(event: RecordedEvent) -> Place | None:
    version = event.data.get("base_version")
    if version is None:
        return None
    stream = event.data.get("base_stream", event.stream)
    if type(version) is not int or type(stream) is not str:
        raise CorruptEvent(event.stream, event.version, "it names no event as its base")
    return StreamId(stream), Version(version)
