"""Random runs for property tests: what a host might hand in, in any order."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests import samples

EDGES = [0, 1, 1.0, True, 0.0, -0.0, 2**64 - 1, -(2**63), 1e308, 5e-324, -1.5, None, False, ""]
NODES = [
    "run_start",
    "before_model_request",
    "model_response",
    "tool_call",
    "tool_return",
    "run_complete",
]
STATUSES = ["starting", "running", "running", "waiting", "completed", "failed", "cancelled"]
COUNTS = [0, 0, 1, 7, 2**63, 2**64 - 1]
CALLS = ["call 1", "call/2", "заказ:3"]
HELD_RETURNS = ["pending_tool_returns", "pending_approval_tool_returns", "deferred_tool_returns"]
CHILDREN = [
    {"agent_id": "w", "agent_name": "worker", "task_id": "t1", "run_id": "child 1"},
    {"agent_id": "w", "agent_name": "worker", "task_id": "t2", "run_id": "child 2"},
    {"agent_id": "v", "agent_name": "helper"},
]
ENVELOPES = {
    "context": "starweaver.context.resumable_state",
    "environment": "starweaver.environment.state",
}
FIRST_SEQUENCES = [0, 0, 0, 5, 2**63, 2**64 - 300]


def deep(levels, value):
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


_scalars = st.sampled_from(EDGES) | st.text(max_size=6) | st.integers(-(2**63), 2**64 - 1)
JSON = st.recursive(
    _scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
) | st.builds(deep, st.integers(1, 60), _scalars)


@dataclass
class RandomRun:
    """A run as its host hands it in."""

    items: list = field(default_factory=list)
    """Pairs of what it is and its JSON (or arguments), in order of arrival."""
    again: list = field(default_factory=list)
    """Indexes of records and checkpoints that are handed in a second time."""
    looked_at: list = field(default_factory=list)
    """Indexes of items after which somebody replays the run."""
    conversation_id: str | None = None
    """As told when the run is opened."""


@st.composite
def runs(draw, longest=28):
    """Draw a run: what happens first, then the order in which it arrives."""
    host = _Host(draw)
    for _ in range(draw(st.integers(1, longest))):
        host.act()
    items = _arrivals(draw, host.items)
    twice = [at for at, item in enumerate(items) if item[0] in ("record", "checkpoint")]
    again = draw(st.lists(st.sampled_from(twice), max_size=3)) if twice else []
    looked_at = draw(st.lists(st.integers(0, len(items) - 1), max_size=2))
    return RandomRun(items, again, looked_at, draw(st.sampled_from(["c", None])))


def _arrivals(draw, items):
    moved = [at for at, item in enumerate(items) if item[0] in ("record", "checkpoint")]
    records = [at for at in moved if items[at][0] == "record"]
    match draw(st.sampled_from(["in order", "records last", "late block", "shuffled"])):
        case "records last":
            return [item for item in items if item[0] != "record"] + [items[at] for at in records]
        case "late block" if records:
            ends = sorted(draw(st.tuples(*[st.integers(0, len(records))] * 2)))
            late = set(records[ends[0] : ends[1]])
            return [item for at, item in enumerate(items) if at not in late] + [
                items[at] for at in sorted(late)
            ]
        case "shuffled":
            shuffled = list(items)
            for at, other in zip(moved, draw(st.permutations(moved)), strict=True):
                shuffled[at] = items[other]
            return shuffled
    return items


class _Host:
    """Makes up what happens, keeping just enough state to make it look like a run."""

    def __init__(self, draw):
        self.draw = draw
        self.items = []
        self.pool = draw(st.lists(JSON, min_size=2, max_size=4))
        self.first = self.sequence = draw(st.sampled_from(FIRST_SEQUENCES))
        self.step = 0
        self.history = []
        self.made = 0
        self.approvals = {}
        self.deferred = {}

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def json(self):
        return self.draw(st.sampled_from(self.pool))

    def text(self):
        self.made += 1
        return f"{self.made} " + self.one_of("", "é ☀️ 晴れ", "\x00\x1b[31m", "𐍈")

    def act(self):
        common = [self.record] * 9 + [self.checkpoint] * 4
        self.one_of(*common, self.turn, self.turn, self.context, self.context, *[self.fact] * 3)()

    def add(self, kind, *what):
        self.items.append((kind, *what))

    def extra(self):
        return {"x-host": self.json()} if self.one_of(0, 0, 1) else {}

    def usage(self):
        used = {name: self.one_of(*COUNTS) for name in ("requests", "input_tokens")}
        if self.one_of(0, 0, 1):
            used["cache_write_1h_tokens"] = self.one_of(None, *COUNTS)
        return {"output_tokens": 0, "total_tokens": 0, **used}

    def near(self):
        return max(0, self.step + self.one_of(0, 0, 0, 1, -1))

    def call(self):
        return {"id": self.one_of(*CALLS), "name": "look", "arguments": self.json()}

    def tool_return(self):
        back = {"tool_call_id": self.one_of(*CALLS), "name": "look", "content": self.json()}
        return {**back, "is_error": False, **self.extra()}

    # Records

    def record(self):
        make = self.one_of(
            self._node,
            self._plain,
            self._request,
            self._stream,
            self._stream,
            self._stream,
            self._response,
            self._call,
            self._call,
            self._return,
            self._end,
            self._custom,
        )
        self.append(make(), self.one_of(None, None, None, *CHILDREN))

    def append(self, event, child):
        made = {"sequence": self.sequence, "event": event | self.extra()} | self.extra()
        if child is not None:
            made["source"] = {"kind": "subagent", "source_sequence": 0, **child}
        self.sequence += self.one_of(1, 1, 1, 2)
        self.add("record", made)

    def turn(self):
        """Let the run or a child ask the model, which may stream before it answers."""
        child = self.one_of(None, CHILDREN[0])
        if self.one_of(0, 1):
            self.append(self._request(), child)
        for _ in range(self.one_of(0, 1, 2)):
            said = {"kind": "part_delta", "index": 0, "delta_kind": "text", "text": self.text()}
            self.append({"kind": "model_stream", "step": self.step, "event": said}, child)
        self.append(self._response(), child)

    def _node(self):
        kind = self.one_of("node_start", "node_complete", "checkpoint", "suspended")
        event = {"kind": kind, "node": self.one_of(*NODES)}
        if kind == "suspended":
            return event | {"reason": self.text()}
        event["step"] = self.near()
        return event if kind == "checkpoint" else event | {"status": self.one_of(*STATUSES)}

    def _plain(self):
        return self.one_of(
            {"kind": "run_start", "run_id": "r", "conversation_id": "c"},
            {"kind": "output_retry", "retries": 1, "prompt": "again"},
            {"kind": "steering_guard", "step": self.near(), "prompt": "wait"},
            {"kind": "of the future", "step": "none", "status": "completed"},
        )

    def _request(self):
        return {"kind": "model_request", "step": self.near()}

    def _stream(self):
        index = self.one_of(0, 1, 2)
        delta = {"kind": "part_delta", "index": index}
        event = self.one_of(
            {"kind": "part_start", "index": index, "part_kind": self.one_of("tool_call", "text")},
            delta | {"delta_kind": self.one_of("text", "text", "thinking"), "text": self.text()},
            delta | {"delta_kind": "tool_call_name", "name": "look"},
            delta | {"delta_kind": "tool_call_arguments", "arguments_delta": self.text()},
            delta | {"delta_kind": "native_payload", "payload": self.json()},
            {"kind": "part_end", "index": index},
            {"kind": "final_result", **self._whole()},
        )
        return {"kind": "model_stream", "step": self.step, "event": event}

    def _whole(self):
        kind = self.one_of("text", "text", "provider_text")
        parts = [{"kind": kind, "text": self.text()}, {"kind": "file", "data": self.json()}]
        return {"parts": parts, "usage": self.usage()}

    def _response(self):
        self.step += self.one_of(0, 1, 1)
        return {"kind": "model_response", "step": self.near(), "response": self._whole()}

    def _call(self):
        return {"kind": "tool_call", "step": self.step, "call": self.call()}

    def _return(self):
        return {"kind": "tool_return", "step": self.step, "tool_return": self.tool_return()}

    def _end(self):
        return self.one_of(
            {"kind": "run_complete", "run_id": "r", "output": self.text()},
            {"kind": "run_failed", "run_id": "r", "error_kind": "model", "message": self.text()},
            {"kind": "run_cancelled", "run_id": "r", "reason": "stop"},
        )

    def _custom(self):
        kind = self.one_of("model_stream_resume", "run_complete", "usage_snapshot", "anything")
        return {"kind": "custom", "event": {"kind": kind, "payload": self.json()}}

    # Checkpoints and exported states

    def message(self):
        if self.one_of(0, 1):
            return samples.answer(self.text(), self.usage()) | self.extra()
        asked = samples.user(self.text())
        if self.one_of(0, 0, 1):
            asked["parts"].append({"kind": "tool_return", **self.tool_return()})
        return asked | self.extra()

    def evolve(self):
        match self.one_of("grow", "grow", "grow", "same", "cut", "rewrite", "compact"):
            case "grow":
                self.history = self.history + [self.message() for _ in range(self.one_of(1, 1, 2))]
            case "cut":
                self.history = self.history[: -self.one_of(1, 2)]
            case "rewrite" if self.history:
                at = self.draw(st.integers(0, len(self.history) - 1))
                changed = self.history[at] | {"metadata": {"n": self.json()}}
                self.history = [*self.history[:at], changed, *self.history[at + 1 :]]
            case "compact":
                self.history = [samples.user(self.text()), *self.history[-1:]]
        return self.history

    def checkpoint(self):
        self.made += 1
        state = {"usage": self.usage(), **self.extra()}
        if self.one_of(0, 1):
            state["pending_tool_calls"] = [self.call() for _ in range(self.one_of(1, 2))]
        if self.one_of(0, 0, 1):
            state[self.one_of(*HELD_RETURNS)] = [self.tool_return()]
        if self.one_of(0, 0, 1):
            state["output"] = self.one_of(None, self.text())
        made = samples.checkpoint(
            f"{self.one_of('z', 'a', 'm')} {self.made}",
            stream_cursor=self.cursor(),
            messages=self.evolve(),
            step=self.near(),
            node=self.one_of(*NODES),
            status=self.one_of(*STATUSES),
            **state,
        )
        made["resume"]["usage"] = made["state"]["usage"]
        made["metadata"] = {"deep": self.json()}
        if self.one_of(0, 0, 0, 1):
            made["resume"]["cursor"].setdefault("stream_cursor", None)
        if self.one_of(0, 0, 1):
            made["resume"]["trace_context"] = self.one_of(None, {}, {"trace_id": self.text()})
        self.add("checkpoint", made | self.extra())

    def cursor(self):
        if self.one_of(0, 0, 0, 1):
            return self.one_of(None, self.first, self.sequence + 3)
        return self.sequence - 1 if self.sequence > self.first else None

    def context(self):
        if self.one_of(0, 0, 1):
            files = {"/a": self.text(), "/b": self.json()}
            self.add(
                "environment", self.wrapped("environment", {"provider_id": "p", "files": files})
            )
            return
        state = {"agent_id": "main", "state": self.json()}
        match self.one_of("history", "history", "none", "null", "empty", "empty"):
            case "history":
                state["message_history"] = list(self.evolve())
            case "null":
                state["message_history"] = None
            case "empty":
                state["message_history"] = []
        self.add("context", self.wrapped("context", state))

    def wrapped(self, kind, state):
        if self.one_of(0, 1):
            return state
        return {"schema": ENVELOPES[kind], "version": 1, "payload": state}

    # Facts

    def fact(self):
        self.one_of(
            lambda: self.add("status", self.one_of("queued", *STATUSES)),
            lambda: self.add("suspend", self.text()),
            lambda: self.add("resume"),
            self._saved,
            self._approval,
            self._deferred,
        )()

    def _saved(self):
        status = self.one_of("queued", *STATUSES)
        made = samples.run_record(status=status, output_preview=self.text())
        if status == "failed":
            made["terminal_error"] = {"code": "lost", "message": self.text()}
        if self.one_of(0, 0, 1):
            made["trace_context"] = self.one_of({}, {"trace_id": self.text()})
        self.add("run", made)

    def _approval(self):
        name = self.one_of("a1", "a2")
        if name not in self.approvals:
            self.approvals[name] = samples.approval(approval_id=name, request=self.json())
        elif self.approvals[name]["status"] == "pending":
            decided = samples.approval("approved", approval_id=name)
            self.approvals[name] = decided | {"request": self.approvals[name]["request"]}
        self.add("approval", self.approvals[name])

    def _deferred(self):
        name = self.one_of("d1", "d2")
        if name not in self.deferred:
            self.deferred[name] = samples.deferred_tool(deferred_id=name, request=self.json())
        elif self.deferred[name]["status"] == "waiting":
            self.deferred[name] = self.deferred[name] | {
                "status": "completed",
                "response": self.json(),
            }
        self.add("deferred", self.deferred[name])
