"""Where a term entered a run, and everywhere it went from there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from journal.codec import RecordedEvent
from journal.documents import DOCUMENTS, Walk
from journal.errors import InvalidFilter
from journal.events import (
    CheckpointTaken,
    ContextExported,
    DocumentCopied,
    RunArchived,
    RunLeaseTaken,
    StreamRecorded,
)
from journal.reader import Reader
from journal.times import format_time
from projections.audit.excerpts import AROUND, Excerpt, excerpt
from projections.audit.filters import AuditFilter, check_text
from projections.audit.known_runs import KnownRuns
from projections.audit.leaves import Path, new_leaves, shown
from projections.audit.stream_tails import Piece, StreamTails
from projections.blame import blamed_on
from projections.order import Entry, shaped
from projections.reading import HasReader
from projections.run_index import RunIndex
from projections.run_log import unversioned

MOST = 1000
"""Characters of a term."""

_ROLES: Final = {
    "model_stream": "delta",
    "model_response": "response",
    "tool_call": "arguments",
    "tool_return": "result",
    "run_complete": "output",
}
"""What carries a term in a stream record, by its kind; `record` in any other."""

_OURS: Final = frozenset((DocumentCopied.NAME, RunArchived.NAME, RunLeaseTaken.NAME))
"""Events that hold nothing of the host's that is not held elsewhere."""

_KINDS_THAT_RESTART: Final = ("model_request", "model_response")


@dataclass(frozen=True, slots=True)
class TermPlace:
    """A text in a run that holds the term."""

    run_id: str
    """Of a fork that inherits it: the run it was recorded in."""
    place: str
    """Cursor to replay that run to: `stream:N`, or `version:V` before the first record."""
    version: int
    recorded_at: int
    """Microseconds since the epoch."""
    kind: str
    """Of the record, such as `tool_return`; else the stored name without its version."""
    role: str
    """What carries it: `delta` (of the model's stream), `response`, `arguments` (of a tool call),
    `result` (of a tool), `output` (of the run), `record` (any other); `message` (of the history
    in a checkpoint), `state` (anything else in one), `context` or `environment` (as exported);
    `event` (any other fact)."""
    path: str
    """Where in the record, the document or the event."""
    child_run_id: str | None
    """Of a merged record of a child run, where it tells its id."""
    agent: str | None
    """Name of the child's agent, where a child recorded it."""
    entered: bool
    """Whether it is the first of all."""
    began: str | None
    """Where a term that is split across deltas begins; None where it is not."""
    count: int
    """How often the text holds the term."""
    excerpt: Excerpt
    """The first of them."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.term_place` object."""
        return {
            "schema": "runjournal.audit.term_place",
            "schema_version": 1,
            "run_id": self.run_id,
            "place": self.place,
            "version": self.version,
            "recorded_at": format_time(self.recorded_at),
            "kind": self.kind,
            "role": self.role,
            "path": self.path,
            "child_run_id": self.child_run_id,
            "agent": self.agent,
            "entered": self.entered,
            "began": self.began,
            "count": self.count,
            "excerpt": self.excerpt.to_json(),
        }


def term_pattern(term: str, *, exact: bool) -> re.Pattern[str]:
    """Make what finds a term.

    Raises:
        InvalidFilter: it is empty, longer than `MOST`, or no text.
    """
    check_text("term", term)
    if not term:
        raise InvalidFilter("term", term, "expected at least one character")
    if len(term) > MOST:
        reason = f"it has {len(term)} characters, and {MOST} are the most; look for a part of it"
        raise InvalidFilter("term", term, reason)
    return re.compile(re.escape(term), re.NOFLAG if exact else re.IGNORECASE)


def find_term(
    journal: HasReader, run_id: str, term: str, pattern: re.Pattern[str]
) -> Iterator[TermPlace]:
    """Yield the places of a term in logical order; see `Audit.term`."""
    index = RunIndex(journal, run_id)
    finder = _Finder(journal.reader, term, pattern)
    entered = True
    with blamed_on(index.stream):
        for of, reach in index.levels(index.whole):
            for entry in of.entries(reach):
                with shaped(entry.event):
                    for place in finder.places(entry):
                        yield replace(place, run_id=of.run_id, entered=entered)
                        entered = False


