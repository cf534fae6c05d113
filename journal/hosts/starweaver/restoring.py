"""What a runtime goes on from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from projections import RunView


def restored_state(view: RunView, *, agent_id: str = "main") -> dict[str, Any]:
    """Make the state that a runtime goes on from: a view's messages and conversation.

    The runtime takes its next prompt as the next message, so no tool call should be open in
    the view.

    Args:
        view: where to go on.
        agent_id: of the agent that goes on.

    Returns:
        For `create_agent_runtime(state=...)`.
    """
    state = {"agent_id": agent_id, "message_history": list(view.messages)}
    if view.conversation_id is not None:
        state["conversation_id"] = view.conversation_id
    return state
