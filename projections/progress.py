"""How far a run got: status, node, step, ending, and what it streams, record by record.

The same rules hold for a run's own records and for those of a child merged into it.
"""

from __future__ import annotations

from typing import Any

from projections.streamed import Streamed


class Progress:
    """The progress of one run, folded in logical order."""

    __slots__ = ("error", "node", "output", "status", "step", "streamed", "suspended")

    def __init__(self) -> None:
        self.status: str | None = None
        """None until something tells it."""
        self.node: str | None = None
        self.step = 0
        self.suspended: dict[str, Any] | None = None
        """`{"reason"}` while the run waits and somebody said why."""
        self.error: dict[str, Any] | None = None
        """`{"error_kind", "message"}` while the status is the one it came with."""
        self.output: Any = None
        self.streamed = Streamed()

    def set_status(self, status: str) -> None:
        """Take a status; a reason to wait and an error last as long as the one they came with."""
        if status != self.status:
            self.status = status
            self.suspended = None
            self.error = None

    def suspend(self, reason: str) -> None:
        """The run waits."""
        self.set_status("waiting")
        self.suspended = {"reason": reason}

    def fail(self, error_kind: str, message: str) -> None:
        """The run failed."""
        self.set_status("failed")
        self.error = {"error_kind": error_kind, "message": message}

    def checkpoint(self, node: str, status: str, step: int) -> None:
        """Start again from a checkpoint; what was streamed stays."""
        self.set_status(status)
        self.node = node
        self.step = step
        self.output = None

    def record(  # noqa: C901, PLR0912 - one match over the kinds
        self, kind: str, event: dict[str, Any]
    ) -> None:
        """Take the event of a stream record; unknown kinds change nothing."""
        match kind:
            case "model_stream":
                self.streamed.add(event["event"])
            case "node_start" | "node_complete":
                self.node = event["node"]
                self.step = event["step"]
                self.set_status(event["status"])
            case "checkpoint":
                self.node = event["node"]
                self.step = event["step"]
            case "custom":
                if event["event"]["kind"] == "model_stream_resume":
                    self.streamed.restart()
            case "model_request":
                self.step = event["step"]
                self.streamed.restart()
            case "model_response":
                self.step = event["step"]
            case "tool_call" | "tool_return" | "steering_guard":
                self.step = event["step"]
            case "run_start":
                self.set_status("running")
            case "suspended":
                self.node = event["node"]
                self.suspend(event["reason"])
            case "run_complete":
                self.set_status("completed")
                self.output = event["output"]
            case "run_cancelled":
                self.set_status("cancelled")
            case "run_failed":
                self.fail(event["error_kind"], event["message"])
            case _:
                pass