def narrowed(
    known: KnownRuns, run_id: str, asked: AuditFilter, places: Iterator[TermPlace]
) -> Iterator[TermPlace]:
    """Give the places in a run that a filter takes in; the run stands for those it inherits."""
    facts = known.facts(run_id)
    taken = facts is None or (
        asked.run in (None, run_id)
        and asked.session in (None, facts.session_id)
        and known.is_asked(run_id, asked)
    )
    return (place for place in places if asked.takes(place.recorded_at)) if taken else iter(())


class _Finder:
    """Looks through the entries of a run, in logical order."""

    def __init__(self, reader: Reader, term: str, pattern: re.Pattern[str]) -> None:
        self._reader = reader
        self._walk = Walk()
        self._pattern = pattern
        self._length = len(term)
        self._tails = StreamTails(len(term) - 1 + AROUND)
        self._before: dict[str, Any] = {}
        """The last document of each name."""

    def places(self, entry: Entry) -> Iterator[TermPlace]:
        """Yield the places in an entry.

        Raises:
            AttributeError, KeyError, TypeError: it has another shape than its name promises.
        """
        event = entry.event
        name, data = event.name, event.data
        if name == StreamRecorded.NAME:
            yield from self._record(entry, data["record"])
        elif name in DOCUMENTS:
            yield from self._document(entry)
        elif name not in _OURS:
            said = {key: data[key] for key in data if key not in ("imported", "redacted")}
            for path, text in new_leaves(said):
                yield from self._found(entry, unversioned(name), "event", path, text)

    def _record(self, entry: Entry, record: dict[str, Any]) -> Iterator[TermPlace]:
        event, source = record["event"], record.get("source")
        kind = event["kind"]
        child = agent = None
        if source is not None:
            child, agent = source.get("run_id"), source["agent_name"]
        streaming = (child, agent, None if source is None else source.get("task_id"))
        found: Iterator[TermPlace]
        piece = None
        if kind == "model_stream":
            piece = self._tails.delta(streaming, event["event"], entry.anchor)
        elif kind in _KINDS_THAT_RESTART or _resumes(event):
            self._tails.restart(streaming)
        if piece is not None:
            found = self._piece(entry, piece, event["event"]["delta_kind"])
        else:
            role = _ROLES.get(kind, "record")
            said = {key: event[key] for key in event if key != "kind"}
            found = (
                place
                for path, text in new_leaves(said)
                for place in self._found(entry, kind, role, path, text)
            )
        for place in found:
            yield replace(place, child_run_id=child, agent=agent)

    def _piece(self, entry: Entry, piece: Piece, delta_kind: str) -> Iterator[TermPlace]:
        # What was complete before was told before.
        start = max(0, piece.added - self._length + 1)
        path: Path = ("event", delta_kind)
        for place in self._found(entry, "model_stream", "delta", path, piece.text, start):
            at = self._pattern.search(piece.text, start)
            assert at is not None  # noqa: S101 - it was found
            if at.start() < piece.added:
                yield replace(place, began=f"stream:{piece.began(at.start())}")
            else:
                yield place

    def _document(self, entry: Entry) -> Iterator[TermPlace]:
        event = entry.event
        document = self._reader.document(event, self._walk)
        before = self._before.get(event.name)
        for path, text in new_leaves(document) if before is None else new_leaves(document, before):
            yield from self._found(entry, unversioned(event.name), _role(event, path), path, text)
        self._before[event.name] = document

    def _found(  # noqa: PLR0913, PLR0917 - what a place is made of
        self, entry: Entry, kind: str, role: str, path: Path, text: str, start: int = 0
    ) -> Iterator[TermPlace]:
        first = self._pattern.search(text, start)
        if first is None:
            return
        event = entry.event
        yield TermPlace(
            "",
            f"version:{event.version}" if entry.anchor < 0 else f"stream:{entry.anchor}",
            event.version,
            event.recorded_at,
            kind,
            role,
            shown(path),
            None,
            None,
            entered=False,
            began=None,
            count=sum(1 for _ in self._pattern.finditer(text, start)),
            excerpt=excerpt(text, *first.span()),
        )


def _resumes(event: dict[str, Any]) -> bool:
    inner = event["event"] if event["kind"] == "custom" else {}
    return inner.get("kind") == "model_stream_resume"


def _role(event: RecordedEvent, path: Path) -> str:
    if event.name == CheckpointTaken.NAME:
        return "message" if path[:2] == ("state", "message_history") else "state"
    return "context" if event.name == ContextExported.NAME else "environment"
