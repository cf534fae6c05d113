"""How runs begin, and what a run was opened with."""

from __future__ import annotations

from typing import Any

from journal import facts, offers
from journal.ancestry import opening, source_opening
from journal.compare import opening_difference
from journal.errors import BrokenBase, CorruptEvent, InvalidRecord, RunConflict, RunNotFound
from journal.events import CheckpointTaken, RunForked
from journal.lineage import Lineage
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
        _check_ids(run_id, session_id, conversation_id)
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

    def fork(
        self, lineage: Lineage, run_id: str, session_id: str, conversation_id: str | None
    ) -> list[Offer]:
        """Offer the events that open a run as a fork; empty for one that is this fork.

        Raises:
            RunConflict: the run is no fork, another one, or in another session.
            RunNotFound: nothing of the source was ever recorded.
            InvalidRecord: an id is empty, or the source does not have the events.
        """
        _check_ids(run_id, session_id, conversation_id)
        held = self.held(run_id)
        if held is not None:
            offered = facts.opening(run_id, session_id, conversation_id, lineage)[0].value
            difference = opening_difference(held, offered)
            if difference is not None:
                raise RunConflict(run_id, *difference)
            return []
        must_hold(self._reader, lineage)
        if self.known(lineage.source).get("conversation_id") == conversation_id:
            conversation_id = None
        return facts.opening(run_id, session_id, conversation_id, lineage)

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
        """Give what a run was opened with; None for an unknown run.

        A fork is in the conversation of its source where its own opening does not tell.
        """
        if not self._reader.has_run(run_id):
            return None
        first = opening(self._reader, run_id)
        opened = first.data
        try:
            while first.name == RunForked.NAME and "conversation_id" not in first.data:
                first = source_opening(self._reader, first)
        except (BrokenBase, CorruptEvent):
            return opened  # who reads the fork is told; it can still be written
        return {**opened, "conversation_id": first.data.get("conversation_id")}

    def _first(self, run_id: str, field: str) -> str | None:
        """Give what the run's first checkpoint says, for a run opened without it."""
        taken = self._reader.first_run_event(run_id, (CheckpointTaken.NAME,))
        return None if taken is None else taken.data.get(field)


def _check_ids(run_id: str, session_id: str | None, conversation_id: str | None) -> None:
    offers.check_id(run_id, "run id")
    for value, what in ((session_id, "session id"), (conversation_id, "conversation id")):
        if value is not None:
            offers.check_id(value, what)


def must_hold(reader: Reader, lineage: Lineage) -> None:
    """Check that the events are there that a fork inherits.

    Raises:
        RunNotFound: nothing of the source was ever recorded.
        InvalidRecord: the source ends before them.
    """
    head = reader.head(lineage.source)
    if not head:
        raise RunNotFound(lineage.source)
    if head < lineage.version:
        reason = (
            f"{lineage.version}, but run {lineage.source!r} has only {head} events in this "
            "journal; fork it at a point that was read from this journal"
        )
        raise InvalidRecord("fork", "$.source_version", reason)
