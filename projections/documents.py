"""The documents a view shows, each rebuilt once."""

from __future__ import annotations

from typing import Any

from journal.codec import RecordedEvent
from journal.events import ContextExported
from journal.reader import Reader
from journal.records.envelope import RESUMABLE_STATE, unwrap


class Documents:
    """Rebuilds the documents of one run's events, and looks into them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._rebuilt: dict[int, Any] = {}

    def of(self, event: RecordedEvent | None) -> dict[str, Any] | None:
        """Give the document of an event, as the host handed it in; None without an event.

        Raises:
            CorruptEvent, BrokenBase: it cannot be rebuilt.
        """
        if event is None:
            return None
        if event.version not in self._rebuilt:
            self._rebuilt[event.version] = self._reader.document(event)
        document: dict[str, Any] = self._rebuilt[event.version]
        return document

    def history(self, event: RecordedEvent | None) -> list[dict[str, Any]]:
        """Give the message history in a checkpoint or an exported context."""
        document = self.of(event)
        if event is None or document is None:
            return []
        if event.name == ContextExported.NAME:
            state, _ = unwrap(document, RESUMABLE_STATE)
        else:
            state = document["state"]
        history: list[dict[str, Any]] = state["message_history"]
        return history
