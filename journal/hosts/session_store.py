"""The journal as session store of an agent host: sessions, runs and all they leave behind.

The records are plain dicts in the form that `journal.records` reads. Every method that writes
returns when what it was given is durable, and repeating it is safe; every error is one of
`journal.errors`. Nothing here takes a lease: a run that another journal is writing refuses
what only its writer may record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import projections
from journal.errors import (
    BrokenBase,
    CorruptEvent,
    InvalidRecord,
    RunNotFound,
    RunNotInSession,
    UnknownEvent,
)
from journal.journal import Journal
from journal.publications import run_of
from journal.records import RUN_RECORD, unwrap

Fields: TypeAlias = dict[str, Any]

FILTERS = ("status", "profile", "workspace", "limit")


class SessionStore:
    """The durable records of a host's sessions and runs, kept in a journal.

    A method that names a session and a run raises `RunNotInSession` when the run is not the
    session's. Those that list what a run has answer with nothing instead, as hosts ask before
    they write.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    # Sessions

    def save_session(self, record: Mapping[str, Any]) -> None:
        """Record a session; what its runs changed in it meanwhile stays.

        The revision is the store's to count: the record need not have one.
        """
        self.journal.save_session(_first(record, "session", revision=1))

    def load_session(self, session_id: str) -> Fields:
        """Give the session record, as its saves and its runs left it.

        Raises:
            SessionNotFound: nothing of this session was ever recorded.
        """
        return projections.session_record(self.journal, session_id)

    def list_sessions(self, filter: Mapping[str, Any] | None = None) -> list[Fields]:  # noqa: A002
        """Give session records, last updated first.

        Args:
            filter: any of `status`, `profile`, `workspace` (equal to) and `limit` (a count).

        Raises:
            InvalidRecord: the filter has another key.
        """
        wanted = {} if filter is None else _object(filter, "session filter")
        for key in wanted:
            if key not in FILTERS:
                reason = f"expected any of {', '.join(FILTERS)}"
                raise InvalidRecord("session filter", f"$.{key}", reason)
        return projections.list_session_records(self.journal, **wanted)

    def list_session_page(self, query: Mapping[str, Any]) -> Fields:
        """Give a page of session records, last updated first.

        Args:
            query: `limit`, 1 to 200, and `after`, the `nextKey` of the page before.

        Returns:
            `sessions`, `nextKey` and `hasMore`.
        """
        asked = _object(query, "session page")
        limit: Any = asked.get("limit")
        return projections.session_page(self.journal, limit, asked.get("after"))

    def update_session_status(self, session_id: str, status: str) -> None:
        """Set a session's status: active, archived, failed or deleted."""
        self.journal.set_session_status(session_id, status)

    def save_context_state(self, session_id: str, state: Mapping[str, Any]) -> None:
        """Set a session's exported context state."""
        self.journal.save_context(session_id, state)

    def save_environment_state(self, session_id: str, environment_state: Mapping[str, Any]) -> None:
        """Set where a session's environment state is."""
        self.journal.save_environment(session_id, environment_state)

    # Runs

    def append_run(self, record: Mapping[str, Any]) -> None:
        """Record a run; without a `sequence_no`, or with 0, it gets its session's next one."""
        self.journal.save_run(_first(record, "run", revision=1, sequence_no=0))

    def append_run_allocated(self, record: Mapping[str, Any]) -> Fields:
        """Record a run, and give its record with the number that it got."""
        self.append_run(record)
        return self._written(record)

    def load_run(self, session_id: str, run_id: str) -> Fields:
        """Give the run record; its latest checkpoint is the last in logical order."""
        self.must_have(session_id, run_id)
        return projections.run_record(self.journal, run_id)

    def list_runs(self, session_id: str) -> list[Fields]:
        """Give a session's run records, by `sequence_no`."""
        return projections.list_run_records(self.journal, session_id)

    def list_recent_runs(self, session_id: str, limit: int) -> list[Fields]:
        """Give a session's last run records, at most `limit`, by `sequence_no`."""
        return projections.recent_run_records(self.journal, session_id, limit)

    def list_run_page(self, session_id: str, query: Mapping[str, Any]) -> Fields:
        """Give a page of a session's run records, the newest first.

        Args:
            query: `limit`, 1 to 200, and `before`, the `nextKey` of the page before.

        Returns:
            `runs`, `nextKey` and `hasMore`.
        """
        asked = _object(query, "run page")
        limit: Any = asked.get("limit")
        return projections.run_page(self.journal, session_id, limit, asked.get("before"))

    def update_run_status(
        self, session_id: str, run_id: str, status: str, output_preview: str | None = None
    ) -> None:
        """Set a run's status, without the evidence that a commit brings.

        For `failed` and `cancelled` a generic diagnostic is recorded and `output_preview` is
        left out.
        """
        self.must_have(session_id, run_id)
        self.journal.set_status(run_id, status, output_preview=output_preview)

    # What a run leaves behind

    def commit_checkpoint(self, session_id: str, checkpoint: Mapping[str, Any]) -> None:
        """Record a checkpoint, with its session and its run where they are new."""
        self.journal.commit_checkpoint(session_id, checkpoint)

    def append_checkpoint(self, session_id: str, checkpoint: Mapping[str, Any]) -> None:
        """Record a checkpoint of a run that exists."""
        self.journal.commit_checkpoint(session_id, checkpoint, must_exist=True)

    def load_checkpoints(self, session_id: str, run_id: str) -> list[Fields]:
        """Give a run's checkpoints, exactly as recorded, in logical order."""
        if not self.has(session_id, run_id):
            return []
        return projections.checkpoints(self.journal, run_id)

    def latest_checkpoint(self, session_id: str, run_id: str) -> Fields | None:
        """Give a run's last checkpoint in logical order."""
        if not self.has(session_id, run_id):
            return None
        return projections.latest_checkpoint(self.journal, run_id)

    def append_stream_records(
        self, session_id: str, run_id: str, records: Sequence[Mapping[str, Any]]
    ) -> None:
        """Record stream records, all or none, and the `raw_runtime` cursor at the last."""
        self.journal.append_records(session_id, run_id, records)

    def replay_stream_records(
        self, session_id: str, run_id: str, after_sequence: int | None = None
    ) -> list[Fields]:
        """Give a run's stream records by sequence, those above `after_sequence`."""
        if not self.has(session_id, run_id):
            return []
        return projections.stream_records(self.journal, run_id, after_sequence)

    def save_stream_cursor(self, session_id: str, run_id: str, cursor: Mapping[str, Any]) -> None:
        """Record how far a reader of the run's streams got; a cursor never goes back."""
        self.journal.save_cursor(session_id, run_id, cursor)

    def append_approval(self, record: Mapping[str, Any]) -> None:
        """Record an approval: a request while it is pending, else a decision, once."""
        self.journal.approval(record)

    def load_approvals(self, session_id: str, run_id: str) -> list[Fields]:
        """Give a run's approvals, each as it is now."""
        if not self.has(session_id, run_id):
            return []
        return projections.approvals(self.journal, run_id)

    def append_deferred_tool(self, record: Mapping[str, Any]) -> None:
        """Record a deferred tool call: a request until it ends, once."""
        self.journal.deferred_tool(record)

    def load_deferred_tools(self, session_id: str, run_id: str) -> list[Fields]:
        """Give a run's deferred tool calls, each as it is now."""
        if not self.has(session_id, run_id):
            return []
        return projections.deferred_tools(self.journal, run_id)

    def commit_run_evidence(self, commit: Mapping[str, Any]) -> Fields:
        """Record all that is known of a run, all or nothing, and give its record."""
        bundle = _object(commit, "evidence commit")
        self.journal.commit_run_evidence(bundle)
        return self._written(bundle["run"])

    # Continuations and publications

    def claim_hitl_resume(self, claim: Mapping[str, Any]) -> None:
        """Claim the right to resume a run that waits, for one host alone."""
        self.journal.claim_resume({"state": "preflight", **_object(claim, "resume claim")})

    def mark_hitl_resume_started(self, session_id: str, run_id: str, claim_id: str) -> None:
        """Record that the claimed continuation starts; its claim cannot be given back then."""
        self.must_have(session_id, run_id)
        self.journal.start_resume(run_id, claim_id)

    def release_hitl_resume_claim(self, session_id: str, run_id: str, claim_id: str) -> None:
        """Give a claim back that was not started."""
        self.must_have(session_id, run_id)
        self.journal.release_resume(run_id, claim_id)

    def pending_stream_publications(self, session_id: str) -> list[Fields]:
        """Give what evidence wanted published and some target has not acknowledged."""
        return projections.pending_publications(self.journal, session_id)

    def acknowledge_stream_publication(self, publication_id: str, target: str) -> None:
        """Record that a target, `archive` or `replay`, has the publication."""
        session_id, run_id = run_of(publication_id)
        self.must_have(session_id, run_id)
        self.journal.acknowledge_publication(run_id, target)

    # Views

    def resume_snapshot(self, session_id: str, run_id: str | None = None) -> Fields:
        """Give all that a run is resumed from; the session's active run, else its last."""
        if run_id is not None:
            self.must_have(session_id, run_id)
        return projections.resume_snapshot(self.journal, session_id, run_id).to_json()

    def compact_run_trace(self, session_id: str, run_id: str) -> Fields:
        """Give an overview of a run."""
        self.must_have(session_id, run_id)
        return projections.compact_run_trace(self.journal, session_id, run_id)

    def compact_session_trace(self, session_id: str) -> Fields:
        """Give an overview of a session."""
        return projections.compact_session_trace(self.journal, session_id)

    def has(self, session_id: str, run_id: str) -> bool:
        """Tell whether the session has this run."""
        try:
            return self.journal.session_of(run_id) == session_id
        except RunNotFound:
            return False

    def must_have(self, session_id: str, run_id: str) -> None:
        """Refuse a run that is not the session's.

        Raises:
            RunNotInSession: it is another session's, or nobody's.
        """
        if not self.has(session_id, run_id):
            raise RunNotInSession(run_id, session_id)

    def _written(self, record: Mapping[str, Any]) -> Fields:
        """Give the record of a run that was just written.

        Where the run cannot be read, of damage that was there before, it is the record as it
        was written: whoever loads the run is told.
        """
        run, _ = unwrap(dict(record), RUN_RECORD)
        try:
            return self.load_run(run["session_id"], run["run_id"])
        except (BrokenBase, CorruptEvent, UnknownEvent):
            return {**(self.journal.run_record(run["run_id"]) or run)}


def _first(record: Mapping[str, Any], what: str, **numbers: int) -> Mapping[str, Any]:
    """Give a record the numbers of a new one, where the host leaves them to the store."""
    found = _object(record, what)
    return found if "payload" in found else {**numbers, **found}


def _object(value: object, what: str) -> dict[str, Any]:
    """Take what must be a mapping.

    Raises:
        InvalidRecord: it is none.
    """
    if not isinstance(value, Mapping):
        reason = f"expected an object, found {type(value).__name__}"
        raise InvalidRecord(what, "$", reason)
    return dict(value)
