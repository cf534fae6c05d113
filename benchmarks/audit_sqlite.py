"""The audit's questions to SQLite over the event sourcing library's table, by `json_extract`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from audit_peers import DAY, SMALL

KIND = "json_extract(state, '$.record.event.kind')"
CALLED = "json_extract(state, '$.record.event.call.name')"
TIME = "json_extract(state, '$.recorded_at')"
TRACE = "json_extract(state, '$.run.trace_context.trace_id')"
STATUS = "json_extract(state, '$.run.status')"
INDEXES = (
    f"CREATE INDEX calls ON stored_events ({CALLED}, {TIME}) WHERE {CALLED} IS NOT NULL",
    f"CREATE INDEX traces ON stored_events ({TRACE}) WHERE {TRACE} IS NOT NULL",
    f"CREATE INDEX statuses ON stored_events ({STATUS}) WHERE {STATUS} IS NOT NULL",
    f"CREATE INDEX responses ON stored_events ({KIND}) WHERE {KIND} = 'model_response'",
)


def index_table(path: Path) -> None:
    """Make the indexes that answer the questions."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in INDEXES:
            connection.execute(statement)
        connection.execute("ANALYZE")


class Table:
    """SQLite over the library's table."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def _ask(self, sql: str, *values: Any) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def tools(self, tool: str, since: int, until: int) -> int:
        """See `Peer.tools`."""
        found = 0
        for stream, _, call in self._ask(
            f"SELECT originator_id, originator_version,"
            f" json_extract(state, '$.record.event.call.id') FROM stored_events"
            f" WHERE {CALLED} = ? AND {TIME} >= ? AND {TIME} < ?",
            tool,
            since,
            until,
        ):
            self._ask(
                "SELECT json_extract(state, '$.record.event.tool_return.is_error'),"
                " json_extract(state, '$.record.event.tool_return.metadata.duration_ms')"
                " FROM stored_events WHERE originator_id = ?"
                " AND json_extract(state, '$.record.event.tool_return.tool_call_id') = ?",
                stream,
                call,
            )
            found += 1
        return found

    def trace(self, trace_id: str) -> int:
        """See `Peer.trace`."""
        streams = self._ask(
            f"SELECT DISTINCT originator_id FROM stored_events WHERE {TRACE} = ?", trace_id
        )
        return sum(self._happened(stream) for (stream,) in streams)

    def search(self, phrase: str) -> int:
        """See `Peer.search`."""
        return len(
            self._ask(
                "SELECT originator_id, originator_version, state FROM stored_events"
                f" WHERE topic = 'stream.recorded.v1' AND {KIND} <> 'model_stream'"
                f" AND CAST(state AS TEXT) LIKE ? ORDER BY {TIME} DESC LIMIT 20",
                f"%{phrase}%",
            )
        )

    def timeline(self, run_id: str) -> int:
        """See `Peer.timeline`."""
        return self._happened(f"run:{run_id}")

    def _happened(self, stream: str) -> int:
        rows = self._ask(
            f"SELECT originator_version, topic, {KIND}, {TIME}, state FROM stored_events"
            f" WHERE originator_id = ? AND coalesce({KIND}, '') NOT IN {SMALL}"
            " ORDER BY originator_version",
            stream,
        )
        return len(rows)

    def failures(self) -> int:
        """See `Peer.failures`."""
        streams = self._ask(
            "SELECT originator_id, json_extract(state, '$.run.terminal_error')"
            f" FROM stored_events WHERE {STATUS} = 'failed'"
        )
        for stream, _ in streams:
            for kind in ("tool_call", "model_response"):
                self._ask(
                    f"SELECT state FROM stored_events WHERE originator_id = ? AND {KIND} = ?"
                    " ORDER BY originator_version DESC LIMIT 1",
                    stream,
                    kind,
                )
        return len(streams)

    def usage(self) -> int:
        """See `Peer.usage`."""
        sums = ", ".join(
            f"sum(json_extract(events.state, '$.record.event.response.usage.{name}'))"
            for name in ("input_tokens", "output_tokens", "total_tokens")
        )
        kind, time = (each.replace("state", "events.state") for each in (KIND, TIME))
        return len(
            self._ask(
                "SELECT json_extract(opened.state, '$.session_id') AS session,"
                f" {time} / {DAY} AS day, count(*), {sums}"
                " FROM stored_events AS events JOIN stored_events AS opened"
                " ON opened.originator_id = events.originator_id"
                " AND opened.originator_version = 1"
                f" WHERE {kind} = 'model_response' GROUP BY session, day"
            )
        )
