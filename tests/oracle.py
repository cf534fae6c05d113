"""The view at a cursor, worked out the slow and obvious way.

This is a second reading of the rules, for comparing with `projections`. It holds whole
documents, starts over at every place, and uses plain loops. Keep it stupid.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.oracle_live import children, open_tool_calls, progress, streamed, usage
from tests.oracle_order import (
    APPROVAL,
    CHECKPOINT,
    CONTEXT,
    DEFERRED,
    ENVIRONMENT,
    RECORD,
    RUN_RECORDS,
    Outside,
    counts,
    epochs,
    history,
    in_order,
    is_own,
    last,
    step_of,
)


def latest_of_each(events, kind, key):
    """Keep the latest record of each id, in the order the ids first came."""
    found = {}
    for event in events:
        if event.kind == kind:
            found[event.body[key]] = event.body
    return list(found.values())


def trace_context(events):
    """Find the latest trace context that says anything."""
    found = {}
    for event in events:
        if event.kind == CHECKPOINT:
            found = event.body["resume"].get("trace_context") or found
        if event.name in RUN_RECORDS:
            found = event.body["run"].get("trace_context") or found
    return found


def conversation_id(events):
    """Find the conversation: as the run was opened, else the first that something names."""
    for event in events:
        found = None
        if event.kind == CHECKPOINT or event.name == "run.opened.v1":
            found = event.body.get("conversation_id")
        if is_own(event, "run_start"):
            found = event.body["event"]["conversation_id"]
        if event.name in RUN_RECORDS:
            found = event.body["run"].get("conversation_id")
        if found is not None:
            return found
    return None


class Oracle:
    """What the views of one run must be."""

    def __init__(self, run_id, arrivals):
        self.run_id = run_id
        self.arrivals = arrivals
        self.events = in_order(arrivals)
        self.counts = counts(self.events)

    def view(self, cursor: str) -> dict[str, Any]:
        """Give the view at a cursor, as `replay --json` prints it."""
        form, _, value = cursor.partition(":")
        return getattr(self, f"_{form}")(cursor, value)

    def _latest(self, cursor, _):
        return self._at(cursor, self.events)

    def _stream(self, cursor, value):
        anchors = [event.anchor for event in self.events]
        if not min(anchors) <= int(value) <= max(anchors):
            raise Outside(cursor)
        return self._at(cursor, [event for event in self.events if event.anchor <= int(value)])

    def _checkpoint(self, cursor, value):
        for at, event in enumerate(self.events):
            if event.kind == CHECKPOINT and event.body["checkpoint_id"] == value:
                return self._at(cursor, self.events[: at + 1])
        raise Outside(cursor)

    def _version(self, cursor, value):
        if not 1 <= int(value) <= len(self.arrivals):
            raise Outside(cursor)
        return self._at(cursor, in_order(self.arrivals[: int(value)]))

    def _time(self, cursor, value):
        since = datetime.fromisoformat(value) - datetime(1970, 1, 1, tzinfo=UTC)
        upto = since // timedelta(microseconds=1)
        early = [arrival for arrival in self.arrivals if arrival.recorded_at <= upto]
        if not early:
            raise Outside(cursor)
        kept = {arrival.version for arrival in early}
        return self._at(cursor, [event for event in self.events if event.version in kept])

    def _step(self, cursor, value):
        steps = [step_of(event) for event in self.events]
        if int(value) > max(steps):
            raise Outside(cursor)
        for at, step in enumerate(steps):
            if step > int(value):
                return self._at(cursor, self.events[:at])
        return self._at(cursor, self.events)

    def _message(self, cursor, value):
        text, _, wanted = value.partition("@")
        number = int(text)
        # An epoch has reached a number when it grew to that many messages, or over them. One
        # that began with more (after a compaction) never had so many, unless it is named.
        reached = [
            (at, epoch)
            for at, epoch in enumerate(epochs(self.counts), 1)
            if max(self.counts[place] for place in epoch) >= number
            and (wanted == str(at) or (not wanted and (at == 1 or self.counts[epoch[0]] <= number)))
        ]
        if not reached:
            raise Outside(cursor)
        at, epoch = reached[-1]
        exact = [place for place in epoch if self.counts[place] == number]
        if exact:
            return self._at(cursor, self.events[: exact[-1] + 1])
        # It jumped over the number, or began above it: the point is just before that.
        after = next(place for place in epoch if self.counts[place] > number)
        view = self._at(cursor, self.events[:after])
        view["messages"] = history(self.events[: after + 1])[:number]
        view["cursor"] |= {"message": number, "epoch": at, "derived": True}
        return view

    def _at(self, cursor, events):
        _, checkpoint = last(events, CHECKPOINT)
        _, context = last(events, CONTEXT)
        _, environment = last(events, ENVIRONMENT)
        records = [event for event in events if event.kind == RECORD]
        tail = [
            event for event in records if checkpoint is None or event.anchor > checkpoint.anchor
        ]
        messages = history(events)
        text, thinking, partial = streamed(records)
        opened = self.arrivals[0].body
        anchor = events[-1].anchor
        now = progress(events)
        return {
            "schema": "runjournal.view",
            "schema_version": 1,
            "run_id": self.run_id,
            "session_id": opened["session_id"],
            "conversation_id": conversation_id(events),
            "cursor": {
                "requested": cursor,
                "version": events[-1].version,
                "stream": None if anchor == -1 else anchor,
                "message": len(messages),
                "epoch": len(epochs(counts(events))),
                "checkpoint_id": None if checkpoint is None else checkpoint.body["checkpoint_id"],
                "derived": False,
            },
            "checkpoint": None if checkpoint is None else checkpoint.body,
            "evidence": None if checkpoint is None else checkpoint.body["resume"],
            "messages": messages,
            "tail": [event.body for event in tail],
            "live": {
                "status": now["status"],
                "node": now["node"],
                "step": now["step"],
                "text": text,
                "thinking": thinking,
                "open_tool_calls": open_tool_calls(checkpoint, records, tail, messages),
                "partial_tool_calls": partial,
                "usage": usage(events),
                "output": now["output"],
                "error": now["error"],
                "suspended": now["suspended"],
                "last_sequence": max((event.body["sequence"] for event in records), default=None),
            },
            "children": children(records),
            "context_state": None if context is None else context.body,
            "environment_state": None if environment is None else environment.body,
            "approvals": latest_of_each(events, APPROVAL, "approval_id"),
            "deferred_tools": latest_of_each(events, DEFERRED, "deferred_id"),
            "trace_context": trace_context(events),
            "redacted": [],
        }
