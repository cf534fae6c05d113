"""Audit rows to test with, and what a store of them must answer, worked out from lists."""

from hypothesis import strategies as st

from journal.stores.audit import APART, LARGEST, AuditRow, RunFacts, UsagePart, Wanted
from journal.stores.audit_sql import TOKENS
from journal.words import words

DAY = 86_400_000_000

_NO_ROW = dict.fromkeys(AuditRow._fields)
_NO_FACTS = dict.fromkeys(RunFacts._fields)


def row(position, **fields):
    """A row; what is not given is as little as a row can have."""
    known = {
        "position": position,
        "part": 0,
        "version": position,
        "run_id": "run-1",
        "anchor": position,
        "rank": 0,
        "recorded_at": position * 1000,
        "kind": "message",
        "from_state": False,
    }
    return AuditRow(**(_NO_ROW | known | fields))


def facts(run_id, position, **fields):
    """Facts of a run; what is not given is as little as facts can have."""
    known = {
        "run_id": run_id,
        "opened_at": 1000,
        "updated_at": position * 1000,
        "version": position,
        "position": position,
        "anchor": -1,
        "records": 0,
        "sequences": "",
        "trace_ids": "[]",
        "archived": False,
        "state": "{}",
    }
    return RunFacts(**(_NO_FACTS | known | fields))


