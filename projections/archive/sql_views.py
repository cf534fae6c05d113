"""The views `rows`, `runs` and `calls` over an archive, and over a journal together with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journal.stores.audit_sql import ROW_COLUMNS, RUN_COLUMNS
from projections.archive.files import SegmentFiles
from projections.archive.layout import ROWS, RUNS

_NUMBERS = {"from_state", "archived"}
"""Columns that are true or false, which are 1 or 0 in the views."""

_PLACE = "anchor DESC, rank DESC, version DESC, position DESC, part DESC"
_SAME_CALL = "b.run_id = c.run_id AND b.call_id = c.call_id"
_SAME_CHILD = "b.child_run_id IS NOT DISTINCT FROM c.child_run_id"
_SAME_STEP = "b.step IS NOT DISTINCT FROM c.step"

# See the view of that name in `journal/stores/sqlite_views_schema.sql`.
_CALLS = f"""
    WITH c AS (
        SELECT * FROM rows WHERE kind = 'tool_call'
        QUALIFY call_id IS NULL OR row_number() OVER (
            PARTITION BY run_id, call_id, child_run_id, step ORDER BY {_PLACE}
        ) = 1
    ),
    returns AS (SELECT * FROM rows WHERE kind = 'tool_return' AND call_id IS NOT NULL),
    of_step AS (
        SELECT * FROM returns QUALIFY row_number() OVER (
            PARTITION BY run_id, call_id, child_run_id, step ORDER BY {_PLACE}
        ) = 1
    ),
    of_none AS (
        SELECT * FROM returns AS b
        WHERE NOT EXISTS (
            FROM c WHERE {_SAME_CALL} AND {_SAME_CHILD} AND {_SAME_STEP}
        )
        QUALIFY row_number() OVER (
            PARTITION BY run_id, call_id, child_run_id ORDER BY {_PLACE}
        ) = 1
    ),
    joined AS (
        SELECT
            c.position, c.version, c.run_id, c.session_id, c.agent, c.child_run_id, c.anchor,
            c.step, c.tool, c.call_id, c.recorded_at AS called_at, c.from_state,
            s.position IS NOT NULL AS in_step, n.position IS NOT NULL AS in_none,
            CASE WHEN in_step THEN s.recorded_at ELSE n.recorded_at END AS returned_at,
            CASE WHEN in_step THEN s.status ELSE n.status END AS status,
            CASE WHEN in_step THEN s.duration_ms ELSE n.duration_ms END AS duration_ms,
            CASE WHEN in_step THEN s.error_kind ELSE n.error_kind END AS error_kind,
            c.text AS arguments, CASE WHEN in_step THEN s.text ELSE n.text END AS result,
            c.trace_id, c.span_id
        FROM c
        LEFT JOIN of_step AS s ON s.run_id = c.run_id AND s.call_id = c.call_id
            AND s.child_run_id IS NOT DISTINCT FROM c.child_run_id
            AND s.step IS NOT DISTINCT FROM c.step
        LEFT JOIN of_none AS n ON n.run_id = c.run_id AND n.call_id = c.call_id
            AND n.child_run_id IS NOT DISTINCT FROM c.child_run_id
    )
    SELECT
        position, version, run_id, session_id, agent, child_run_id, anchor, step, tool, call_id,
        called_at, returned_at,
        CASE WHEN in_step OR in_none THEN coalesce(status, 'ok') ELSE 'missing' END AS outcome,
        coalesce(
            duration_ms,
            CASE WHEN returned_at >= called_at THEN (returned_at - called_at) // 1000 END
        ) AS duration_ms,
        error_kind, arguments, result, trace_id, span_id
    FROM joined AS j
    WHERE NOT EXISTS (FROM runs AS k WHERE k.run_id = j.child_run_id)
        AND (
            j.from_state = 0
            OR NOT EXISTS (FROM runs AS k WHERE k.run_id = j.run_id AND k.records > 0)
        )
"""


def make_views(
    cursor: Any,
    files: SegmentFiles,
    paths: Mapping[str, Sequence[str]],
    *,
    after: int,
    live: bool,
) -> None:
    """Make the views in a connection.

    Args:
        paths: the files of each kind that is needed; there is at least one.
        after: the position that the archive reaches to.
        live: whether a database `live` is attached that has later rows and facts.
    """
    if ROWS in paths:
        source = _source(cursor, files, ROWS, paths[ROWS])
        columns = _columns(ROW_COLUMNS)
        also = f" UNION ALL SELECT {columns} FROM live.{ROWS}" if live else ""
        cursor.execute(f"CREATE TEMP VIEW rows AS SELECT {columns} FROM {source}{also}")
    if RUNS in paths:
        source = _source(cursor, files, RUNS, paths[RUNS])
        columns = _columns([name for name in RUN_COLUMNS if name != "state"])
        last = (
            f"SELECT {columns} FROM {source} "
            "QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY position DESC) = 1"
        )
        if live:
            last = _with_live(columns, last, after)
        cursor.execute(f"CREATE TEMP VIEW runs AS {last}")
    if ROWS in paths and RUNS in paths:
        cursor.execute(f"CREATE TEMP VIEW calls AS {_CALLS}")


def _with_live(columns: str, archived: str, after: int) -> str:
    """Put the facts that the journal knows better in place of the archive's."""
    now = f"position > {int(after)} AND NOT archived"
    return (
        f"WITH archived AS ({archived}) "
        f"SELECT * FROM archived WHERE run_id NOT IN (SELECT run_id FROM live.{RUNS} WHERE {now}) "
        f"UNION ALL SELECT {columns} FROM live.{RUNS} "
        f"WHERE ({now}) OR run_id NOT IN (SELECT run_id FROM archived)"
    )


def _columns(names: Sequence[str]) -> str:
    return ", ".join(f"{name}::INTEGER AS {name}" if name in _NUMBERS else name for name in names)


def _source(cursor: Any, files: SegmentFiles, kind: str, paths: Sequence[str]) -> str:
    """Say what a view reads; a view takes no parameters."""
    expression, given = files.source(cursor, kind, paths)
    for each in given:
        quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in each)
        expression = expression.replace("?", f"[{quoted}]", 1)
    return f"({expression})"
