"""What a host hands in, checked and ready to become events.

An offer is made outside every lock: parsing, checking, redaction and encoding happen here.
The writer gives it its version, turns documents into differences, and recognizes repeats.

Names are loaded when first used: who only reads needs hardly any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.lazily import lazy

if TYPE_CHECKING:
    from journal.offers.documents import checkpoint, context, environment, session
    from journal.offers.offer import (
        ENVIRONMENT_CHAIN,
        STATE_CHAIN,
        Offer,
        imported,
        large_values,
        marked,
        redacted,
    )
    from journal.offers.reading import (
        WRAPPED,
        Source,
        as_object,
        check_id,
        check_session_status,
        check_status,
        check_target,
        plain,
        read,
    )
    from journal.offers.records import (
        STATUS_FACTS,
        approval,
        approval_identity,
        deferred_tool,
        deferred_tool_identity,
        record,
        run,
        session_environment,
        stream_cursor,
    )

__all__ = [
    "ENVIRONMENT_CHAIN",
    "STATE_CHAIN",
    "STATUS_FACTS",
    "WRAPPED",
    "Offer",
    "Source",
    "approval",
    "approval_identity",
    "as_object",
    "check_id",
    "check_session_status",
    "check_status",
    "check_target",
    "checkpoint",
    "context",
    "deferred_tool",
    "deferred_tool_identity",
    "environment",
    "imported",
    "large_values",
    "marked",
    "plain",
    "read",
    "record",
    "redacted",
    "run",
    "session",
    "session_environment",
    "stream_cursor",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "documents": "checkpoint context environment session",
        "offer": "ENVIRONMENT_CHAIN STATE_CHAIN Offer imported large_values marked redacted",
        "reading": """
            WRAPPED Source as_object check_id check_session_status check_status check_target plain
            read
        """,
        "records": """
            STATUS_FACTS approval approval_identity deferred_tool deferred_tool_identity record
            run session_environment stream_cursor
        """,
    },
)
