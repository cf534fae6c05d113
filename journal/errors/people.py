"""The call names something that waits for a person, and it is not there, or not alone."""

from __future__ import annotations

from dataclasses import dataclass

from journal.errors.base import FixInput
from journal.errors.fix_input import NotFound


@dataclass(eq=False)
class WaitingNotFound(NotFound):
    """No approval, or deferred tool call, has this id."""

    noun: str
    id: str
    run_id: str | None
    """Where it was looked for; None for every run."""

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        where = "this journal" if self.run_id is None else f"run {self.run_id!r}"
        command = "approvals" if self.noun == "approval" else "deferred"
        return f"no {self.noun} {self.id!r} in {where}; `runjournal {command} --all` lists them"


@dataclass(eq=False)
class AmbiguousId(FixInput):
    """Several runs have an approval, or a deferred tool call, of this id."""

    noun: str
    id: str
    run_ids: tuple[str, ...]

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        runs = ", ".join(repr(run_id) for run_id in self.run_ids)
        return f"the {self.noun} {self.id!r} is in the runs {runs}; say which one with --run RUN"
