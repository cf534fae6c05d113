"""A fold as JSON, for snapshots: every member, in a form of its own.

`REVISION` names what folds hold and how it is worked out. Whoever changes a rule of the fold,
or this form, raises it; snapshots of other revisions are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from journal.ids import StreamId, Version
from projections.children import ChildFold
from projections.fold import RunFold
from projections.messages import MessageCount
from projections.order import Ref
from projections.progress import Progress
from projections.record_fold import CursorAt, RecordFold
from projections.streamed import PartialCall, Streamed

REVISION = 2
"""Of the fold; 0 < revision < 2^31."""


class BrokenFold(ValueError):
    """JSON that is no fold of this revision."""


def fold_to_json(fold: RunFold, own: StreamId) -> dict[str, Any]:
    """Write a fold; the pieces of what it streams are joined to longer ones.

    Args:
        own: the stream whose fold it is; its events are told by their version alone.
    """

    def ref(at: Ref | None) -> Any:
        if at is None:
            return None
        return at.version if at.stream == own else [at.stream, at.version]

    def refs(each: Iterable[Ref]) -> list[Any]:
        return [ref(at) for at in each]

    return {
        "session": fold.session_id,
        "conversation": fold.conversation_id,
        "last": fold.last,
        "sequence": fold.last_sequence,
        "furthest": fold.furthest,
        "progress": _progress_to_json(fold.progress, ref(fold.progress.streamed.response)),
        "messages": [fold.messages.count, fold.messages.step, fold.messages.epochs],
        "children": [
            [*child.about, _progress_to_json(child.progress, None), child.answer, child.records]
            for child in fold.children.folds
        ],
        "approvals": [[name, ref(at)] for name, at in fold.approvals.items()],
        "deferred": [[name, ref(at)] for name, at in fold.deferred_tools.items()],
        "context": ref(fold.context),
        "environment": ref(fold.environment),
        "checkpoint": [ref(fold.checkpoint), fold.checkpoint_id, fold.since],
        "history": ref(fold.history),
        "responses": refs(fold.responses),
        "usage": fold.usage,
        "tail": [fold.tail_records, refs(fold.redacted_tail)],
        "calls": [[name, ref(at)] for name, at in fold.calls.items()],
        "returned": list(fold.returned),
        "trace": fold.trace,
        "record": _record_to_json(fold.record, ref),
    }


def fold_from_json(value: Any, own: StreamId) -> RunFold:
    """Read what `fold_to_json` wrote.

    Raises:
        BrokenFold: it did not write this.
    """
    try:
        return _fold(value, own)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BrokenFold(repr(error)) from error


def _fold(value: Any, own: StreamId) -> RunFold:
    def ref(at: Any) -> Ref | None:
        if at is None:
            return None
        return Ref(own, Version(at)) if type(at) is int else Ref(StreamId(at[0]), Version(at[1]))

    def there(at: Any) -> Ref:
        found = ref(at)
        if found is None:
            raise TypeError("no event")
        return found

    fold = RunFold()
    fold.session_id = value["session"]
    fold.conversation_id = value["conversation"]
    fold.last = _place(value["last"])
    fold.last_sequence = value["sequence"]
    fold.furthest = value["furthest"]
    fold.progress = _progress(value["progress"], ref)
    count = fold.messages = MessageCount()
    count.count, count.step, count.epochs = value["messages"]
    for *about, progress, answer, records in value["children"]:
        child = ChildFold()
        run_id, agent_id, agent_name, task_id = about
        child.about = run_id, agent_id, agent_name, task_id
        child.progress = _progress(progress, ref)
        child.answer, child.records = answer, records
        fold.children.put(child)
    fold.approvals = {name: there(at) for name, at in value["approvals"]}
    fold.deferred_tools = {name: there(at) for name, at in value["deferred"]}
    fold.context = ref(value["context"])
    fold.environment = ref(value["environment"])
    checkpoint, fold.checkpoint_id, since = value["checkpoint"]
    fold.checkpoint, fold.since = ref(checkpoint), _place(since)
    fold.history = ref(value["history"])
    fold.responses = [there(at) for at in value["responses"]]
    fold.usage = value["usage"]
    fold.tail_records, redacted = value["tail"]
    fold.redacted_tail = [there(at) for at in redacted]
    fold.calls = {name: there(at) for name, at in value["calls"]}
    fold.returned = dict.fromkeys(value["returned"])
    fold.trace = value["trace"]
    fold.record = _record(value["record"], ref, there)
    return fold


def _place(value: Any) -> tuple[int, int, int] | None:
    if value is None:
        return None
    anchor, rank, version = value
    return anchor, rank, version


def _progress_to_json(progress: Progress, response: Any) -> list[Any]:
    streamed = progress.streamed
    streamed.settle()
    calls = [[index, call.name, call.arguments] for index, call in streamed.calls.items()]
    return [
        progress.status,
        progress.node,
        progress.step,
        progress.suspended,
        progress.error,
        progress.output,
        [streamed.texts, streamed.thoughts, calls, response],
    ]


def _progress(value: Any, ref: Any) -> Progress:
    made = Progress()
    made.status, made.node, made.step, made.suspended, made.error, made.output, said = value
    streamed = made.streamed = Streamed()
    streamed.texts, streamed.thoughts, calls, response = said
    streamed.calls = {index: PartialCall(name, arguments) for index, name, arguments in calls}
    streamed.response = ref(response)
    return made


def _record_to_json(record: RecordFold, ref: Any) -> list[Any]:
    cursors = [
        [*cursor[:3], ref(cursor.ref), cursor.place, ref(cursor.saved)]
        for cursor in record.cursors.values()
    ]
    return [
        [ref(at) for at in (record.record, record.checkpoint, record.change, record.preview)],
        [record.status, record.without_output, record.updated_at],
        [record.revision, record.saves, record.touched],
        cursors,
    ]


def _record(value: Any, ref: Any, there: Any) -> RecordFold:
    made = RecordFold()
    refs, told, counts, cursors = value
    made.record, made.checkpoint, made.change, made.preview = map(ref, refs)
    made.status, made.without_output, made.updated_at = told
    made.revision, made.saves, made.touched = counts
    for family, scope, sequence, at, place, saved in cursors:
        cursor = CursorAt(family, scope, sequence, there(at), place, ref(saved))
        made.cursors[family, scope] = cursor
    return made