class PlainReader:
    """An `AuditReader` of lists, which looks at every row for every question."""

    def __init__(self, rows, runs):
        self._rows = rows
        self._runs = {each.run_id: each for each in runs}

    def rows(self, wanted, *, limit=None):
        found = [each for each in self._rows if fits(each, wanted)]
        return sorted(found, key=newest, reverse=True)[:limit]

    def timeline(self, run_id):
        found = [each for each in self._rows if each.run_id == run_id]
        return sorted(found, key=lambda each: (each.anchor, each.rank, each.version, each.part))

    def calls(self, calls):
        return [row for row in self._rows if (row.run_id, row.call_id) in calls]

    def items(self, items):
        return [row for row in self._rows if (row.run_id, row.item_id) in items]

    def open_calls(self, wanted):
        def call(row):
            return row.run_id, row.child_run_id, row.call_id, row.step

        returned = {call(row) for row in self._rows if row.kind == "tool_return"}
        return [
            row
            for row in self.rows(wanted)
            if row.kind == "tool_call" and (row.call_id is None or call(row) not in returned)
        ]

    def usage(self, wanted, apart=APART):
        sums = {}
        for row in self._rows:
            counts = tuple(getattr(row, name) for name in TOKENS)
            is_response = row.kind == "model_response"
            if not fits(row, wanted) or not (is_response or any(n is not None for n in counts)):
                continue
            of = row._asdict() | {"day": row.recorded_at // DAY}
            if row.child_run_id is None and not row.from_state:
                of |= dict.fromkeys(APART - set(apart))
            group = tuple(of[name] for name in UsagePart._fields[:7])
            before = sums.get(group, (0,) * 8)
            added = (int(is_response and row.status != "repeated"), *(n or 0 for n in counts))
            sums[group] = tuple(min(a + b, LARGEST) for a, b in zip(before, added, strict=True))
        return {UsagePart(*group, *counts) for group, counts in sums.items()}

    def holding(self, phrase, wanted):
        """Give the rows that `matching` must give at least."""
        asked = words(phrase)
        return [row for row in self.rows(wanted) if holds(row.text or "", asked)]

    def runs(self, *, statuses=None, session_id=None, since=None, until=None):
        found = [
            run
            for run in self._runs.values()
            if (statuses is None or run.status in statuses)
            and (session_id is None or run.session_id == session_id)
            and (since is None or ended(run) >= since)
            and (until is None or ended(run) < until)
        ]
        return sorted(found, key=lambda run: (run.updated_at, run.position), reverse=True)

    def facts(self, run_ids):
        return {run: self._runs[run] for run in run_ids if run in self._runs}


def fits(row, wanted):
    return (
        (wanted.since is None or row.recorded_at >= wanted.since)
        and (wanted.until is None or row.recorded_at < wanted.until)
        and (wanted.session_id is None or row.session_id == wanted.session_id)
        and (wanted.run_id is None or row.run_id == wanted.run_id)
        and (wanted.kinds is None or row.kind in wanted.kinds)
        and (wanted.statuses is None or row.status in wanted.statuses)
        and (wanted.tool is None or row.tool == wanted.tool)
    )


def newest(row):
    return row.recorded_at, row.position, row.part


def ended(run):
    return run.updated_at if run.ended_at is None else run.ended_at


def holds(text, asked):
    there = words(text)
    return any(there[at : at + len(asked)] == asked for at in range(len(there)))


RUNS = ("run-1", "run-2", "rün '3\"", "run%4")
SESSIONS = (None, "s-1", "s'; DROP TABLE audit_rows; --")
KINDS = ("message", "model_response", "tool_call", "tool_return", "custom:x", "usage")
STATUSES = (None, "ok", "error", "repeated")
TOOLS = (None, "shell", "sh'ell%")
CALLS = (None, "call-1", "call-2")
WORDS = ("alpha", "Beta", "BETA", "gamma_delta", "straße", "STRASSE", "日本語", "ไทย", "ꮳꮃꭹ", "AND")
COUNTS = st.none() | st.integers(0, 5) | st.sampled_from([2**62, LARGEST])

_texts = st.none() | st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
_fields = st.fixed_dictionaries(
    {
        "run_id": st.sampled_from(RUNS),
        "session_id": st.sampled_from(SESSIONS),
        "agent": st.sampled_from((None, "main", "reader")),
        "child_run_id": st.sampled_from((None, "run-2")),
        "anchor": st.integers(-1, 3) | st.just(LARGEST),
        "rank": st.integers(0, 1),
        "recorded_at": st.integers(0, 4) | st.sampled_from([DAY - 1, DAY, 3 * DAY]),
        "kind": st.sampled_from(KINDS),
        "tool": st.sampled_from(TOOLS),
        "call_id": st.sampled_from(CALLS),
        "item_id": st.sampled_from((None, "item-1")),
        "status": st.sampled_from(STATUSES),
        "model": st.sampled_from((None, "m-1", "m-2")),
        "input_tokens": COUNTS,
        "cost_micros": COUNTS,
        "from_state": st.booleans(),
        "text": _texts,
    }
)


@st.composite
def histories(draw):
    """Rows by rising position, several of some events."""
    rows, position = [], 0
    for fields, step in draw(st.lists(st.tuples(_fields, st.integers(0, 3)), max_size=40)):
        follows = step == 0 and rows
        position += 0 if follows else max(step, 1)
        part = rows[-1].part + 1 if follows else 0
        if follows:
            fields["run_id"] = rows[-1].run_id  # an event is of one run
        rows.append(row(position, part=part, **fields))
    return rows


_optional_time = st.none() | st.integers(-1, 5) | st.sampled_from([DAY, 2**70, -(2**70)])
wanted = st.builds(
    Wanted,
    since=_optional_time,
    until=_optional_time,
    session_id=st.sampled_from((*SESSIONS, "nobody's")),
    run_id=st.sampled_from((None, None, *RUNS, "none")),
    kinds=st.none() | st.sets(st.sampled_from((*KINDS, "unknown")), max_size=3),
    statuses=st.none() | st.sets(st.sampled_from((*STATUSES[1:], "unknown")), max_size=2),
    tool=st.sampled_from((*TOOLS, "unknown")),
)

wanted_used = st.builds(
    Wanted,
    since=st.none() | st.integers(-1, 5) | st.sampled_from([-DAY, 0, DAY - 1, DAY, 2 * DAY, 2**70]),
    until=st.none() | st.integers(-1, 5) | st.sampled_from([0, DAY, DAY + 1, 4 * DAY, -(2**70)]),
    session_id=st.sampled_from((*SESSIONS, None, "nobody's")),
    run_id=st.sampled_from((None, None, None, *RUNS, "none")),
)
"""What usage is most often asked of: whole days among it, and everything of a time."""


def runs_of(rows):
    """The facts of each run of some rows."""
    found = {}
    for each in rows:
        status = ("completed", "failed", None)[each.position % 3]
        found[each.run_id] = facts(
            each.run_id,
            each.position,
            session_id=each.session_id,
            status=status,
            updated_at=each.recorded_at,
            ended_at=each.recorded_at + 1 if status else None,
        )
    return list(found.values())
