"""The journal: every stream record and every checkpoint of a run, as immutable events."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any, Self
from weakref import WeakSet

from journal import commit, facts, offers
from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, InvalidRecord, RunConflict, RunNotFound
from journal.events import (
    CheckpointTaken,
    ResumeReleased,
    RunCommitted,
    RunOpened,
    RunSaved,
    SessionSaved,
)
from journal.ids import Version, run_stream
from journal.offers import Offer, Source
from journal.reader import Reader
from journal.receipt import Receipt
from journal.records import RUN_RECORD, unwrap
from journal.run import Run
from journal.stores import Store, open_store
from journal.writer import Writer


class Journal:
    """An append-only journal of agent runs; safe to use from several threads.

    Open one with `Journal.open`; use it as a context manager or call `close`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._writer = Writer(store)
        self._lock = threading.Lock()
        self._runs: WeakSet[Run] = WeakSet()
        self.reader = Reader(store)
        """The read side: events and documents, for projections and audits."""

    @classmethod
    def open(cls, location: str | os.PathLike[str], *, create: bool = True) -> Self:
        """Open a journal, creating it where it is missing.

        Args:
            location: a path, `sqlite:///path`, or `memory://`.
            create: False to refuse, with `JournalNotFound`, when there is none; then a file
                that cannot be written can still be read.

        Raises:
            JournalNotFound, InvalidLocation, NotAJournal, NewerFormat, GuardsMissing,
            StorageFailed, JournalBusy: see `journal.errors`.
        """
        return cls(open_store(location, create=create))

    @property
    def location(self) -> str:
        """Where the events are: a path or `memory://`."""
        return self._store.location

    def run(
        self,
        run_id: str,
        *,
        session_id: str | None = None,
        conversation_id: str | None = None,
    ) -> Run:
        """Open a new run for writing, or continue one.

        Args:
            run_id: unique in this journal.
            session_id: the session it belongs to; needed for a new run.
            conversation_id: the conversation it belongs to, when known.

        Raises:
            RunConflict: the run exists in another session or conversation.
            InvalidRecord: an id is empty, or a new run has no session.
        """
        opening = self._opening(run_id, session_id, conversation_id)
        if opening:
            self._writer.write(opening)
        held = self._opened(run_id)
        run = Run(
            self._writer,
            run_id,
            held["session_id"],
            held.get("conversation_id") or conversation_id,
        )
        with self._lock:
            self._runs.add(run)
        return run

    def commit_checkpoint(self, session_id: str, checkpoint: Source) -> Receipt:
        """Record a checkpoint, opening its run in the same transaction where it is new."""
        offer = offers.checkpoint(checkpoint)
        taken = offer.value
        opening = self._opening(taken["run_id"], session_id, taken["conversation_id"])
        return self._writer.write([*opening, offer])[-1]

    def commit_run_evidence(self, bundle: Source) -> Receipt:
        """Record a run's evidence: all or nothing, the same bundle again is the same.

        Raises:
            RecordConflict: the run was committed with a different bundle, or one of its
                items is recorded with different JSON.
        """
        value, sha256 = commit.read_bundle(bundle)
        run, _ = unwrap(value["run"], RUN_RECORD)
        opening = self._opening(run["run_id"], run["session_id"], run["conversation_id"])
        return commit.write_bundle(self.reader, self._writer, value, sha256, opening)

    def is_committed(self, run_id: str) -> bool:
        """Tell whether the run's evidence was committed."""
        offers.check_id(run_id, "run id")
        return commit.committed(self.reader, run_id) is not None

    def save_session(self, session: Source) -> Receipt:
        """Record a session record; one equal to the last is the same."""
        return self._writer.write([offers.session(session)])[0]

    def save_run(self, run: Source) -> Receipt:
        """Record a run record, opening the run where it is new."""
        offer = offers.run(run)
        value = offer.value
        opening = self._opening(value["run_id"], value["session_id"], value["conversation_id"])
        return self._writer.write([*opening, offer])[-1]

    def claim_resume(self, claim: Source) -> Receipt:
        """Record a claim to resume a run (`resume claim` of the host's session store)."""
        offer = facts.claim(claim)
        claimed = offer.value["claim"]
        held = self._opened(claimed["run_id"])["session_id"]
        if held != claimed["session_id"]:
            raise RunConflict(claimed["run_id"], "session", held, claimed["session_id"])
        return self._writer.write([offer])[0]

    def release_resume(self, run_id: str, claim_id: str) -> Receipt:
        """Record that a claim to resume a run was given back."""
        self._must_know(run_id)
        fields = {"claim_id": offers.check_id(claim_id, "claim id")}
        offer = facts.fact(run_stream(run_id), ResumeReleased.NAME, fields)
        return self._writer.write([offer])[0]

    def session_record(self, session_id: str) -> dict[str, Any] | None:
        """Give the session record saved last, as handed in; None when none was saved.

        Raises:
            SessionNotFound: nothing of this session was ever recorded.
        """
        offers.check_id(session_id, "session id")
        event = self.reader.last_session_event(session_id, (SessionSaved.NAME,))
        return None if event is None else self.reader.document(event)

    def run_record(self, run_id: str) -> dict[str, Any] | None:
        """Give the run record saved or committed last, as handed in; None without one.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        self._must_know(run_id)
        event = self.reader.last_run_event(run_id, (RunSaved.NAME, RunCommitted.NAME))
        return None if event is None else event.data["run"]

    def close(self) -> None:
        """Release every run and close the store; closing twice does nothing."""
        try:
            with self._lock:
                runs = list(self._runs)
            for run in runs:
                run.release()
        finally:
            self._store.close()

    def write_offers(self, made: list[Offer]) -> list[Receipt]:
        """Write prepared offers in one transaction; for `journal.ingest`."""
        return self._writer.write(made)

    def is_same(self, offer: Offer, event: RecordedEvent) -> bool:
        """Tell whether a recorded event is what is offered; for `journal.ingest`."""
        return self._writer.is_same(offer, event)

    def opening(self, run_id: str, session_id: str | None) -> list[Offer]:
        """Prepare the events that open a run; empty for one that exists."""
        return self._opening(run_id, session_id, None)

    def _opening(
        self, run_id: str, session_id: str | None, conversation_id: str | None
    ) -> list[Offer]:
        offers.check_id(run_id, "run id")
        for value, what in ((session_id, "session id"), (conversation_id, "conversation id")):
            if value is not None:
                offers.check_id(value, what)
        held = self._held(run_id)
        if held is not None:
            for field, offered in (("session", session_id), ("conversation", conversation_id)):
                was = held.get(f"{field}_id") or self._first(run_id, f"{field}_id")
                if offered is not None and was is not None and was != offered:
                    raise RunConflict(run_id, field, was, offered)
            return []
        if session_id is None:
            raise InvalidRecord("run", "$.session_id", f"new run {run_id!r} needs a session id")
        return facts.opening(run_id, session_id, conversation_id)

    def _first(self, run_id: str, field: str) -> str | None:
        """Give what the run's first checkpoint says, for a run opened without it."""
        taken = self.reader.first_run_event(run_id, (CheckpointTaken.NAME,))
        return None if taken is None else taken.data.get(field)

    def _opened(self, run_id: str) -> dict[str, Any]:
        held = self._held(offers.check_id(run_id, "run id"))
        if held is None:
            raise RunNotFound(run_id)
        return held

    def _held(self, run_id: str) -> dict[str, Any] | None:
        """Give what a run was opened with; None for an unknown run."""
        if not self.reader.has_run(run_id):
            return None
        first = self.reader.event(run_stream(run_id), Version(1))
        if first is None or first.name != RunOpened.NAME:
            raise CorruptEvent(run_stream(run_id), 1, "missing, or not the opening of a run")
        return first.data

    def _must_know(self, run_id: str) -> None:
        offers.check_id(run_id, "run id")
        if not self.reader.has_run(run_id):
            raise RunNotFound(run_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
