"""Offers of documents: records that hold a whole state, and are kept as differences.

A run that takes one document after the other remembers the last, so that one costs what is
new in it (`journal.last_document`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from journal.errors import InvalidRecord, brief
from journal.events import (
    CheckpointTaken,
    ContextExported,
    EnvironmentExported,
    EnvironmentReferenced,
    SessionRunAdded,
    SessionRunChanged,
    SessionSaved,
    SessionStatusChanged,
)
from journal.ids import StreamId, run_stream, session_stream
from journal.json_door import JSON, dumps
from journal.json_text import MAX_INT
from journal.last_document import LastDocument, LastDocuments
from journal.offers.offer import ENVIRONMENT_CHAIN, NO_FIELDS, STATE_CHAIN, Offer, redacted
from journal.offers.reading import Source, as_object, check_revision, plain, read
from journal.records import (
    CHECKPOINT,
    ENVIRONMENT_STATE,
    RESUMABLE_STATE,
    SESSION_RECORD,
    durable_ids,
    unwrap,
    validate_checkpoint,
    validate_context_state,
    validate_environment_state,
    validate_session,
)
from journal.redact import Redactor


def checkpoint(
    source: Source,
    run_id: str | None = None,
    *,
    memory: LastDocuments | None = None,
    redactor: Redactor | None = None,
) -> Offer:
    """Offer a checkpoint of the run it names, which must be `run_id` where that is given.

    Args:
        memory: of the open run.
    """
    if redactor is None:
        return _checkpoint(source, run_id, memory)
    made = _checkpoint(source, run_id, None)
    return redacted(redactor, "checkpoint", made, lambda value: _checkpoint(value, run_id, memory))


def _checkpoint(source: Source, run_id: str | None, memory: LastDocuments | None) -> Offer:
    document = _document(source, "checkpoint", memory)
    value, _ = unwrap(document.value, CHECKPOINT)
    size = document.size
    if value is not document.value:
        size -= len(dumps({**document.value, "payload": 0})) - 1
    _check_state(validate_checkpoint, value, ("state",), document)
    if run_id not in (None, value["run_id"]):
        raise InvalidRecord(
            "checkpoint", "$.run_id", f"{value['run_id']!r}, but it was given to run {run_id!r}"
        )
    if memory is not None:
        memory.keep("checkpoint", document)
    state, resume = value["state"], value["resume"]
    return Offer(
        run_stream(value["run_id"]),
        CheckpointTaken.NAME,
        value,
        identity=f"checkpoint:{value['checkpoint_id']}",
        chain=STATE_CHAIN,
        size=size,
        fields={
            "checkpoint_id": value["checkpoint_id"],
            "conversation_id": value["conversation_id"],
            "node": value["node"],
            "status": state["status"],
            "step": value["run_step"],
            "messages": len(state["message_history"]),
            "stream_cursor": resume["cursor"].get("stream_cursor"),
            "trace_context": resume.get("trace_context") or None,
        },
    )


def context(
    session_id: str,
    run_id: str | None,
    source: Source,
    *,
    memory: LastDocuments | None = None,
    redactor: Redactor | None = None,
) -> Offer:
    """Offer an exported context state, kept as it was handed in, enveloped or bare.

    The durable ids in its metadata, where it has them, must be those it is recorded under.

    Args:
        memory: of the open run.
    """
    if redactor is None:
        return _context(session_id, run_id, source, memory)
    made = _context(session_id, run_id, source, None)
    return redacted(
        redactor,
        "context_state",
        made,
        lambda value: _context(session_id, run_id, value, memory),
        below=_below(made, RESUMABLE_STATE),
    )


def _context(
    session_id: str, run_id: str | None, source: Source, memory: LastDocuments | None
) -> Offer:
    document = _document(source, "context state", memory)
    state, _ = unwrap(document.value, RESUMABLE_STATE)
    _check_state(validate_context_state, state, (), document)
    for what, claimed, owner in zip(
        ("session", "run"), durable_ids(state), (session_id, run_id), strict=True
    ):
        if claimed is not None and owner is not None and claimed != owner:
            path = f'$.metadata["starweaver.durable_{what}_id"]'
            reason = f"{claimed!r}, but the state was given to {what} {owner!r}"
            raise InvalidRecord("context state", path, reason)
    if memory is not None:
        memory.keep("context state", document)
    history = state.get("message_history")
    return Offer(
        _owned(session_id, run_id),
        ContextExported.NAME,
        document.value,
        chain=STATE_CHAIN,
        size=document.size,
        fields={"messages": None if history is None else len(history)},
        last_of=_last_of(ContextExported.NAME, run_id=run_id),
    )


def environment(
    session_id: str,
    run_id: str | None,
    source: Source,
    *,
    stream_cursor: int | None = None,
    redactor: Redactor | None = None,
) -> Offer:
    """Offer an exported environment state, kept as it was handed in, enveloped or bare.

    Args:
        stream_cursor: sequence of the last stream record before the export, where that is known.
    """
    if stream_cursor is not None:
        _check_anchor(stream_cursor, run_id)
    value, raw = read(source, "environment state")
    validate_environment_state(unwrap(value, ENVIRONMENT_STATE)[0])
    made = Offer(
        _owned(session_id, run_id),
        EnvironmentExported.NAME,
        value,
        chain=ENVIRONMENT_CHAIN,
        fields=NO_FIELDS if stream_cursor is None else {"stream_cursor": stream_cursor},
        size=len(raw),
        last_of=_last_of(EnvironmentExported.NAME, EnvironmentReferenced.NAME, run_id=run_id),
    )
    return redacted(
        redactor,
        "environment_state",
        made,
        lambda value: environment(session_id, run_id, value, stream_cursor=stream_cursor),
        below=_below(made, ENVIRONMENT_STATE),
    )


_OF_SESSION = (
    ContextExported.NAME,
    EnvironmentExported.NAME,
    EnvironmentReferenced.NAME,
    SessionRunAdded.NAME,
    SessionRunChanged.NAME,
    SessionSaved.NAME,
    SessionStatusChanged.NAME,
)
"""Names of the events that change what a session's record says."""


