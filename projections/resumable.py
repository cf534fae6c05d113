"""How a run may go on: what it waits for, what was decided, which tool calls may have run.

A run whose host said that it waits has stopped in order: a tool call that its last checkpoint
holds open was not started. Of any other nobody knows what its open tool calls did: a tool may
have run to its end, with or without a record of the call, as hosts start it before the record
is seen. The same holds of a call that was approved and handed to an attempt which ended
without its answer. What is unknown once stays so until the answer is recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from journal.claims import current_claim
from journal.errors import StateConflict
from journal.events import RunSealed
from journal.ids import Version
from journal.records import TERMINAL
from journal.related import goes_on_in
from journal.run_status import current_status
from projections.attempts import Attempts
from projections.call_answers import CallAnswers
from projections.reading import HasReader
from projections.replaying import replay
from projections.standing import UNFINISHED, derived_status
from projections.stopped import stopped_in_order
from projections.view import RunView
from projections.waiting import Waiting
from projections.waiting_item import APPROVAL, DEFERRED_TOOL, WaitingItem

PENDING: Final = "pending"
"""The tool was not started: the run stopped in order before it."""

UNKNOWN_AFTER_CRASH: Final = "unknown_after_crash"
"""The tool may have run, as a whole or in part."""

ACCEPTED_RERUN: Final = "accepted_rerun"
"""The tool may have run, and somebody accepted that it runs again."""

FORK_IT = "fork it at a cursor to go on from there in another run"


@dataclass(frozen=True, slots=True)
class InterruptedToolCall:
    """A tool call without an answer, of a run that is resumed."""

    id: str
    name: str
    arguments: Any
    """As the model gave them: any JSON, a raw string, or an invalid-arguments object."""
    state: str
    """`pending`, `unknown_after_crash` or `accepted_rerun`."""

    @property
    def may_run(self) -> bool:
        """Tell whether the host may run the tool.

        Never of one that may have run already, unless somebody accepted that.
        """
        return self.state != UNKNOWN_AFTER_CRASH

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
            "state": self.state,
        }


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was decided while a run waited, for the host to apply."""

    approvals: tuple[dict[str, Any], ...] = ()
    """Records of the approvals that were decided, either way, in the order of the requests."""
    deferred_tools: tuple[dict[str, Any], ...] = ()
    """Records of the deferred tool calls that ended, in the same order."""


@dataclass(frozen=True, slots=True)
class ResumeState:
    """How a run stands that may be resumed."""

    version: Version
    """Of the run's last event that this takes in."""
    view: RunView
    attempt: int
    """The number that the next attempt at the run gets."""
    generation: int
    """Of the last lease under which this journal resumed it; 0 when it never did."""
    crashed: bool
    """Whether nobody said that it waits."""
    open_tool_calls: tuple[InterruptedToolCall, ...]
    tool_returns: tuple[dict[str, Any], ...]
    """The answers of tools that were recorded after the messages, in order."""
    decisions: Decisions
    unknown: tuple[str, ...]
    """Ids of the tool calls that may have run."""
    rerun: tuple[str, ...]
    """Those of them that were accepted to run again."""
    decided: tuple[str, ...]
    """Ids of what is in `decisions`."""
    imported: bool
    """Whether some of that came from another journal, and is trusted."""


def resume_state(
    journal: HasReader,
    run_id: str,
    *,
    accept_rerun: bool | Collection[str] = False,
    trust_imported: bool = False,
    claim_id: str | None = None,
) -> ResumeState:
    """Tell how a run would be resumed now; nothing is written, whoever is writing it.

    Args:
        accept_rerun: see `projections.resume`.
        trust_imported: see `projections.resume`.
        claim_id: see `projections.resume`.

    Raises:
        StateConflict: it must not go on as it stands.
        RunNotFound: nothing of this run was ever recorded.
        UnknownEvent, CorruptEvent, BrokenBase: the run cannot be read.
    """
    version = journal.reader.head(run_id)
    view = replay(journal, run_id)
    _must_not_have_ended(journal, view)
    _must_be_free(journal, run_id, claim_id)
    past = Attempts(journal.reader, run_id)
    calls = CallAnswers(journal, view)
    waiting = Waiting(journal, run_id)
    items = [
        item
        for kind in (APPROVAL, DEFERRED_TOOL)
        for item in waiting.items(kind)
        if item.record[kind.call_key] not in calls.answered
    ]
    _must_be_decided(run_id, items)
    crashed = view.live.status != "waiting"
    in_order = stopped_in_order(journal, view)
    open_calls = {call.id: (call.name, call.arguments) for call in view.live.open_tool_calls}
    unknown = {each for each in open_calls if not in_order or calls.was_started(each)}
    unknown |= past.unknown & open_calls.keys()
    decided = [item for item in items if _is_due(item, past, calls, in_order=in_order)]
    uncertain = {
        item.record["action_id"]: item
        for item in decided
        if item.status == "approved"
        and _may_have_run(item, past, calls, unknown, in_order=in_order)
    }
    unknown |= uncertain.keys()
    accepted = past.may_rerun | _accepted(
        run_id, open_calls.keys() | unknown, accept_rerun=accept_rerun
    )
    applied = []
    for item in decided:
        call_id = item.record[item.kind.call_key]
        if call_id not in uncertain or call_id in accepted:
            applied.append(item)
            open_calls.pop(call_id, None)  # the decision says what becomes of it
            if call_id not in uncertain:
                unknown.discard(call_id)
        else:
            open_calls.setdefault(call_id, (str(item.name), calls.arguments(call_id, item)))
    _must_be_trusted(run_id, applied, trusted=trust_imported or past.trusts)
    return ResumeState(
        version=version,
        view=view,
        attempt=past.attempts + 1,
        generation=past.generation,
        crashed=crashed,
        open_tool_calls=tuple(
            InterruptedToolCall(call_id, *call, _state(call_id, unknown, accepted))
            for call_id, call in open_calls.items()
        ),
        tool_returns=tuple(calls.returns),
        decisions=Decisions(
            tuple(item.record for item in applied if item.kind is APPROVAL),
            tuple(item.record for item in applied if item.kind is DEFERRED_TOOL),
        ),
        unknown=tuple(sorted(unknown)),
        rerun=tuple(sorted(unknown & accepted)),
        decided=tuple(item.id for item in applied),
        imported=any(item.imported for item in applied),
    )


