"""Events of one run as the journal would read them, made by hand."""

from journal.codec import RecordedEvent
from journal.ids import Position, Version, run_stream
from projections.fold import RunFold, evolve
from projections.order import anchored
from tests import samples

CHILD = {
    "kind": "subagent",
    "agent_id": "worker-1",
    "agent_name": "worker",
    "task_id": "t1",
    "run_id": "child",
    "source_sequence": 0,
}


class Arrivals:
    """A run's events in the order of arrival; the run's opening is there already."""

    def __init__(self, run_id="r", **opened):
        self.stream = run_stream(run_id)
        self.events = []
        self.fact("run.opened.v1", run_id=run_id, session_id="s", **opened)

    def fact(self, name, **data):
        version = len(self.events) + 1
        event = RecordedEvent(
            Position(version), self.stream, Version(version), name, version * 1000, data
        )
        self.events.append(event)
        return self

    def record(self, sequence, kind, source=None, **fields):
        record = samples.record(sequence, kind, **fields)
        if source is not None:
            record["source"] = source
        return self.fact("stream.recorded.v1", record=record)

    def text(self, sequence, text, source=None):
        return self.part(sequence, source, kind="part_delta", delta_kind="text", text=text)

    def part(self, sequence, source=None, index=0, **event):
        return self.record(
            sequence, "model_stream", source, step=0, event={"index": index, **event}
        )

    def custom(self, sequence, kind, source=None):
        return self.record(sequence, "custom", source, event={"kind": kind, "payload": {}})

    def response(self, sequence, step, text="", source=None):
        answer = {"parts": [{"kind": "text", "text": text}], "usage": samples.ZERO}
        return self.record(sequence, "model_response", source, step=step, response=answer)

    def checkpoint(
        self, checkpoint_id, stream_cursor=None, *, messages=0, step=0, node="run_start",
        status="running",
    ):  # fmt: skip
        data = {
            "checkpoint_id": checkpoint_id,
            "conversation_id": "of-checkpoint",
            "node": node,
            "status": status,
            "step": step,
            "messages": messages,
            "delta": [],
            "chain_bytes": 0,
        }
        if stream_cursor is not None:
            data["stream_cursor"] = stream_cursor
        return self.fact("checkpoint.taken.v1", **data)

    def context(self, messages=None):
        data = {} if messages is None else {"messages": messages}
        return self.fact("context.exported.v1", delta=[], chain_bytes=0, **data)

    def entries(self):
        return anchored(self.events)

    def at(self, ref):
        """The event that a fold refers to."""
        assert ref.stream == self.stream
        return self.events[ref.version - 1]

    def fold(self):
        fold = RunFold()
        for entry in sorted(self.entries()):
            evolve(fold, entry)
        return fold
