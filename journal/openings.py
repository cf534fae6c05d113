"""How runs begin, and what a run was opened with."""

from __future__ import annotations

from typing import Any

from journal import facts, offers
from journal.errors import CorruptEvent, InvalidRecord, RunConflict, RunNotFound
from journal.events import CheckpointTaken, RunOpened
from journal.ids import Version, run_stream
from journal.offers import Offer
from journal.reader import Reader


class Openings:
    """Looks up what runs were opened with, and offers to open those that are new."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def offer(
        self, run_id: str, session_id: str | None, conversation_id: str | None
    ) -> list[Offer]:
        """Offer the events that open a run; empty for one that exists.

        Raises:
            RunConflict: it exists in another session or conversation.
            InvalidRecord: an id is empty, or a new run has no session.
        """
        offers.check_id(run_id, "run id")
        for value, what in ((session_id, "session id"), (conversation_id, "conversation id")):
            if value is not None:
                offers.check_id(value, what)
        held = self.held(run_id)
        if held is None:
            if session_id is None:
                raise InvalidRecord("run", "$.session_id", f"new run {run_id!r} needs a session id")
            return facts.opening(run_id, session_id, conversation_id)
        for field, offered in (("session", session_id), ("conversation", conversation_id)):
            if offered is None:
                continue
            was = held.get(f"{field}_id") or self._first(run_id, f"{field}_id")
            if was is not None and was != offered:
                raise RunConflict(run_id, field, was, offered)
        return []

    def known(self, run_id: str) -> dict[str, Any]:
        """Give what a run was opened with.

        Raises:
            RunNotFound: nothing of it was ever recorded.
        """
        held = self.held(offers.check_id(run_id, "run id"))
        if held is None:
            raise RunNotFound(run_id)
        return held

    def held(self, run_id: str) -> dict[str, Any] | None:
        """Give what a run was opened with; None for an unknown run."""
        if not self._reader.has_run(run_id):
            return None
        first = self._reader.event(run_stream(run_id), Version(1))
        if first is None or first.name != RunOpened.NAME:
            raise CorruptEvent(run_stream(run_id), 1, "missing, or not the opening of a run")
        return first.data

    def _first(self, run_id: str, field: str) -> str | None:
        """Give what the run's first checkpoint says, for a run opened without it."""
        taken = self._reader.first_run_event(run_id, (CheckpointTaken.NAME,))
        return None if taken is None else taken.data.get(field)
