"""What SQL of people may be where DuckDB answers: one SELECT of the views, and few functions."""

from __future__ import annotations

from typing import Any, Final

import duckdb
import orjson

from journal.errors import SQLRefused
from journal.ids import is_text

VIEWS: Final = frozenset({"rows", "runs", "calls"})
"""What may be read."""

FUNCTIONS: Final = frozenset(
    """abs any_value approx_count_distinct arg_max arg_min avg bool_and bool_or ceil century
    coalesce concat contains count count_star cume_dist date_diff date_part date_trunc day
    dayname dayofweek dense_rank ends_with epoch epoch_ms epoch_us first first_value floor
    greatest hour ifnull instr isfinite json_array_length json_extract json_extract_string
    json_valid lag last last_value lcase lead least left length like_escape ln log lower ltrim
    make_timestamp max md5 median min minute mod mode month monthname nth_value ntile nullif
    percent_rank quantile_cont quantile_disc quarter rank regexp_extract regexp_full_match
    regexp_matches replace right round row_number rtrim second sign split_part sqrt starts_with
    stddev strftime string_agg strip_accents strlen substr substring sum to_timestamp trim
    trunc ucase unicode upper variance week weekday year group_concat
    + - * / // % ** ^ & | << >> || ~ ~~ !~~ ~~* !~~* ~~~ -> ->> @ @>
    """.split()  # noqa: SIM905 - so it can be read
)
"""What may be called, also as an operator: nothing that has effects or opens anything, and
nothing that makes much of little."""

LONGEST = 20_000
"""Characters of a statement."""

_SOURCES = {"BASE_TABLE", "SUBQUERY", "JOIN", "EMPTY", "EXPRESSION_LIST"}
_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_ENDS_OF_SOURCES = ("_REF", "_FUNCTION", "_NODE", "PIVOT", "DATA")
_CALLS = {"FUNCTION", "WINDOW"}
_REFUSED = {"PARAMETER": "it has a parameter", "LAMBDA": "it has a lambda"}

_EXISTING = "SELECT view_name FROM duckdb_views() UNION SELECT table_name FROM duckdb_tables()"
"""What is there besides the views. A name that a statement gives to something of its own stands
for that only within some part of it, and elsewhere for what is there."""

Node = dict[str, Any]


def views_of(cursor: Any, sql: str) -> frozenset[str]:
    """Check a statement, and tell which of the views it reads.

    Nothing of it runs: it is only parsed.

    Args:
        cursor: a connection of DuckDB.

    Raises:
        SQLRefused: it is no SELECT, or reads or calls something else.
    """
    if len(sql) > LONGEST or "\0" in sql or not is_text(sql):
        raise SQLRefused(f"it is longer than {LONGEST} characters, or has what is no text")
    try:
        statements = duckdb.extract_statements(sql)
        kinds = [each.type for each in statements]
        if kinds != [duckdb.StatementType.SELECT]:
            raise SQLRefused("it is not one SELECT")
        parsed = cursor.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()[0]
        tree = orjson.loads(parsed)
        existing = {name.lower() for (name,) in cursor.execute(_EXISTING).fetchall()}
    except (duckdb.Error, RuntimeError) as error:
        raise SQLRefused(" ".join(str(error).split())) from error
    except orjson.JSONDecodeError as error:
        raise SQLRefused("it is nested too deep") from error
    if tree.get("error"):
        raise SQLRefused(str(tree.get("error_message")))
    return _checked(tree["statements"], existing - VIEWS)


def _checked(statements: list[Node], existing: set[str]) -> frozenset[str]:
    tables: list[Node] = []
    named: set[str] = set()
    todo: list[Any] = list(statements)
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo += node
        elif isinstance(node, dict):
            _check(node)
            if node.get("type") == "BASE_TABLE":
                tables.append(node)
            named |= _common(node)
            todo += node.values()
    if taken := sorted(named & existing):
        raise SQLRefused(f"it gives a name of its own that DuckDB uses, {taken[0]!r}")
    for table in tables:
        name = str(table["table_name"]).lower()
        if table.get("schema_name") or table.get("catalog_name") or name not in VIEWS | named:
            raise SQLRefused(f"it reads {table['table_name']!r}")
    return VIEWS & {str(table["table_name"]).lower() for table in tables}


def _common(node: Node) -> set[str]:
    """Give the names of a node's common table expressions."""
    found = node.get("cte_map")
    names = (
        {str(each["key"]).lower() for each in found["map"]} if isinstance(found, dict) else set()
    )
    if str(node.get("type")) in {"RECURSIVE_CTE_NODE", "CTE_NODE"}:
        names.add(str(node.get("cte_name") or node.get("ctename")).lower())
    return names


def _check(node: Node) -> None:
    kind, type_ = node.get("class"), node.get("type")
    if kind in _CALLS and "function_name" in node:
        name = str(node["function_name"]).lower()
        if name not in FUNCTIONS:
            may = " ".join(sorted(each for each in FUNCTIONS if each.isidentifier()))
            raise SQLRefused(f"it calls {name}(), and may call {may}")
    if kind in _REFUSED:
        raise SQLRefused(_REFUSED[kind])
    if kind is None and isinstance(type_, str) and _is_other_source(type_):
        raise SQLRefused("it reads something else than the views")


def _is_other_source(type_: str) -> bool:
    """Tell whether a node without a class is something else to select from."""
    return type_ not in _SOURCES | _NODES and type_.endswith(_ENDS_OF_SOURCES)
