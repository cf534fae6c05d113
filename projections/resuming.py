"""Going on with a run that waits, was suspended, or crashed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from journal import times
from journal.errors import RunIsLeased, VersionConflict
from journal.facts import noted
from journal.ids import run_stream
from journal.offers import Offer
from journal.owner import named
from journal.run import Run
from projections.resumable import Decisions, InterruptedToolCall, ResumeState, resume_state
from projections.view import RunView

if TYPE_CHECKING:
    from journal.aio import AsyncJournal, AsyncRun
    from journal.journal import Journal

OpenRun = TypeVar("OpenRun", bound="Run | AsyncRun")


@dataclass(frozen=True, slots=True)
class Resumption(Generic[OpenRun]):
    """What a host goes on from: a run that is its own now, and how it stood before.

    Release the run as any other: `with resumption.run:`.
    """

    run: OpenRun
    """Open for writing."""
    view: RunView
    """The run at its latest point, before it was resumed."""
    attempt: int
    """Counts the attempts at the run; the first one, which nothing resumed, was 1."""
    generation: int
    """Of the lease that the run is written under."""
    next_sequence: int
    """What the attempt numbers its stream records from: above everything recorded."""
    crashed: bool
    """Whether the attempt before ended without saying that the run waits."""
    open_tool_calls: tuple[InterruptedToolCall, ...]
    """The tool calls without an answer. One that may have run already is
    `unknown_after_crash`: never run it, answer the model that its outcome is unknown."""
    tool_returns: tuple[dict[str, Any], ...]
    """The answers of tools that were recorded after `messages`: those tools have run."""
    decisions: Decisions
    """What was decided meanwhile, to be applied: only the approved calls in it may run."""

    @property
    def reason(self) -> str | None:
        """Why it was suspended, where somebody said so."""
        suspended = self.view.live.suspended
        return None if suspended is None else str(suspended["reason"])

    @property
    def checkpoint(self) -> dict[str, Any] | None:
        """The checkpoint to go on from; None for a run that never got to one."""
        return self.view.checkpoint

    @property
    def messages(self) -> tuple[dict[str, Any], ...]:
        """The history to go on from; see `RunView`."""
        return self.view.messages


def resume(  # noqa: PLR0913 - the run, and what is accepted of it
    journal: Journal,
    run_id: str,
    *,
    accept_rerun: bool | Collection[str] = False,
    trust_imported: bool = False,
    takeover: bool = False,
    claim_id: str | None = None,
) -> Resumption[Run]:
    """Take a run that waits, was suspended or crashed, and record that it goes on.

    What an operator allowed beforehand (`Journal.allow_resume`) holds for one resume. When it
    is refused nothing is written and no lease kept.

    Args:
        accept_rerun: ids of tool calls that may have run already and may run again; True for
            all. It holds for this attempt only.
        trust_imported: whether decisions may be acted on that came by `ingest` from another
            journal.
        takeover: take the run also from an owner that is alive, whose writes are refused from
            then on; its tools may still be running.
        claim_id: the claim that the caller holds on the run (`Journal.claim_resume`).

    Raises:
        StateConflict: the run ended; it waits for decisions, or some came from another journal
            and are not trusted; or somebody else has claimed it.
        RunIsLeased: somebody is writing the run.
        RunNotFound: nothing of this run was ever recorded.
        UnknownEvent, CorruptEvent, BrokenBase: the run cannot be read.
    """

    def look() -> ResumeState:
        return resume_state(
            journal,
            run_id,
            accept_rerun=accept_rerun,
            trust_imported=trust_imported,
            claim_id=claim_id,
        )

    look()  # refused here, where nothing was written yet
    lease = journal.reader.lease(run_id)
    before = 0 if lease is None else lease.generation
    run = journal.run(run_id, takeover=takeover)
    try:
        while True:
            state = look()
            _must_be_ours(journal, run, state, before)
            try:
                _record(journal, run, state)
            except VersionConflict:
                continue
            return _resumption(run, state)
    except BaseException:
        run.release()
        raise


async def aresume(  # noqa: PLR0913 - the run, and what is accepted of it
    journal: AsyncJournal,
    run_id: str,
    *,
    accept_rerun: bool | Collection[str] = False,
    trust_imported: bool = False,
    takeover: bool = False,
    claim_id: str | None = None,
) -> Resumption[AsyncRun]:
    """Take a run and record that it goes on, without blocking the event loop; see `resume`.

    A task that is cancelled here gives the run back.
    """
    from journal.aio import AsyncRun  # noqa: PLC0415 - only who awaits needs it

    taken = await journal.acquire(
        lambda: resume(
            journal.sync,
            run_id,
            accept_rerun=accept_rerun,
            trust_imported=trust_imported,
            takeover=takeover,
            claim_id=claim_id,
        ),
        lambda unwanted: unwanted.run.release(),
    )
    return replace(cast("Resumption[Any]", taken), run=AsyncRun(journal, taken.run))


def _record(journal: Journal, run: Run, state: ResumeState) -> None:
    """Record that the run goes on, if it still stands as it was seen.

    Raises:
        VersionConflict: it does not.
    """
    change = run.offers.resumed(
        {
            "attempt": state.attempt,
            "generation": run.generation,
            "crashed": state.crashed or None,
            "unknown": [*state.unknown] or None,
            "rerun": [*state.rerun] or None,
            "decisions": [*state.decided] or None,
            "trusted_imported": state.imported or None,
        }
    )
    made = noted(change, run.session_id)

    def decide() -> list[Offer]:
        head = journal.reader.head(run.run_id)
        if head != state.version:
            raise VersionConflict(run_stream(run.run_id), state.version, head)
        return made

    run.write_decided(decide)


def _resumption(run: Run, state: ResumeState) -> Resumption[Run]:
    anchor = state.view.cursor.stream
    return Resumption(
        run=run,
        view=state.view,
        attempt=state.attempt,
        generation=run.generation,
        next_sequence=0 if anchor is None else anchor + 1,
        crashed=state.crashed,
        open_tool_calls=state.open_tool_calls,
        tool_returns=state.tool_returns,
        decisions=state.decisions,
    )


def _must_be_ours(journal: Journal, run: Run, state: ResumeState, before: int) -> None:
    """Check that nobody else writes a run that is under way with the same lease.

    The handles that one journal gives on a run share a lease.

    Args:
        before: generation of the run's lease before it was taken.

    Raises:
        RunIsLeased: the lease was there already, or another caller resumed the run with it.
    """
    if not state.crashed or run.generation > max(before, state.generation):
        return
    lease = journal.reader.lease(run.run_id)
    owner = "another handle of this journal" if lease is None else named(lease)
    left = 0.0 if lease is None else max(0.0, (lease.expires_at - times.now()) / 1e6)
    raise RunIsLeased(run.run_id, owner, run.generation, left)
