"""The tables of a Starweaver session database, and which of them the journal has a place for.

Source: the schema in `schema.sql`, and what the load methods of the runtime's own
`SqliteSessionStore` 0.15.0 read.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows hold a record each."""

    name: str
    owner: tuple[str, ...]
    """Columns that name what a row belongs to."""
    identity: str
    """The column that tells rows of one owner apart."""
    order: str
    """How Starweaver's load methods order them."""
    time: str | None = None
    """The column of the time that a row was written at, as far as the table keeps one."""


_RUN = ("session_id", "run_id")
_SCOPE = ("scope",)
# The plus keeps SQLite from reading the whole table in this order.
_ARRIVAL = "+rowid"

SESSIONS = Table("session_records", (), "session_id", "created_at, session_id", "updated_at")
RUNS = Table("run_records", ("session_id",), "run_id", "sequence_no", "updated_at")
STREAM = Table("stream_records", _RUN, "sequence_no", "sequence_no")
CHECKPOINTS = Table("checkpoint_records", _RUN, "checkpoint_id", _ARRIVAL, "created_at")
APPROVALS = Table("approval_records", _RUN, "approval_id", "approval_id", "updated_at")
DEFERRED_TOOLS = Table("deferred_tool_records", _RUN, "deferred_id", "deferred_id", "updated_at")
CONTEXTS = Table("run_context_records", _RUN, "run_id", "run_id", "updated_at")
ENVIRONMENTS = Table("run_environment_records", _RUN, "run_id", "run_id", "updated_at")
CLAIMS = Table("hitl_resume_claims", _RUN, "claim_id", "claim_id", "created_at")
DISPLAY = Table("display_message_records", _SCOPE, "sequence_no", "sequence_no", "created_at")
REPLAY = Table("replay_events", _SCOPE, "sequence_no", "sequence_no", "created_at")
DISPLAY_SNAPSHOTS = Table("display_snapshot_records", _SCOPE, "scope", "scope", "updated_at")

COMMITS = "run_evidence_commits"
OUTBOX = "stream_publication_outbox"

OF_RUNS = (STREAM, CHECKPOINTS, APPROVALS, DEFERRED_TOOLS, CONTEXTS, ENVIRONMENTS, CLAIMS)
OF_SCOPES = (DISPLAY, REPLAY, DISPLAY_SNAPSHOTS)

LEGACY = {
    "checkpoints": (CHECKPOINTS, ("session_id", "run_id", "checkpoint_id")),
    "approvals": (APPROVALS, ("session_id", "run_id", "approval_id")),
    "deferred_tools": (DEFERRED_TOOLS, ("session_id", "run_id", "deferred_id")),
}
"""Tables of older versions, whose rows Starweaver's migrations copied to the table named here."""

_HOST_EVENTS = "the journal has no log of host events; `runjournal tail` follows what is recorded"
_COMMANDS = "receipts of commands to one host, which answers them; the journal takes none"
_ADMISSION = "which host may run a session; the journal has leases of its own"
_BACKGROUND = "runs of background subagents are no records of a session store"
_REPLAY = "what a host made for replaying to a screen; the journal replays from the records"
_COPIED = "how the rows of other databases came here; the rows themselves are imported"
_ATTACHED = "environments that hosts attached; the environment states of runs are imported"
_MODEL = "which model an authority selected is no record of a session store"

NOT_MAPPED = {
    "replay_snapshots": _REPLAY,
    "replay_snapshot_records": _REPLAY,
    "replay_source_selections": _REPLAY,
    "session_mutation_receipts": _COMMANDS,
    "run_admission_generations": _ADMISSION,
    "run_admissions": _ADMISSION,
    "run_admission_receipts": _COMMANDS,
    "run_control_receipts": _COMMANDS,
    "run_control_intents": _COMMANDS,
    "interaction_mutation_receipts": _COMMANDS,
    "background_subagent_records": _BACKGROUND,
    "background_subagent_artifacts": _BACKGROUND,
    "local_store_imports": _COPIED,
    "local_store_import_sessions": _COPIED,
    "local_store_import_tombstones": _COPIED,
    "host_event_records": _HOST_EVENTS,
    "host_event_publication_outbox": _HOST_EVENTS,
    "model_selection_records": _MODEL,
    "model_selection_mutation_receipts": _MODEL,
    "environment_attachment_records": _ATTACHED,
    "environment_mount_records": _ATTACHED,
    "environment_mutation_receipts": _COMMANDS,
}
"""Tables that the journal has no place for, and why."""

BOOKKEEPING = ("starweaver_schema_migrations", "host_event_log_state", "host_event_outbox_state")
"""Tables that hold nothing but counters of the database itself."""