def session(
    source: Source, redactor: Redactor | None = None, *, revision: int | None = None
) -> Offer:
    """Offer a session record.

    Args:
        revision: the session's with it, where another store counted that.
    """
    check_revision(revision, "session")
    document = _document(source, "session", None)
    value, _ = unwrap(document.value, SESSION_RECORD)
    validate_session(value)
    made = Offer(
        session_stream(value["session_id"]),
        SessionSaved.NAME,
        value,
        chain=STATE_CHAIN,
        fields=NO_FIELDS if revision is None else {"revision": revision},
        size=document.size if value is document.value else len(dumps(value)),
        last_of=_OF_SESSION,
    )
    return redacted(redactor, "session", made, lambda value: session(value, revision=revision))


def _document(source: Source, what: str, memory: LastDocuments | None) -> LastDocument:
    # One level for an envelope.
    if memory is None:
        value, raw = read(source, what, wrapped=1)
        return LastDocument(value, len(raw), {})
    document = memory.accept(what, plain(source), wrapped=1)
    as_object(document.value, what)
    return document


def _check_state(
    validate: Callable[[JSON], None], value: JSON, keys: tuple[str, ...], document: LastDocument
) -> None:
    """Validate a record; messages that the last one had were validated with it.

    Args:
        keys: lead from the record to the object with the message history.
    """
    holder: Any = value
    for key in keys:
        holder = holder.get(key) if type(holder) is dict else None
    history = holder.get("message_history") if type(holder) is dict else None
    new = document.new_in(history) if type(history) is list else history
    if new is not history:
        shorter = {**holder, "message_history": new}
        for key in reversed(keys):
            shorter = {**value, key: shorter}
        try:
            validate(shorter)
        except InvalidRecord:
            pass  # the whole of it tells the place
        else:
            return
    validate(value)


def _check_anchor(stream_cursor: JSON, run_id: str | None) -> None:
    what, path = "exported environment state", "$.stream_cursor"
    if type(stream_cursor) is not int or not 0 <= stream_cursor <= MAX_INT:
        reason = f"an integer from 0 to 2^64-1 is needed, found {brief(stream_cursor)}"
        raise InvalidRecord(what, path, reason)
    if run_id is None:
        raise InvalidRecord(what, path, "that of a session has no place in a run's stream")


def _below(offer: Offer, schema: str) -> tuple[str, ...]:
    payload, _ = unwrap(offer.value, schema)
    return () if payload is offer.value else ("payload",)


def _last_of(*names: str, run_id: str | None) -> tuple[str, ...]:
    """Name the events after which a state that was exported before is exported anew.

    A session's state is also set by its records, and by the evidence of its runs.
    """
    if run_id is not None:
        return names
    return (*names, SessionSaved.NAME, SessionRunChanged.NAME)


def _owned(session_id: str, run_id: str | None) -> StreamId:
    return session_stream(session_id) if run_id is None else run_stream(run_id)
