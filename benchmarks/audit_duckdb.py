"""The audit's questions to DuckDB over zstd JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from audit_peers import DAY, SMALL


class Lines:
    """DuckDB over JSON lines."""

    def __init__(self, folder: Path) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET memory_limit = '2GB'; SET threads = 2")
        columns = "{stream: 'VARCHAR', version: 'BIGINT', name: 'VARCHAR', data: 'JSON'}"
        self._folder = folder
        self._columns = columns

    def _events(self, since: int | None = None, until: int | None = None) -> str:
        files: Sequence[Path] = sorted(self._folder.glob("*.jsonl.zst"))
        if since is not None and until is not None:
            days = range(since // DAY, -(-until // DAY))
            files = [file for file in files if int(file.name.partition(".")[0]) in days]
        names = [str(file) for file in files]
        return (
            f"read_json({names}, format = 'newline_delimited', compression = 'zstd',"
            f" columns = {self._columns}, maximum_object_size = 67108864)"
        )

    def _ask(self, sql: str, *values: Any) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def tools(self, tool: str, since: int, until: int) -> int:
        """See `Peer.tools`."""
        return len(
            self._ask(
                f"WITH events AS MATERIALIZED (SELECT stream, data FROM"
                f" {self._events(since, until + DAY)}"
                " WHERE data ->> '$.record.event.kind' IN ('tool_call', 'tool_return'))"
                " SELECT call.stream, back.data ->> '$.record.event.tool_return.is_error',"
                " back.data ->> '$.record.event.tool_return.metadata.duration_ms'"
                " FROM events AS call LEFT JOIN events AS back ON back.stream = call.stream"
                " AND back.data ->> '$.record.event.tool_return.tool_call_id'"
                " = call.data ->> '$.record.event.call.id'"
                " WHERE call.data ->> '$.record.event.call.name' = ?"
                " AND (call.data ->> '$.recorded_at')::BIGINT BETWEEN ? AND ?",
                tool,
                since,
                until - 1,
            )
        )

    def trace(self, trace_id: str) -> int:
        """See `Peer.trace`."""
        streams = self._ask(
            f"SELECT DISTINCT stream FROM {self._events()} WHERE name = 'run.saved.v1'"
            " AND data ->> '$.run.trace_context.trace_id' = ?",
            trace_id,
        )
        return self._happened([stream for (stream,) in streams])

    def search(self, phrase: str) -> int:
        """See `Peer.search`."""
        return len(
            self._ask(
                f"SELECT stream, version, data FROM {self._events()}"
                " WHERE name = 'stream.recorded.v1' AND data::VARCHAR ILIKE ?"
                " AND data ->> '$.record.event.kind' <> 'model_stream'"
                " ORDER BY (data ->> '$.recorded_at')::BIGINT DESC LIMIT 20",
                f"%{phrase}%",
            )
        )

    def timeline(self, run_id: str) -> int:
        """See `Peer.timeline`."""
        return self._happened([f"run:{run_id}"])

    def _happened(self, streams: list[str]) -> int:
        return len(
            self._ask(
                f"SELECT stream, version, name, data FROM {self._events()}"
                " WHERE stream IN (SELECT unnest(?::VARCHAR[]))"
                f" AND coalesce(data ->> '$.record.event.kind', '') NOT IN {SMALL}"
                " ORDER BY stream, version",
                streams,
            )
        )

    def failures(self) -> int:
        """See `Peer.failures`."""
        return len(
            self._ask(
                f"WITH events AS MATERIALIZED (SELECT stream, version, name, data,"
                f" data ->> '$.record.event.kind' AS kind FROM {self._events()}"
                " WHERE name IN ('run.saved.v1', 'run.committed.v1') OR"
                " data ->> '$.record.event.kind' IN ('tool_call', 'model_response')),"
                " failed AS (SELECT stream, any_value(data ->> '$.run.terminal_error') AS error"
                " FROM events WHERE data ->> '$.run.status' = 'failed' GROUP BY stream)"
                " SELECT stream, any_value(error),"
                " max_by(data, version) FILTER (kind = 'tool_call'),"
                " max_by(data, version) FILTER (kind = 'model_response')"
                " FROM failed JOIN events USING (stream) GROUP BY stream"
            )
        )

    def usage(self) -> int:
        """See `Peer.usage`."""
        sums = ", ".join(
            f"sum((data ->> '$.record.event.response.usage.{name}')::BIGINT)"
            for name in ("input_tokens", "output_tokens", "total_tokens")
        )
        return len(
            self._ask(
                f"WITH events AS MATERIALIZED (SELECT stream, name, data FROM {self._events()}"
                " WHERE name = 'run.opened.v1'"
                " OR data ->> '$.record.event.kind' = 'model_response'),"
                " opened AS (SELECT stream, data ->> '$.session_id' AS session FROM events"
                " WHERE name = 'run.opened.v1')"
                f" SELECT session, (data ->> '$.recorded_at')::BIGINT // {DAY} AS day,"
                f" count(*), {sums} FROM events JOIN opened USING (stream)"
                " WHERE name <> 'run.opened.v1' GROUP BY session, day"
            )
        )
