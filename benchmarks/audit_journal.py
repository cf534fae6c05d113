"""A journal for the audit: sessions of a busy host over 30 days, the same every time.

    python benchmarks/audit_journal.py FILE [--events 2000000] [--runs 40000] [--days 30]
                                       [--seed 7]

The journal's own verbs record it, with relaxed durability, as many hosts hand things in at
once: what several runs do is interleaved. Only the clock is made up. The events come out
within about a percent of those asked for. Notes of what it holds go beside it, into
FILE.notes.json.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from audit_play import Play
from audit_run import AGENTS, Talk, Wait, World, new_talk
from audit_text import Prose
from audit_tools import Tools

from journal import Journal
from journal.ids import StreamId
from journal.stores import NewEvent, Store, StoredEvent, open_store
from journal.stores.interface import NO_FENCES, Lease

BEGIN = 1_793_404_800
"""Seconds since the epoch: 2026-10-31T00:00:00Z."""

SECOND, DAY = 1_000_000, 86_400
RUNS_PER_SESSION = 4
"""On average."""

OWN_RUNS = 0.012
"""Part of the runs that are children of others."""

BUSY_HOURS = (1, 1, 1, 1, 1, 2, 4, 8, 12, 14, 14, 12, 10, 12, 14, 13, 11, 8, 6, 4, 3, 2, 2, 1)
"""How many sessions begin in each hour of a day, compared with the others."""

TIMED = 0.5
"""Part of the sessions that begin by the clock, every ten minutes."""

OTHER_EVENTS = 34.0
"""Events of a run besides its text deltas, as a first guess."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a journal is."""

    events: int = 2_000_000
    runs: int = 40_000
    days: int = 30
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Notes:
    """What a recorded journal holds."""

    shape: Shape
    events: int
    runs: int
    seconds: float
    """Time taken to record it, with making up what is recorded."""


class ClockedStore:
    """A store whose events are recorded at the time of a clock of its own."""

    def __init__(self, store: Store, now: int) -> None:
        self._store = store
        self.now = now
        """Microseconds since the epoch."""
        self.events = 0
        """Events stored."""

    def append(
        self,
        events: Sequence[NewEvent],
        *,
        now: int,  # noqa: ARG002 - the time of the process
        fences: Mapping[StreamId, int] = NO_FENCES,
        leases: Sequence[Lease] = (),
    ) -> Sequence[StoredEvent]:
        """Store all events or none, at the time it is."""
        self.events += len(events)
        return self._store.append(events, now=self.now, fences=fences, leases=leases)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Recording:
    """Records a journal."""

    def __init__(self, store: ClockedStore, journal: Journal, shape: Shape) -> None:
        self._store, self._shape = store, shape
        dice = self._dice = random.Random(shape.seed)
        prose = Prose(dice)
        until = (BEGIN + shape.days * DAY) * SECOND
        instructions = {agent: prose.text(150) for agent in AGENTS}
        tools = Tools(dice, prose)
        self._world = World(dice, prose, tools, journal, lambda: store.now, until, instructions)
        self._begun = 0
        self._deltas = 0

    def record(self) -> int:
        """Let every session happen in its time; gives how many runs there were."""
        shape = self._shape
        waiting: list[tuple[int, int, Wait]] = []
        planned = 0
        while planned < shape.runs * (1 - OWN_RUNS):
            runs = self._dice.randint(1, 2 * RUNS_PER_SESSION - 1)
            heapq.heappush(waiting, (self._some_time(), planned, self._session(runs)))
            planned += runs
        while waiting:
            at, number, session = waiting[0]
            self._store.now = max(at, self._store.now)
            wait = next(session, None)
            if wait is None:
                heapq.heappop(waiting)
            else:
                then = at + int(wait * SECOND)
                heapq.heapreplace(waiting, (then, number, session))
        return self._begun

    def _some_time(self) -> int:
        """Draw when a session begins, leaving the last hours for those that have begun."""
        day = self._dice.randrange(self._shape.days)
        hour = self._dice.choices(range(24), BUSY_HOURS)[0]
        late = self._dice.random() * 3600
        if self._dice.random() < TIMED:
            late = late // 600 * 600 + self._dice.random() * 20
        second = day * DAY + hour * 3600 + late
        return int((BEGIN + min(second, self._shape.days * DAY - 3 * 3600)) * SECOND)

    def _session(self, runs: int) -> Wait:
        world, dice = self._world, self._dice
        talk = new_talk(world)
        at = world.stamp()
        state = {"agent_id": talk.agent, "conversation_id": talk.conversation_id}
        world.journal.save_session(
            {
                "session_id": talk.session_id,
                "namespace_id": "local",
                "title": world.prose.text(5),
                "status": "active",
                "state": state,
                "created_at": at,
                "updated_at": at,
                "revision": 1,
                "metadata": {"agent_id": talk.agent, "agent_name": talk.agent},
            }
        )
        for number in range(runs):
            if not number or not world.chance(0.2):
                talk.trace_id = f"{dice.getrandbits(128):032x}"
            yield from self._run(talk)
            gap = 40_000.0 if world.chance(0.05) else dice.lognormvariate(5, 1.2)
            if world.now() + gap * SECOND > world.until - 3600 * SECOND:
                gap = 30.0
            yield gap

    def _run(self, talk: Talk) -> Wait:
        deltas = max(2, round(self._dice.lognormvariate(0, 0.5) * 0.88 * self._due()))
        self._begun += 1
        self._deltas += deltas
        play = Play(self._world, talk, deltas)
        yield from play.play()
        self._begun += play.extra_runs

    def _due(self) -> float:
        """Tell how many deltas a run should have for the events to come out right."""
        shape, begun = self._shape, self._begun
        others = (self._store.events - self._deltas) / begun if begun > 200 else OTHER_EVENTS
        left = shape.runs - begun
        return max(2.0, (shape.events - self._store.events) / max(left, 1) - others)


def record(path: Path, shape: Shape) -> Notes:
    """Record a journal in a new file."""
    began = time.perf_counter()
    store = ClockedStore(open_store(path, create=True, durability="relaxed"), BEGIN * SECOND)
    with Journal(store) as journal:  # type: ignore[arg-type]
        runs = Recording(store, journal, shape).record()
    notes = Notes(shape, store.events, runs, time.perf_counter() - began)
    _notes(path).write_text(json.dumps(asdict(notes)), "utf-8")
    return notes


def notes_of(path: Path) -> Notes | None:
    """Read the notes of a journal that was recorded here; None of another."""
    if not (path.exists() and _notes(path).exists()):
        return None
    found = json.loads(_notes(path).read_text("utf-8"))
    return Notes(shape=Shape(**found.pop("shape")), **found)


def _notes(path: Path) -> Path:
    return path.with_name(path.name + ".notes.json")


def main() -> None:
    """Record and print what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="a new journal")
    for name, value in asdict(Shape()).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    chosen = parser.parse_args()
    if chosen.file.exists():
        parser.error(f"{chosen.file} is there already")
    shape = Shape(chosen.events, chosen.runs, chosen.days, chosen.seed)
    print(json.dumps(asdict(record(chosen.file, shape)) | {"bytes": chosen.file.stat().st_size}))


if __name__ == "__main__":
    main()
