"""The view of a run at a cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from journal.codec import RecordedEvent
from journal.errors import CannotFork, CorruptEvent
from journal.ids import Version
from journal.json_door import dumps, equal
from journal.lineage import Lineage
from journal.records.message import response_as_message
from journal.records.usage import add_usage
from projections.children import Child
from projections.cursors import Cursor
from projections.documents import Documents
from projections.fold import RunFold
from projections.levels import after_checkpoint, returned_before
from projections.live import Live, live
from projections.locate import Located
from projections.look import LookIntoViews
from projections.looked_up import LookedUp
from projections.order import BEFORE_RECORDS, Ref, shaped, text
from projections.redaction import Redaction, redactions
from projections.run_index import RunIndex
from projections.stored_documents import StoredDocuments
from projections.tail import Tail

SCHEMA = "runjournal.view"
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class CursorReached:
    """The point that a cursor turned out to be."""

    requested: str
    """The cursor's text form."""
    version: int
    """Version of the last event in logical order."""
    stream: int | None
    """Anchor of that event; None before the first record."""
    message: int
    """Number of messages."""
    epoch: int
    """Which stretch of growing messages it is in, from 1."""
    checkpoint_id: str | None
    derived: bool
    """The messages are the first of the state after this point, which never had so few."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.view`."""
        return {
            "requested": self.requested,
            "version": self.version,
            "stream": self.stream,
            "message": self.message,
            "epoch": self.epoch,
            "checkpoint_id": self.checkpoint_id,
            "derived": self.derived,
        }