def _is_due(item: WaitingItem, past: Attempts, calls: CallAnswers, *, in_order: bool) -> bool:
    """Tell whether a decision is still to be applied, as far as anybody can tell.

    Whatever is about a tool call of the run is, until that is answered.
    """
    if calls.knows(item.record[item.kind.call_key]):
        return True
    if item.id in past.given:
        return not in_order and item.id in past.given_last
    return not calls.checkpointed_since(item)


def _may_have_run(
    item: WaitingItem, past: Attempts, calls: CallAnswers, unknown: set[str], *, in_order: bool
) -> bool:
    """Tell whether the tool of an approved call may have run already.

    A host that died may have acted on what it was given, and on what it saw while it lived.
    """
    call_id = item.record["action_id"]
    if call_id in unknown or call_id in past.unknown:
        return True
    return not in_order and (item.id in past.given or calls.host_lived_after(item))


def _state(call_id: str, unknown: set[str], accepted: set[str]) -> str:
    if call_id not in unknown:
        return PENDING
    return ACCEPTED_RERUN if call_id in accepted else UNKNOWN_AFTER_CRASH


def _accepted(
    run_id: str, calls: Collection[str], *, accept_rerun: bool | Collection[str]
) -> set[str]:
    if isinstance(accept_rerun, bool):
        return set(calls) if accept_rerun else set()
    accepted = {accept_rerun} if isinstance(accept_rerun, str) else set(accept_rerun)
    for call_id in sorted(accepted.difference(calls)):
        open_calls = ", ".join(map(repr, sorted(calls))) or "none"
        reason = f"has no open tool call {call_id!r}"
        raise StateConflict(f"run {run_id!r}", reason, f"accept those that are: {open_calls}")
    return accepted


def _must_not_have_ended(journal: HasReader, view: RunView) -> None:
    reader, run_id = journal.reader, view.run_id
    what = f"run {run_id!r}"
    other = goes_on_in(reader, run_id)
    for status in (view.live.status, current_status(reader, run_id)):
        if status in TERMINAL and other is None:
            raise StateConflict(what, f"is {status}", FORK_IT)
        if status in TERMINAL:
            how = f"is {status}: it went on in run {other!r}"
            raise StateConflict(what, how, _instead(journal, str(other)))
    if reader.last_run_event(run_id, (RunSealed.NAME,)) is not None:
        raise StateConflict(what, "is closed for good", FORK_IT)


def _instead(journal: HasReader, other: str) -> str:
    """Tell what to do about a run that another one goes on with."""
    status = replay(journal, other, tail=0).live.status
    standing = derived_status(journal, other, status)
    if standing in UNFINISHED:
        return f"resume that one: it is {standing}"
    if standing in TERMINAL:
        return f"that one is {standing}, too: fork it at a cursor to go on from there"
    return "its host is at work on that one: suspend it to stop that"


def _must_be_free(journal: HasReader, run_id: str, claim_id: str | None) -> None:
    reader = journal.reader
    other = goes_on_in(reader, run_id)
    if other is not None:
        reason = f"goes on in run {other!r}"
        raise StateConflict(f"run {run_id!r}", reason, _instead(journal, other))
    held = current_claim(reader, run_id)
    if held is not None and held.claim_id != claim_id and not held.under_lease:
        raise StateConflict(
            f"run {run_id!r}",
            f"has an active resume claim: {held.claim_id!r}, {held.state}",
            "its holder goes on with the run; who holds it resumes with its claim_id",
        )


def _must_be_decided(run_id: str, items: Iterable[WaitingItem]) -> None:
    undecided = [item for item in items if item.is_open]
    if undecided:
        listed = ", ".join(f"{item.kind.noun} {item.id!r} ({item.name})" for item in undecided)
        raise StateConflict(
            f"run {run_id!r}",
            f"waits for {listed}",
            "decide first: runjournal approve, deny, or deferred complete",
        )


def _must_be_trusted(run_id: str, applied: Iterable[WaitingItem], *, trusted: bool) -> None:
    foreign = [f"{item.kind.noun} {item.id!r}" for item in applied if item.imported]
    if foreign and not trusted:
        raise StateConflict(
            f"run {run_id!r}",
            f"has decisions that came by ingest from another journal: {', '.join(foreign)}",
            "look at them, then resume with trust_imported=True, or let an operator allow it "
            "with runjournal resume RUN --trust-imported",
        )
