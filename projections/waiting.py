"""What waits for a person: approvals to be decided, deferred tool calls to be ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from journal.archived import must_be_here
from journal.codec import RecordedEvent
from journal.errors import BrokenBase, CorruptEvent, RunNotFound, UnknownEvent
from journal.ids import Version, run_stream
from journal.records import TERMINAL
from journal.times import format_time
from projections.blame import blamed_on
from projections.control_flow import ToolAsked, tools_asked
from projections.fold import RunFold
from projections.looked_up import LookedUp
from projections.order import shaped, text
from projections.reading import HasReader
from projections.run_at import documents_of
from projections.run_index import RunIndex
from projections.standing import derived_status
from projections.waiting_item import APPROVAL, DEFERRED_TOOL, WaitingItem, WaitingKind


def pending_approvals(
    journal: HasReader,
    *,
    session: str | None = None,
    run: str | None = None,
    everything: bool = False,
) -> list[WaitingItem]:
    """List the approvals that wait for a person, newest first by the time they were recorded.

    Those of which a record says that they are pending, and those that a tool asked for in a
    run that did not end, without a record yet. A run that cannot be read is listed last, with
    its error.

    Args:
        session: only of runs of this session.
        run: only of this run.
        everything: also those that were decided.

    Raises:
        RunNotFound: nothing of `run` was ever recorded.
        RunIsArchived: its events are in an archive only.
    """
    return waiting_items(journal, APPROVAL, session=session, run=run, everything=everything)


def pending_deferred_tools(
    journal: HasReader,
    *,
    session: str | None = None,
    run: str | None = None,
    everything: bool = False,
) -> list[WaitingItem]:
    """List the deferred tool calls that wait for their end; see `pending_approvals`."""
    return waiting_items(journal, DEFERRED_TOOL, session=session, run=run, everything=everything)


def waiting_items(
    journal: HasReader,
    kind: WaitingKind,
    *,
    session: str | None = None,
    run: str | None = None,
    everything: bool = False,
) -> list[WaitingItem]:
    """List the items of a kind; see `pending_approvals`."""
    reader = journal.reader
    if run is not None:
        if not reader.has_run(run):
            raise RunNotFound(run)
        must_be_here(reader.store, run_stream(run))
    found = [
        item
        for run_id in (reader.run_ids() if run is None else [run])
        for item in _of_run(journal, kind, run_id, session)
        if everything or item.is_open or item.error is not None
    ]
    return sorted(found, key=_newest_first)


def _newest_first(item: WaitingItem) -> int:
    return 1 if item.recorded_at is None else -item.recorded_at


def _of_run(
    journal: HasReader, kind: WaitingKind, run_id: str, session: str | None
) -> Iterator[WaitingItem]:
    session_id: str | None = None
    try:
        if journal.reader.dropped(run_id) is not None:
            return  # it ended, and nothing in it waited
        opened = journal.reader.event(run_stream(run_id), Version(1))
        session_id = None if opened is None else opened.data.get("session_id")
        if session is None or session_id == session:
            yield from Waiting(journal, run_id).items(kind)
    except (BrokenBase, CorruptEvent, UnknownEvent) as error:
        if session is None or session_id in (None, session):
            yield WaitingItem(kind, run_id, session_id, error=error.message)


class Waiting:
    """Finds what waits in one run."""

    def __init__(self, journal: HasReader, run_id: str) -> None:
        self._journal = journal
        self._index = RunIndex(journal, run_id)
        self._looked_up = LookedUp(journal.reader)

    def items(self, kind: WaitingKind) -> list[WaitingItem]:
        """List the run's items of a kind, also those that do not wait any more.

        Raises:
            CorruptEvent, BrokenBase, UnknownEvent: the run cannot be read.
        """
        index = self._index
        with blamed_on(index.stream):
            fold, _ = index.folded(index.whole, self._looked_up.see)
            recorded = fold.approvals if kind is APPROVAL else fold.deferred_tools
            status = fold.progress.status
            asked = [] if status in TERMINAL else self._asked(fold, kind)
            if not recorded and not asked:
                return []
            standing = derived_status(
                self._journal, index.run_id, status, version=index.tracking.version
            )
            items = [
                self._recorded(kind, fold, standing, event)
                for event in self._looked_up.all(list(recorded.values()))
            ]
        known = {item.record[kind.call_key] for item in items} | {item.id for item in items}
        for each in asked:
            item = self._derived(kind, fold, standing, each)
            if each.tool_call_id not in known and item.id not in known:
                items.append(item)
        return items

    def _asked(self, fold: RunFold, kind: WaitingKind) -> list[ToolAsked]:
        index = self._index
        documents = documents_of(self._journal)
        levels = index.levels(index.whole)
        asked = tools_asked(levels, fold, self._looked_up, documents)
        return [each for each in asked if each.control_flow == kind.control_flow]

    def _recorded(
        self, kind: WaitingKind, fold: RunFold, standing: str | None, event: RecordedEvent
    ) -> WaitingItem:
        with shaped(event):
            record: dict[str, Any] = event.data["record"]
            for key in (kind.id_key, kind.call_key, kind.name_key, "status"):
                text(record[key])
            item = WaitingItem(
                kind,
                self._index.run_id,
                fold.session_id,
                standing,
                record,
                event.recorded_at,
                imported="imported" in event.data,
                inherited=event.stream != self._index.stream,
            )
            _ = item.decision  # whoever reads it looks into the record
        return item

    def _derived(
        self, kind: WaitingKind, fold: RunFold, standing: str | None, asked: ToolAsked
    ) -> WaitingItem:
        moment = format_time(asked.recorded_at)
        record: dict[str, Any] = {
            kind.id_key: f"{kind.prefix}{self._index.run_id}_{asked.tool_call_id}",
            "revision": 1,
            "session_id": fold.session_id,
            "run_id": self._index.run_id,
            kind.call_key: asked.tool_call_id,
            kind.name_key: asked.tool_name,
            **_demand(kind, asked),
            "status": kind.asked,
            "created_at": moment,
            "updated_at": moment,
        }
        return WaitingItem(
            kind,
            self._index.run_id,
            fold.session_id,
            standing,
            record,
            asked.recorded_at,
            derived=True,
        )


def _demand(kind: WaitingKind, asked: ToolAsked) -> Mapping[str, Any]:
    """Give what the runtime's record would say of the demand; absent where nothing is known."""
    told = asked.metadata.get("approval" if kind is APPROVAL else "deferred")
    demand = {} if told is None else {"request": told}
    if kind is APPROVAL:
        reviewed = asked.metadata.get("starweaver.approval_tool_arguments", asked.arguments)
        if reviewed is not None:
            demand["reviewed_arguments"] = reviewed
    return demand
