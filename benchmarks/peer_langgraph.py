"""A run of tool steps in a LangGraph graph with its `SqliteSaver`.

The graph is the documented one of a model that calls tools: a model node, a tools node, and
messages as its state. LangGraph takes a checkpoint after each of them. `durability="sync"`
has it written before the next node starts, as the journal does; the saver's connection syncs
every commit (WAL, synchronous=FULL) as it is.

`record_delta` keeps the messages in a `DeltaChannel`, which LangGraph offers as beta: it
stores what a step adds, and all of them every 100 updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

THREAD = {"configurable": {"thread_id": "steps", "checkpoint_ns": ""}}


def _added(messages: list[AnyMessage], writes: Sequence[list[AnyMessage]]) -> list[AnyMessage]:
    return [*messages, *chain.from_iterable(writes)]


class DeltaState(TypedDict):
    """Messages held as what each step adds."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_added)]


def graph(saver: SqliteSaver, texts: list[str], state: type = MessagesState) -> Any:
    """Make the graph; it ends after one tool step a text."""
    asked = iter(range(len(texts)))

    def model(_state: Any) -> dict[str, Any]:
        page = next(asked, None)
        if page is None:
            return {"messages": [AIMessage("done")]}
        call = {"id": f"call_{page}", "name": "read", "args": {"page": page}}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def tools(state: Any) -> dict[str, Any]:
        [call] = state["messages"][-1].tool_calls
        text = texts[call["args"]["page"]]
        return {"messages": [ToolMessage(text, tool_call_id=call["id"], name=call["name"])]}

    def route(state: Any) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    builder = StateGraph(state)
    builder.add_node("model", model)
    builder.add_node("tools", tools)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", route, ["tools", END])
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=saver)


def record(path: Path, texts: list[str], state: type = MessagesState) -> None:
    """Run the graph."""
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph(saver, texts, state).invoke(
            {"messages": [HumanMessage("read it all")]},
            THREAD | {"recursion_limit": 2 * len(texts) + 2},
            durability="sync",
        )


def record_delta(path: Path, texts: list[str]) -> None:
    """Run the graph with its messages in a `DeltaChannel`."""
    record(path, texts, DeltaState)


class SaverReader:
    """Reads the checkpoints themselves: `saver.get_tuple` and `saver.list`."""

    state: type = MessagesState

    def __init__(self, path: Path) -> None:
        self._opened = SqliteSaver.from_conn_string(str(path))

    def __enter__(self) -> Self:
        """Open the file."""
        self._saver = self._opened.__enter__()
        self._graph = graph(self._saver, [], self.state)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._opened.__exit__(kind, error, trace)

    def at(self, part: float) -> Callable[[], Any]:
        """Look up the checkpoint's id; ids are in the order of time."""
        with self._saver.cursor() as cursor:
            ids = [row[0] for row in cursor.execute("SELECT checkpoint_id FROM checkpoints")]
        chosen = sorted(ids)[int(part * len(ids))]
        config = {"configurable": THREAD["configurable"] | {"checkpoint_id": chosen}}
        return lambda: self._one(config)

    def _one(self, config: Any) -> list[AnyMessage]:
        found = self._saver.get_tuple(config)
        if found is None:
            raise LookupError(config)
        return self._messages(found)

    def history(self) -> Iterator[list[AnyMessage]]:
        """Read every checkpoint, newest first."""
        with closing(self._saver.list(THREAD)) as found:
            for one in found:
                yield self._messages(one)

    def _messages(self, found: Any) -> list[AnyMessage]:
        messages: list[AnyMessage] = found.checkpoint["channel_values"].get("messages", [])
        return messages

    def answer(self, state: list[AnyMessage]) -> Any:
        """Give the messages as JSON."""
        return [message.model_dump(mode="json") for message in state]

    def results(self, state: list[AnyMessage]) -> int:
        """Count the tool messages."""
        return sum(message.type == "tool" for message in state)


class GraphReader(SaverReader):
    """Reads through the graph, as documented: `get_state` and `get_state_history`."""

    def _one(self, config: Any) -> list[AnyMessage]:
        messages: list[AnyMessage] = self._graph.get_state(config).values["messages"]
        return messages

    def history(self) -> Iterator[list[AnyMessage]]:
        """Read every state, newest first."""
        for one in self._graph.get_state_history(THREAD):
            yield one.values.get("messages", [])


class DeltaReader(GraphReader):
    """Reads messages that a `DeltaChannel` holds."""

    state = DeltaState
