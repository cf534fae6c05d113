"""The columns of the audit's answers in CSV, with what one looks for first in front.

They are the members of an answer's JSON, those of inner objects as `outer.inner`.
"""

from __future__ import annotations

from collections.abc import Iterable

TOOLS = """
run_id place tool call_id step called_at returned_at duration_ms duration_given outcome waited
error_kind attempts arguments result session_id conversation_id parent_run_id child_run_id agent
trace_id span_id version
"""
SUMS = """
responses requests input_tokens output_tokens cache_read_tokens cache_write_tokens total_tokens
cost_micros calls failed_calls missing_returns duration_ms
"""
ROWS = """
run_id place recorded_at offset_micros kind tool call_id item_id status error_kind actor text
step node model requests input_tokens output_tokens cache_read_tokens cache_write_tokens
total_tokens cost_micros duration_ms session_id conversation_id parent_run_id child_run_id agent
trace_id span_id host_at version position from_state
"""
FAILURES = """
run_id place status error_kind error opened_at failed_at last_call.tool last_call.call_id
last_call.place last_call.called_at last_call.outcome last_call.arguments last_call.result
last_text session_id conversation_id parent_run_id agent
"""
APPROVALS = """
run_id place approval_id tool call_id status arguments request requested_at decided_at decided_by
reason waited_micros session_id conversation_id agent
"""
HITS = """
run_id place recorded_at kind tool call_id count length excerpt.text excerpt.start excerpt.end
excerpt.before excerpt.after session_id child_run_id version
"""
TERM_PLACES = """
run_id place role path entered began recorded_at kind count excerpt.text excerpt.start excerpt.end
excerpt.before excerpt.after child_run_id agent version
"""
GAPS = """
kind run_id place run_status recorded_at tool call_id missing position reason session_id
"""


def usage(by: Iterable[str]) -> str:
    """Give the columns of what was used, summed by these keys."""
    return " ".join([*(f"key.{name}" for name in by), SUMS])
