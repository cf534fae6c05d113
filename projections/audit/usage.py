"""What was used: tokens and costs of models, calls of tools, summed by what one asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias

from journal.errors import InvalidFilter
from journal.stores.audit import LARGEST, UsagePart
from projections.audit.calls import list_calls
from projections.audit.chunked import chunked
from projections.audit.filters import AuditFilter
from projections.audit.known_runs import KnownRuns, limited

Key: TypeAlias = tuple[Any, ...]

KEYS = ("session", "run", "conversation", "parent", "agent", "model", "tool", "day")
"""What usage can be summed by: of a run its session, conversation, parent run and agent (of a
merged child run the child's); and the day, in UTC."""

_OF_RUNS = frozenset({"conversation", "parent", "agent"})
"""Keys that are told by the facts of a run."""

_COLUMNS = {"session": "session_id", "run": "run_id", "model": "model", "day": "day"}
"""The columns of rows that tell the others."""

_EPOCH = date(1970, 1, 1)


class Usage(NamedTuple):
    """What was used, summed. Sums saturate at 2^63-1.

    By `tool` it counts calls, and tokens are None: they are not a tool's. Else it counts
    responses of models, and calls are None.
    """

    key: Mapping[str, str | None]
    """The values it is the sum of, such as `{"session": "s1", "day": "2026-11-29"}`."""
    responses: int | None = None
    requests: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    total_tokens: int | None = None
    cost_micros: int | None = None
    """Micro-dollars, as far as hosts gave estimates."""
    calls: int | None = None
    failed_calls: int | None = None
    """Those that returned an error."""
    missing_returns: int | None = None
    duration_ms: int | None = None
    """Of the calls whose duration is known."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.usage` object."""
        return {
            "schema": "runjournal.audit.usage",
            "schema_version": 1,
            "key": dict(self.key),
            "responses": self.responses,
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_tokens": self.cache_read_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "total_tokens": self.total_tokens,
            "cost_micros": self.cost_micros,
            "calls": self.calls,
            "failed_calls": self.failed_calls,
            "missing_returns": self.missing_returns,
            "duration_ms": self.duration_ms,
        }


class Sums:
    """Sums by key; each saturates."""

    def __init__(self) -> None:
        self._sums: dict[Key, list[int]] = {}

    def add(self, key: Key, counts: Sequence[int]) -> None:
        """Add counts to those of a key."""
        sums = self._sums.get(key)
        if sums is None:
            self._sums[key] = list(counts)
            return
        for at, count in enumerate(counts):
            sums[at] += count

    def items(self) -> Iterator[tuple[Key, list[int]]]:
        """Yield keys and their sums, in any order."""
        for key, sums in self._sums.items():
            yield key, sums if max(sums) <= LARGEST else [min(each, LARGEST) for each in sums]


def sum_usage(known: KnownRuns, asked: AuditFilter, by: Sequence[str]) -> Iterator[Usage]:
    """Yield sums; see `Audit.usage`."""
    found = list(_of_tools(known, asked, by) if "tool" in by else _of_models(known, asked, by))
    if "day" in by:
        found.sort(key=_by_key)
    else:
        found.sort(key=lambda each: (*_largest_first(each), *_by_key(each)))
    return limited(iter(found), asked)


def check_keys(by: Sequence[str]) -> None:
    """Check what usage is to be summed by.

    Raises:
        InvalidFilter: an unknown key, one given twice, keys that do not go together, or none.
    """
    if isinstance(by, str) or not by:
        raise InvalidFilter("by", by, f"expected some of {', '.join(KEYS)}")
    for name in by:
        if name not in KEYS:
            raise InvalidFilter("by", name, f"expected one of {', '.join(KEYS)}")
    if len(set(by)) < len(by):
        raise InvalidFilter("by", by, "expected each key once")
    if {"tool", "model"} <= set(by):
        raise InvalidFilter("by", by, "a tool's calls are no model's; ask for one of them")


def _by_key(usage: Usage) -> tuple[tuple[bool, str], ...]:
    return tuple([(value is None, value or "") for value in usage.key.values()])


def _largest_first(usage: Usage) -> tuple[int, int, int]:
    return -(usage.cost_micros or 0), -(usage.total_tokens or 0), -(usage.calls or 0)


def _of_models(known: KnownRuns, asked: AuditFilter, by: Sequence[str]) -> Iterator[Usage]:
    sums = Sums()
    key_of = _keys(known, by)
    look_up = asked.status is not None or not _OF_RUNS.isdisjoint(by)
    apart = {_COLUMNS[name] for name in by if name in _COLUMNS}
    if look_up:
        apart |= {"run_id", "agent"}
    for parts in chunked(known.reader.usage(asked.wanted(), apart=apart), most=2048):
        known.look_up(_looked_up(parts, all_runs=look_up))
        for part in parts:
            run_id, child, from_state = part.run_id, part.child_run_id, part.from_state
            if run_id is not None:
                if (child is not None or from_state) and not known.is_own(
                    run_id, child, from_state=from_state
                ):
                    continue
                if not known.is_asked(run_id, asked):
                    continue
            sums.add(key_of(part), part[7:])
    for key, counts in sums.items():
        yield Usage(_named(by, key), *counts)


def _looked_up(parts: Sequence[UsagePart], *, all_runs: bool) -> set[str]:
    """List the runs whose facts decide what counts, or what it counts for."""
    found = {part.child_run_id for part in parts if part.child_run_id is not None}
    found.update(
        part.run_id for part in parts if part.run_id is not None and (all_runs or part.from_state)
    )
    return found


def _keys(known: KnownRuns, by: Sequence[str]) -> Callable[[UsagePart], tuple[Any, ...]]:
    """Give what takes the key of a part; days are numbers in it."""
    if len(by) > 1 and _OF_RUNS.isdisjoint(by):
        return itemgetter(*(UsagePart._fields.index(_COLUMNS[name]) for name in by))

    def agent(part: UsagePart) -> str | None:
        if part.child_run_id is not None:
            return part.agent
        facts = None if part.run_id is None else known.facts(part.run_id)
        return part.agent if facts is None else facts.agent

    def of_run(name: str) -> Callable[[UsagePart], str | None]:
        def get(part: UsagePart) -> str | None:
            facts = None if part.run_id is None else known.facts(part.run_id)
            found: str | None = None if facts is None else getattr(facts, name)
            return found

        return get

    ways: dict[str, Callable[[UsagePart], Any]] = {
        name: attrgetter(column) for name, column in _COLUMNS.items()
    }
    ways["agent"] = agent
    ways["conversation"] = of_run("conversation_id")
    ways["parent"] = of_run("parent_run_id")
    wanted = [ways[name] for name in by]
    return lambda part: tuple([way(part) for way in wanted])


def _named(by: Sequence[str], key: tuple[Any, ...]) -> dict[str, str | None]:
    """Give a key by its names."""
    named = dict(zip(by, key, strict=True))
    if named.get("day") is not None:
        named["day"] = _date(named["day"])
    return named


@lru_cache(maxsize=1024)
def _date(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


def _of_tools(known: KnownRuns, asked: AuditFilter, by: Sequence[str]) -> Iterator[Usage]:
    sums = Sums()
    for call in list_calls(known, asked.without_limit()):
        at = call.called_at if call.called_at is not None else call.returned_at or 0
        values = {
            "session": call.session_id,
            "run": call.run_id,
            "conversation": call.conversation_id,
            "parent": call.parent_run_id,
            "agent": call.agent,
            "tool": call.tool,
            "day": datetime.fromtimestamp(at // 1_000_000, UTC).date().isoformat(),
        }
        counts = (1, int(call.failed), int(call.returned_at is None), call.duration_ms or 0)
        sums.add(tuple(values[name] for name in by), counts)
    for key, (calls, failed, missing, duration) in sums.items():
        yield Usage(
            dict(zip(by, key, strict=True)),
            calls=calls,
            failed_calls=failed,
            missing_returns=missing,
            duration_ms=duration,
        )
