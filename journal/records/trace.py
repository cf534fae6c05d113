"""Where a run stands in a distributed trace."""

from __future__ import annotations

import re
from typing import ClassVar

from pydantic import Field

from journal.records.base import Record
from journal.records.fields import Id, JsonObject

_TRACEPARENT = re.compile(r"00-([0-9a-fA-F]{32})-([0-9a-fA-F]{16})-([0-9a-fA-F]{2})")


class TraceContext(Record):
    """The ids of a trace and of the span in it; an empty one is left out of records."""

    NOUN: ClassVar[str] = "trace context"

    trace_id: Id | None = None
    span_id: Id | None = None
    parent_span_id: Id | None = None
    trace_state: str | None = None
    metadata: JsonObject = Field(default_factory=dict)

    @classmethod
    def from_traceparent(cls, header: str) -> TraceContext:
        """Read a W3C Trace Context `traceparent` header of version 00.

        It gives trace_id, parent_span_id and metadata.trace_flags. Anything of another form
        becomes the trace_id as it stands; an empty header, an empty context.
        """
        if match := _TRACEPARENT.fullmatch(header):
            trace_id, parent, flags = match.groups()
            return cls(trace_id=trace_id, parent_span_id=parent, metadata={"trace_flags": flags})
        return cls(trace_id=header) if header else cls()

    @property
    def is_empty(self) -> bool:
        """Tell whether it says nothing."""
        return not any(value not in (None, {}) for value in self.to_json().values())
