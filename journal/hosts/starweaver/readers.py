"""Who reads which run of this process: a reader and the store of its run find each other here.

Only its first item tells a reader the run's id, and the runtime does not wait for readers. So
the first checkpoint of a run does: it is taken in the event loop, which a host that reads the
run gives way to only when it waits for that item, and awaits the reader there, as a thread of
the runtime that is held up might be the one that has the item.
"""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass

from starweaver import AgentRun
from starweaver.environment import EnvironmentProvider

from journal.executor import Policy

WAIT_SECONDS = 10.0
"""How long a run's first checkpoint waits for its reader to say what it brings. It has read
the run's first record at once, unless somebody blocks its event loop."""

LOOK_SECONDS = 0.001
"""How often it looks meanwhile."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the reader of a run brings for the store of it."""

    run: AgentRun
    environment: EnvironmentProvider | None
    """Exported at each checkpoint."""
    policy: Policy | None
    """Decides at each checkpoint whether the run goes on."""


class Readers:
    """The readers of runs, and what they bring."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expected: set[Expected] = set()
        self._by_run: dict[str, Recorded] = {}

    def expect(self, brought: Recorded) -> Expected:
        """Say that somebody begins to read a run, and brings something for it."""
        expected = Expected(self, brought)
        with self._lock:
            self._expected.add(expected)
        return expected

    def of(self, run_id: str) -> Recorded | None:
        """Give what the reader of a run brought; None where nobody is known to read it."""
        with self._lock:
            return self._by_run.get(run_id)

    def may_come(self, run_id: str) -> bool:
        """Tell whether a reader may turn out to be the run's."""
        with self._lock:
            return run_id not in self._by_run and bool(self._expected)

    async def wait(self, run_id: str) -> None:
        """Wait until no reader may turn out to be the run's any more."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.may_come(run_id) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)  # it is settled in any thread and loop

    def settle(self, expected: Expected, run_id: str | None) -> None:
        """Note the run of a reader; None where it read nothing."""
        with self._lock:
            self._expected.discard(expected)
            if run_id is not None:
                self._by_run[run_id] = expected.brought

    def forget(self, run_id: str) -> None:
        """Forget the reader of a run."""
        with self._lock:
            self._by_run.pop(run_id, None)


class Expected:
    """A reader that may not know yet which run it reads."""

    def __init__(self, readers: Readers, brought: Recorded) -> None:
        self.brought = brought
        self._readers = readers
        self._run_id: str | None = None

    def is_of(self, run_id: str) -> None:
        """Say which run it is; once."""
        self._run_id = run_id
        self._readers.settle(self, run_id)

    def close(self) -> None:
        """Say that nobody reads any more."""
        if self._run_id is None:
            self._readers.settle(self, None)
        else:
            self._readers.forget(self._run_id)


recorded_runs = Readers()
"""Those of this process."""
