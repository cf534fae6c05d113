"""Copies of documents whose base is dropped: how they are made, and how they travel.

A copy travels as a line that says of which event it is, and no more: the document itself is a
line of its own. So the events of a run keep their versions in every journal.
"""

from __future__ import annotations

from typing import Any

from journal.difference import diff
from journal.documents import DOCUMENTS, identity_of_copy
from journal.errors import InvalidRecord, RecordConflict, brief
from journal.events import DocumentCopied, EventData
from journal.ids import StreamId, Version, run_stream
from journal.json_door import JSON, dumps
from journal.offers import Offer, imported, large_values
from journal.reader import Reader

_WHAT = "event line"


def copy_offer(
    stream: StreamId, version: Version, document: JSON, *, of_stream: StreamId | None = None
) -> Offer:
    """Offer the copy of a document that another event holds.

    Args:
        stream: where the copy will stand.
        version: of that event.
        of_stream: its stream, where it is another one.
    """
    delta = diff(None, document)
    value: EventData = {"version": version}
    if of_stream is not None:
        value["of_stream"] = of_stream
    value |= {"delta": delta, "chain_bytes": 0}
    data = dumps(value)
    identity = identity_of_copy(version, of_stream)
    values = large_values(delta, data)
    return Offer(stream, DocumentCopied.NAME, value, data, identity, values=values)


def is_copy(line: dict[str, Any]) -> bool:
    """Tell whether a line stands for a copy."""
    return bool(line["type"] == "event" and line["name"] == DocumentCopied.NAME)


def copy_of_line(reader: Reader, line: dict[str, Any], recorded_at: int | None) -> list[Offer]:
    """Offer the copy that a line stands for, made of the document that the journal has.

    Returns:
        Nothing where it is there already, and for a line without a version: then the events
        are numbered anew, and no document needs a copy.

    Raises:
        InvalidRecord: the line is wrong, does not follow the run's events, or is of an event
            that holds no document.
        RecordConflict: the journal holds something else at its version.
        RunIsArchived: the run takes no more events.
    """
    if "run_id" not in line:
        raise InvalidRecord(_WHAT, "$.run_id", "missing: copies travel with runs only")
    data = line["data"]
    if type(data) is not dict or [*data] != ["version"] or not _is_version(data["version"]):
        raise InvalidRecord(_WHAT, "$.data", f"expected a version alone, found {brief(data)}")
    version = line.get("version")
    if version is None:
        return []
    if not _is_version(version):
        raise InvalidRecord(_WHAT, "$.version", f"{version!r} is not a version, 1 or more")
    run_id, of = line["run_id"], Version(data["version"])
    stream = run_stream(run_id)
    held = reader.event(stream, Version(version))
    if held is not None:
        if held.name == DocumentCopied.NAME and held.data["version"] == of:
            return []
        raise RecordConflict(run_id, f"copy of {of}", version, "$", held.name, DocumentCopied.NAME)
    head = reader.head(run_id)
    if version != head + 1:
        reason = f"{version}, but run {run_id!r} goes on with {head + 1}"
        raise InvalidRecord(_WHAT, "$.version", reason)
    event = reader.event(stream, of)
    if event is None or event.name not in DOCUMENTS:
        raise InvalidRecord(_WHAT, "$.data.version", f"event {of} holds no document")
    return [imported(copy_offer(stream, of, reader.document(event)), recorded_at)]


def _is_version(value: object) -> bool:
    return type(value) is int and 1 <= value < 2**63
