"""The view of a run at a cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from journal.errors import CorruptEvent
from journal.ids import Version, run_stream
from journal.json_door import equal
from journal.reader import Reader
from journal.records.message import response_as_message
from journal.records.usage import add_usage
from projections.children import Child
from projections.cursors import Cursor
from projections.documents import Documents
from projections.fold import RunFold
from projections.live import Live, live
from projections.message_places import Cut
from projections.order import BEFORE_RECORDS, shaped
from projections.redaction import Redaction, redactions

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
    tail: tuple[dict[str, Any], ...]
    """The stream records after the checkpoint, in order, those of children too."""
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
    deferred tool calls that are shown here."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.view` object that `runjournal replay --json` prints."""
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
            "tail": list(self.tail),
            "live": self.live.to_json(),
            "children": [child.to_json() for child in self.children],
            "context_state": self.context_state,
            "environment_state": self.environment_state,
            "approvals": list(self.approvals),
            "deferred_tools": list(self.deferred_tools),
            "trace_context": self.trace_context,
            "redacted": [one.to_json() for one in self.redacted],
        }


def build_view(
    reader: Reader, run_id: str, cursor: Cursor, fold: RunFold, cut: Cut | None
) -> RunView:
    """Make the view of a run where a fold ended.

    Args:
        cut: for a cursor into a jump of the number of messages.

    Raises:
        CorruptEvent, BrokenBase: a document cannot be rebuilt, or the run has no opening.
    """
    last = fold.last
    if last is None or fold.session_id is None:
        raise CorruptEvent(run_stream(run_id), Version(1), "it does not open a run")
    documents = Documents(reader)
    state = documents.inner(fold.checkpoint, "state") or {}
    histories = [documents.history(fold.checkpoint)]
    if fold.history is not fold.checkpoint:
        histories.append(documents.history(fold.history))
    messages = histories[-1] + [response_as_message(answer) for answer in fold.responses]
    epoch = fold.messages.epoch
    if cut is not None:
        messages = documents.history(cut.event)[: cut.messages]
        epoch = cut.epoch
    with shaped(fold.checkpoint or last.event):
        doing = live(fold, state, histories)
        add_usage(doing.usage, {})  # counters, or it is no usage
    response = fold.progress.streamed.response
    return RunView(
        run_id=run_id,
        session_id=fold.session_id,
        conversation_id=fold.conversation_id,
        cursor=CursorReached(
            requested=str(cursor),
            version=last.version,
            stream=None if last.anchor == BEFORE_RECORDS else last.anchor,
            message=len(messages),
            epoch=epoch,
            checkpoint_id=documents.member(fold.checkpoint, "checkpoint_id"),
            derived=cut is not None,
        ),
        checkpoint=documents.of(fold.checkpoint),
        evidence=documents.inner(fold.checkpoint, "resume"),
        messages=tuple(messages),
        tail=tuple(fold.tail),
        live=doing,
        streaming=response is None or not _holds(messages, response),
        children=fold.children.listed(),
        context_state=documents.of(fold.context),
        environment_state=documents.of(fold.environment),
        approvals=tuple(fold.approvals.values()),
        deferred_tools=tuple(fold.deferred_tools.values()),
        trace_context=fold.trace,
        redacted=redactions(
            [
                fold.checkpoint,
                fold.context,
                fold.environment,
                *fold.waits.values(),
                *fold.redacted_tail,
                None if cut is None else cut.event,
            ]
        ),
    )


def _holds(messages: Sequence[dict[str, Any]], response: dict[str, Any]) -> bool:
    """Tell whether a history has a response, by its parts: a host adds its ids and the time."""
    parts = response.get("parts")
    return any(
        message.get("kind") == "response" and equal(message.get("parts"), parts)
        for message in reversed(messages)
    )
