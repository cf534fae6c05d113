"""The bundle a host commits when a run ends or waits: all of it or nothing."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import Field

from journal.errors import InvalidEnvelope
from journal.json_door import JSON
from journal.records.approval import ApprovalRecord
from journal.records.base import Record, peek
from journal.records.checkpoint import AgentCheckpoint
from journal.records.checks import Rule, Wrong
from journal.records.context import ResumableState
from journal.records.deferred_tool import DeferredToolRecord
from journal.records.envelope import RUN_RECORD, unwrap
from journal.records.environment import EnvironmentState
from journal.records.fields import Checked, Id, JsonObject
from journal.records.run import RunRecord, RunTerminalError
from journal.records.stream import AgentStreamRecord
from journal.records.stream_cursor import StreamCursorRef
from journal.records.vocabulary import TERMINAL, RunStatus


def _durable(record: type[Record]) -> Checked:
    check = record.compile_check()

    def check_durable(value: JSON) -> None:
        try:
            payload, _ = unwrap(value, record.SCHEMA)
        except InvalidEnvelope as error:
            raise Wrong(error.message) from None
        try:
            check(payload)
        except Wrong as wrong:
            if payload is not value:
                wrong.steps.append("payload")
            raise

    return Checked(check_durable)


DurableRun: TypeAlias = Annotated[JsonObject, _durable(RunRecord)]
DurableContext: TypeAlias = Annotated[JsonObject, _durable(ResumableState)]
DurableEnvironment: TypeAlias = Annotated[JsonObject, _durable(EnvironmentState)]
DurableStreamRecord: TypeAlias = Annotated[JsonObject, _durable(AgentStreamRecord)]
DurableCheckpoint: TypeAlias = Annotated[JsonObject, _durable(AgentCheckpoint)]
DurableApproval: TypeAlias = Annotated[JsonObject, _durable(ApprovalRecord)]
DurableDeferredTool: TypeAlias = Annotated[JsonObject, _durable(DeferredToolRecord)]


class PublicationTargets(Record):
    """Where the run's stream is to be published."""

    NOUN: ClassVar[str] = "publication targets"

    archive: bool
    replay: bool


def _ends(update: Any) -> None:
    status = peek(update, "status")
    if status not in TERMINAL:
        needed = ", ".join(sorted(TERMINAL))
        raise Wrong(f"a run that another went on with ends: {needed}, not {status}", "status")
    if status == "completed" and peek(update, "terminal_error") is not None:
        raise Wrong("a completed run must not have one", "terminal_error")


class RelatedRunUpdate(Record):
    """What becomes of the run that a continuation went on with."""

    NOUN: ClassVar[str] = "related run update"
    RULE: ClassVar[Rule | None] = _ends

    run_id: Id
    expected_status: RunStatus
    """The status the run must be in."""
    status: RunStatus
    resume_claim_id: Id
    """Of the started claim under which the continuation ran."""
    output_preview: str | None = None
    terminal_error: RunTerminalError | None = None
    approvals: list[DurableApproval] = Field(default_factory=list)
    """Those of the run that were decided."""
    deferred_tools: list[DurableDeferredTool] = Field(default_factory=list)
    """Those of the run that ended."""


def _goes_on(commit: Any) -> None:
    updates = peek(commit, "related_run_updates")
    if not updates:
        return
    if len(updates) > 1:
        raise Wrong("a run goes on with one other: at most one is needed", "related_run_updates")
    run, _ = unwrap(peek(commit, "run"), RUN_RECORD)
    source = peek(updates[0], "run_id")
    if source == run["run_id"]:
        raise Wrong("a run does not go on with itself", "run_id", 0, "related_run_updates")
    if source != run.get("restore_from_run_id"):
        reason = f"{source!r}, but the run was restored from {run.get('restore_from_run_id')!r}"
        raise Wrong(reason, "run_id", 0, "related_run_updates")


class RunEvidenceCommit(Record):
    """All that is durable of a run, in one bundle.

    The durable records in it stay plain JSON here, each bare or in its envelope; read one
    with its model's `from_json`. `from_json` and `check` look into all of them.
    """

    NOUN: ClassVar[str] = "run evidence commit"
    RULE: ClassVar[Rule | None] = _goes_on

    run: DurableRun
    context_state: DurableContext
    environment_state: DurableEnvironment | None = None
    stream_records: list[DurableStreamRecord]
    checkpoints: list[DurableCheckpoint]
    approvals: list[DurableApproval]
    deferred_tools: list[DurableDeferredTool]
    stream_cursors: list[StreamCursorRef]
    display_messages: list[JsonObject]
    replay_events: list[JsonObject]
    display_snapshot: JsonObject | None = None
    publication_targets: PublicationTargets
    related_run_updates: list[RelatedRunUpdate]
    """None, or the one of the run that this one went on with."""
    host_event_publications: list[JsonObject] = Field(default_factory=list)
