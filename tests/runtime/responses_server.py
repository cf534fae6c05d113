"""A model provider on loopback that speaks the OpenAI Responses protocol as server-sent events."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODEL_NAME = "loopback-model"


@dataclass(frozen=True)
class Say:
    """A turn that answers with text, one delta a piece."""

    pieces: tuple[str, ...]
    input_tokens: int = 10
    output_tokens: int = 5


@dataclass(frozen=True)
class Call:
    """A turn that calls a tool, its JSON arguments sent in pieces of `piece` characters."""

    name: str
    arguments: dict[str, Any]
    piece: int = 6
    input_tokens: int = 10
    output_tokens: int = 5


Turn = Say | Call


class ResponsesServer:
    """Serve scripted turns, one a request, in order.

    A request beyond the script is answered with status 500. Use as a context manager:
    leaving it closes the socket and waits for the threads.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._turns = list(turns)
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def base_url(self) -> str:
        """Where a provider model finds this server."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_turn(self, request: dict[str, Any]) -> tuple[int, Turn] | None:
        """Note a request and take the turn that answers it, with its number."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            return (number, self._turns[number - 1]) if number <= len(self._turns) else None


def _handler(server: ResponsesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            turn = server.next_turn(json.loads(body))
            if turn is None:
                self.send_error(500, "the script has no more turns")
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for sequence, event in enumerate(_events(*turn)):
                line = json.dumps({**event, "sequence_number": sequence})
                self.wfile.write(f"event: {event['type']}\ndata: {line}\n\n".encode())
                self.wfile.flush()

        def log_message(self, *_args: object) -> None:
            """Keep the test output quiet."""

    return Handler


def _events(number: int, turn: Turn) -> Iterator[dict[str, Any]]:
    response = {
        "id": f"resp_{number}",
        "object": "response",
        "model": MODEL_NAME,
        "status": "in_progress",
        "output": [],
    }
    yield {"type": "response.created", "response": response}
    if isinstance(turn, Say):
        item = yield from _message(number, turn)
    else:
        item = yield from _function_call(number, turn)
    usage = {
        "input_tokens": turn.input_tokens,
        "output_tokens": turn.output_tokens,
        "total_tokens": turn.input_tokens + turn.output_tokens,
    }
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": done}


def _message(number: int, turn: Say) -> Iterator[dict[str, Any]]:
    item = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    started = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": started}
    yield {"type": "response.content_part.added", **at, "part": part}
    for piece in turn.pieces:
        yield {"type": "response.output_text.delta", **at, "delta": piece}
    text = "".join(turn.pieces)
    part = {**part, "text": text}
    finished = {**item, "status": "completed", "content": [part]}
    yield {"type": "response.output_text.done", **at, "text": text}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": finished}
    return finished


def _function_call(number: int, turn: Call) -> Iterator[dict[str, Any]]:
    item = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": turn.name,
    }
    at = {"item_id": item["id"], "output_index": 0}
    started = {**item, "arguments": "", "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": 0, "item": started}
    arguments = json.dumps(turn.arguments)
    for start in range(0, len(arguments), turn.piece):
        piece = arguments[start : start + turn.piece]
        yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
    finished = {**item, "arguments": arguments, "status": "completed"}
    yield {"type": "response.function_call_arguments.done", **at, "arguments": arguments}
    yield {"type": "response.output_item.done", "output_index": 0, "item": finished}
    return finished