@dataclass(frozen=True, slots=True)
class RunView:
    """A run at a cursor: what was recorded up to there, and what follows from it.

    JSON in it is the host's own; treat it as frozen.
    """

    run_id: str
    session_id: str
    conversation_id: str | None
    cursor: CursorReached
    checkpoint: dict[str, Any] | None
    """The last checkpoint in logical order (`AgentCheckpoint`), as handed in."""
    evidence: dict[str, Any] | None
    """Its resume evidence (`AgentResumeEvidence`), exactly as recorded."""
    messages: tuple[dict[str, Any], ...]
    """The canonical history: the latest complete one, and the responses after it."""
    tail: Sequence[dict[str, Any]]
    """The stream records after the checkpoint, in order, those of children too; of more than
    1,000, each look reads the journal, which must be open then."""
    tail_left_out: int
    """Number of records before them that were not asked for."""
    live: Live
    streaming: bool
    """Whether `messages` lack the response to what `live` shows as streamed: the model may
    still answer, or was cut short."""
    children: tuple[Child, ...]
    """Child runs merged into the stream, in the order of their first records."""
    context_state: dict[str, Any] | None
    """The context state exported last, as handed in."""
    environment_state: dict[str, Any] | None
    """The environment state exported last, as handed in."""
    approvals: tuple[dict[str, Any], ...]
    """Each approval's latest record, in the order of the requests."""
    deferred_tools: tuple[dict[str, Any], ...]
    """Each deferred tool call's latest record, in the order of the requests."""
    trace_context: dict[str, Any]
    """Of the latest checkpoint or run record that has one; else empty."""
    redacted: tuple[Redaction, ...]
    """Values replaced before they were recorded, in the records, documents, approvals and
    deferred tool calls up to the cursor that belong to the view."""
    origin: Lineage
    """Where the view was taken, as a fork of it would inherit it."""

    @property
    def lineage(self) -> Lineage:
        """What a fork of this view inherits; for `Journal.fork`.

        Raises:
            CannotFork: the run never had exactly these messages.
        """
        if self.cursor.derived:
            reason = f"the run never had exactly {self.cursor.message} messages"
            raise CannotFork(self.run_id, self.cursor.requested, reason)
        return self.origin

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.view` object that `runjournal replay --json` prints."""
        return {**self._before_tail(), "tail": list(self.tail), **self._after_tail()}

    def json_pieces(self) -> Iterator[bytes]:
        """Give the JSON text of `to_json` in pieces, so that a long tail is never held."""
        yield dumps(self._before_tail())[:-1] + b',"tail":['
        for number, record in enumerate(self.tail):
            yield (b"," if number else b"") + dumps(record)
        yield b"]," + dumps(self._after_tail())[1:]

    def _before_tail(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "conversation_id": self.conversation_id,
            "cursor": self.cursor.to_json(),
            "checkpoint": self.checkpoint,
            "evidence": self.evidence,
            "messages": list(self.messages),
        }

    def _after_tail(self) -> dict[str, Any]:
        left_out = {"tail_left_out": self.tail_left_out} if self.tail_left_out else {}
        return {
            **left_out,
            "live": self.live.to_json(),
            "children": [child.to_json() for child in self.children],
            "context_state": self.context_state,
            "environment_state": self.environment_state,
            "approvals": list(self.approvals),
            "deferred_tools": list(self.deferred_tools),
            "trace_context": self.trace_context,
            "redacted": [one.to_json() for one in self.redacted],
        }


def build_view(index: RunIndex, cursor: Cursor, located: Located, tail: int | None) -> RunView:
    """Make the view of a run at a located cursor.

    Args:
        index: of the run that was asked for.
        tail: how many stream records to show, the last ones; None for all.

    Raises:
        CorruptEvent, BrokenBase: a document cannot be rebuilt, or the run has no opening.
    """
    of, reach, cut = located.index, located.reach, located.cut
    looked_up = LookedUp(index.reader)
    fold, newest = of.folded(reach, looked_up.see)
    last = fold.last
    session_id, conversation_id = fold.session_id, fold.conversation_id
    if of is not index:
        session_id, conversation_id = _opened(index, fold)
    if last is None or session_id is None:
        raise CorruptEvent(index.stream, Version(1), "it does not open a run")
    waits = [*fold.approvals.values(), *fold.deferred_tools.values()]
    calls = list(fold.calls.values())
    held = [fold.checkpoint, fold.history, fold.context, fold.environment]
    answer = fold.progress.streamed.response
    after_cut = None if cut is None else cut.event
    looked_up.fetch(
        [*held, *waits, *calls, *fold.responses, *fold.redacted_tail, answer, after_cut]
    )
    documents = Documents(
        index.reader, StoredDocuments(LookIntoViews(index.journal.views, index.reader))
    )
    checkpoint, history, context, environment = (looked_up.one(at) for at in held)
    state = documents.inner(checkpoint, "state") or {}
    histories = [documents.history(checkpoint)]
    if fold.history != fold.checkpoint:
        histories.append(documents.history(history))
    responses = [_response(event) for event in looked_up.all(fold.responses)]
    messages = histories[-1] + [response_as_message(response) for response in responses]
    epoch = fold.messages.epoch
    after = looked_up.one(after_cut)
    if cut is not None:
        messages = documents.history(after)[: cut.messages]
        epoch = cut.epoch
    levels = of.levels(reach)
    [told] = looked_up.all([fold.checkpoint or Ref(of.stream, Version(last[2]))])
    with shaped(told):
        doing = live(
            fold,
            state,
            histories,
            [event.data["record"]["event"]["call"] for event in looked_up.all(calls)],
            lambda call_id: returned_before(levels, fold, call_id),
        )
        add_usage(doing.usage, {})  # counters, or it is no usage
    records = fold.tail_records
    left_out = 0 if tail is None else max(0, records - tail)
    shown = Tail(
        after_checkpoint(levels, fold),
        fold.since,
        records,
        left_out=left_out,
        looked_up=looked_up,
    )
    streaming = answer is None or not (
        (cut is None and answer in fold.responses)
        or _holds(messages, _response(looked_up.all([answer])[0]))
    )
    approvals = looked_up.all(list(fold.approvals.values()))
    deferred = looked_up.all(list(fold.deferred_tools.values()))
    return RunView(
        run_id=index.run_id,
        session_id=session_id,
        conversation_id=conversation_id,
        cursor=CursorReached(
            requested=str(cursor),
            version=last[2],
            stream=None if last[0] == BEFORE_RECORDS else last[0],
            message=len(messages),
            epoch=epoch,
            checkpoint_id=documents.member(checkpoint, "checkpoint_id"),
            derived=cut is not None,
        ),
        checkpoint=documents.of(checkpoint),
        evidence=documents.inner(checkpoint, "resume"),
        messages=tuple(messages),
        tail=shown,
        tail_left_out=left_out,
        live=doing,
        streaming=streaming,
        children=fold.children.listed(),
        context_state=documents.of(context),
        environment_state=documents.of(environment),
        approvals=tuple(event.data["record"] for event in approvals),
        deferred_tools=tuple(event.data["record"] for event in deferred),
        trace_context=fold.trace,
        redacted=redactions(
            [
                *(checkpoint, context, environment, after),
                *looked_up.all([*waits, *fold.redacted_tail]),
            ]
        ),
        origin=Lineage(
            of.run_id, Version(newest), reach.before, reach.until, index.run_id, str(cursor)
        ),
    )


def _opened(index: RunIndex, fold: RunFold) -> tuple[str | None, str | None]:
    """Tell session and conversation of a fork at a cursor before its own first event."""
    [opening] = index.reader.events(index.stream, [1])
    with shaped(opening):
        session_id = text(opening.data["session_id"])
        return session_id, opening.data.get("conversation_id") or fold.conversation_id


def _response(event: RecordedEvent) -> dict[str, Any]:
    with shaped(event):
        response: dict[str, Any] = event.data["record"]["event"]["response"]
        return {**response}


def _holds(messages: Sequence[dict[str, Any]], response: dict[str, Any]) -> bool:
    """Tell whether a history has a response, by its parts: a host adds its ids and the time."""
    parts = response.get("parts")
    return any(
        message.get("kind") == "response" and equal(message.get("parts"), parts)
        for message in reversed(messages)
    )
