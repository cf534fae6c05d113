"""The closed vocabularies of the records: nodes, statuses, families.

Source: the record vocabulary of the Starweaver runtime, 0.15. A value outside these lists
is refused where a record of a known kind carries it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


class _Word(StrEnum):
    """Tells pydantic to read plain strings too, where models are strict."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.enum_schema(cls, list(cls), sub_type="str", strict=False)


class ExecutionNode(_Word):
    """A boundary of the run loop, where a host may take a checkpoint."""

    RUN_START = "run_start"
    PREPARE_MODEL_REQUEST = "prepare_model_request"
    BEFORE_MODEL_REQUEST = "before_model_request"
    MODEL_RESPONSE = "model_response"
    TOOL_CALL = "tool_call"
    TOOL_RETURN = "tool_return"
    VALIDATE_OUTPUT = "validate_output"
    RUN_COMPLETE = "run_complete"
    RUN_FAILED = "run_failed"


class LifecycleStatus(_Word):
    """What a run is doing, in checkpoints and stream records."""

    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunStatus(_Word):
    """What a durable run record says: the lifecycle, and runs accepted but not begun."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class SessionStatus(_Word):
    """What a session record says."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    FAILED = "failed"
    DELETED = "deleted"


class ApprovalStatus(_Word):
    """Where a person's decision stands; it moves once, from pending."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class ExecutionStatus(_Word):
    """Where work handed to somebody else stands."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class CursorFamily(_Word):
    """Which stream a stream cursor counts in."""

    RAW_RUNTIME = "raw_runtime"
    DISPLAY = "display"
    REPLAY_EVENT = "replay_event"


class ClaimState(_Word):
    """How far the holder of a resume claim has come."""

    PREFLIGHT = "preflight"
    ADMITTED = "admitted"
    STARTED = "started"


class PublicationTarget(_Word):
    """Where a run's stream can be published."""

    ARCHIVE = "archive"
    REPLAY = "replay"


TERMINAL: frozenset[str] = frozenset({"completed", "failed", "cancelled"})
"""The lifecycle and run statuses that a run does not leave."""
