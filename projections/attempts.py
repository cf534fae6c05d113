"""The attempts at a run, and what operators allowed the next one."""

from __future__ import annotations

from journal.ancestry import ancestry
from journal.events import ResumeAllowed, RunResumed
from journal.reader import Reader


class Attempts:
    """What the earlier attempts at a run recorded; of a fork, those that it inherits, too."""

    def __init__(self, reader: Reader, run_id: str) -> None:
        self.attempts = 1
        self.generation = 0
        self.unknown: set[str] = set()
        self.given: set[str] = set()
        """Ids of the decisions that were handed to an attempt."""
        self.given_last: set[str] = set()
        """Those that the last one was handed."""
        self.may_rerun: set[str] = set()
        """Ids of the tool calls that operators allowed the next attempt to run again."""
        self.trusts = False
        for lineage in reversed(ancestry(reader, run_id)):
            for event in reader.run_events(
                lineage.source, upto=lineage.version, names=(RunResumed.NAME,)
            ):
                resumed = event.event
                if isinstance(resumed, RunResumed):
                    self._resumed(resumed)
        names = (ResumeAllowed.NAME, RunResumed.NAME)
        for event in reader.run_events(run_id, names=names):
            match event.event:
                case RunResumed(generation=generation) as resumed:
                    self._resumed(resumed)
                    self.attempts += 1
                    self.generation = 0 if event.imported else generation or 0
                    self.may_rerun, self.trusts = set(), False
                case ResumeAllowed(imported=None) as allowed:
                    self.may_rerun |= set(allowed.rerun or ())
                    self.trusts = self.trusts or bool(allowed.trust_imported)

    def _resumed(self, resumed: RunResumed) -> None:
        self.unknown |= set(resumed.unknown or ())
        self.given_last = set(resumed.decisions or ())
        self.given |= self.given_last
