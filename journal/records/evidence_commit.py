"""The bundle a host commits when a run ends or waits: all of it or nothing."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field

from journal.errors import InvalidEnvelope
from journal.json_door import JSON
from journal.records.approval import ApprovalRecord
from journal.records.base import Record
from journal.records.checkpoint import AgentCheckpoint
from journal.records.checks import Wrong
from journal.records.context import ResumableState
from journal.records.deferred_tool import DeferredToolRecord
from journal.records.envelope import unwrap
from journal.records.environment import EnvironmentState
from journal.records.fields import Checked, JsonObject
from journal.records.run import RunRecord
from journal.records.stream import AgentStreamRecord
from journal.records.stream_cursor import StreamCursorRef


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


class RunEvidenceCommit(Record):
    """All that is durable of a run, in one bundle.

    The durable records in it stay plain JSON here, each bare or in its envelope; read one
    with its model's `from_json`. `from_json` and `check` look into all of them.
    """

    NOUN: ClassVar[str] = "run evidence commit"

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
    related_run_updates: list[JsonObject]
    host_event_publications: list[JsonObject] = Field(default_factory=list)
