"""The documents a view shows, each rebuilt once."""

from __future__ import annotations

from typing import Any

from journal.codec import RecordedEvent
from journal.documents import Known
from journal.errors.base import brief
from journal.events import ContextExported
from journal.reader import Reader
from journal.records.envelope import RESUMABLE_STATE, unwrap
from journal.records.message import tool_return_ids
from projections.order import Ref, shaped


class Documents:
    """Rebuilds the documents of events, and looks into them.

    Every look raises `CorruptEvent` or `BrokenBase` where the document cannot be rebuilt, or
    has another shape than was accepted.
    """

    def __init__(self, reader: Reader, known: Known | None = None) -> None:
        self._reader = reader
        self._known = known
        self._rebuilt: dict[Ref, Any] = {}

    def of(self, event: RecordedEvent | None) -> dict[str, Any] | None:
        """Give the document of an event, as the host handed it in; None without an event."""
        if event is None:
            return None
        at = Ref.to(event)
        if at not in self._rebuilt:
            document = self._rebuild(event)
            with shaped(event):
                self._rebuilt[at] = _object(document)
        found: dict[str, Any] = self._rebuilt[at]
        return found

    def _rebuild(self, event: RecordedEvent) -> Any:
        known = None if self._known is None else self._known.get((event.stream, event.version))
        return self._reader.document(event, self._known) if known is None else known[0]

    def member(self, event: RecordedEvent | None, key: str) -> Any:
        """Give a member that every such document has; None without an event."""
        document = self.of(event)
        if event is None or document is None:
            return None
        with shaped(event):
            return document[key]

    def inner(self, event: RecordedEvent | None, key: str) -> dict[str, Any] | None:
        """Give a member that is an object in every such document; None without an event."""
        found = self.member(event, key)
        if event is None:
            return None
        with shaped(event):
            return _object(found)

    def history(self, event: RecordedEvent | None) -> list[dict[str, Any]]:
        """Give the message history in a checkpoint or an exported context."""
        document = self.of(event)
        if event is None or document is None:
            return []
        with shaped(event):
            if event.name == ContextExported.NAME:
                state, _ = unwrap(document, RESUMABLE_STATE)
            else:
                state = document["state"]
            return _history(_object(state)["message_history"], event.data["messages"])


def _object(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise TypeError(f"no object in its document: {brief(value)}")
    return value


def _history(value: Any, messages: Any) -> list[dict[str, Any]]:
    if type(value) is not list or len(value) != messages:
        raise TypeError(f"its history is no list of {messages!r} messages")
    for message in value:
        _object(message)["kind"]
    set(tool_return_ids(value))  # whoever reads the history looks for them
    return value
