"""Environments: the reference a session keeps, and the exported state of a provider."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.envelope import ENVIRONMENT_STATE
from journal.records.fields import Id, Integer, JsonObject


class EnvironmentStateRef(Record):
    """Where an environment's state is kept."""

    NOUN: ClassVar[str] = "environment reference"

    provider: str
    reference: str
    revision: JSON = None
    metadata: JsonObject = Field(default_factory=dict)


class EnvironmentResource(Record):
    """Something an environment holds; typed when `metadata.resource_kind` names a factory."""

    NOUN: ClassVar[str] = "environment resource"

    id: Id
    uri: str
    metadata: JsonObject = Field(default_factory=dict)


class EnvironmentProcess(Record):
    """What is known of a process when the state is exported."""

    NOUN: ClassVar[str] = "environment process"

    process_id: Id
    command: str
    status: str
    stdout: str
    stderr: str
    return_code: Integer | None = None
    metadata: JsonObject = Field(default_factory=dict)


class EnvironmentState(Record):
    """All that a provider exports. `metadata.provider_kind` says who can restore it."""

    NOUN: ClassVar[str] = "environment state"
    SCHEMA: ClassVar[str] = ENVIRONMENT_STATE

    provider_id: Id
    files: JsonObject = Field(default_factory=dict)
    """Contents by path."""
    resources: list[EnvironmentResource] = Field(default_factory=list)
    processes: list[EnvironmentProcess] = Field(default_factory=list)
    metadata: JsonObject = Field(default_factory=dict)
