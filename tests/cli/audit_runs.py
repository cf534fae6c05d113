"""Runs for the audit's commands: one that went well, and one in which nearly everything happens."""

from journal.account import current_operator
from projections import decide_approval
from tests import samples
from tests.cli.conftest import record_a_run

TRACE = "0af7651916cd43dd8448eb211c80319c"
TOKENS = {"requests": 1, "input_tokens": 12_345, "output_tokens": 67, "total_tokens": 12_412}


def record_runs(opened):
    """Journal `r`, which completed, and `bad`, which failed with a call open and a record lost."""
    record_a_run(opened)
    record_failed_run(opened, "bad", "s2", "declined")
    decide_approval(
        opened, "a1", "approved", current_operator("ada"), reason="small enough", run="bad"
    )


def record_failed_run(opened, run_id, session_id, text):
    """Journal a run whose texts, names and ids are all `text`, apart from its tools."""
    returned = {
        "tool_call_id": text,
        "name": "charge_card",
        "content": {"kind": text, "message": f"the card was {text}"},
        "is_error": True,
        "metadata": {"duration_ms": 1234},
    }
    said = {
        "parts": [{"kind": "text", "text": f"It was {text}: sorry."}],
        "usage": {**samples.ZERO, **TOKENS},
        "model_name": text,
    }
    charge = {"id": text, "name": "charge_card", "arguments": {"cents": 4200, "for": text}}
    refund = {"id": "call-2", "name": text, "arguments": {}}
    trace = {"trace_id": TRACE, "span_id": "b7ad6b7169203331"}
    with opened.run(run_id, session_id=session_id, conversation_id=text) as run:
        run.append_many(
            [
                samples.record(0, "run_start", run_id=run_id, conversation_id=text),
                samples.record(2, "tool_call", step=1, call=charge),
                samples.record(3, "tool_return", step=1, tool_return=returned),
                samples.record(4, "model_response", step=1, response=said),
                samples.record(5, "tool_call", step=2, call=refund),
            ]
        )
        run.approval(
            samples.approval(
                run_id=run_id, session_id=session_id, action_id="call-2", action_name=text,
                trace_context=trace,
            )
        )  # fmt: skip
        run.append(
            samples.record(6, "run_failed", run_id=run_id, error_kind=text, message=f"{text}!")
        )
