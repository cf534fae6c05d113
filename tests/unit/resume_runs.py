"""Runs to be resumed, made by hand: a host that calls tools, and waits, stops or dies."""

from journal.events import Operator
from tests import samples

OPERATOR = Operator(user="ann", host="box")
SESSION = {"session_id": "s", "conversation_id": "c"}


def call(number=1, name="pay"):
    return {"id": f"call-{number}", "name": name, "arguments": {"n": number}}


def response(*calls):
    parts = [{"kind": "tool_call", **each} for each in calls]
    return {"kind": "response", "parts": parts, "usage": samples.ZERO}


def tool_return(made, **fields):
    return {
        "tool_call_id": made["id"],
        "name": made["name"],
        "content": f"{made['name']}: done",
        "is_error": False,
        **fields,
    }


def asking(made, flow="approval_required"):
    """What a tool returns that needs an approval, or defers."""
    return tool_return(made, is_error=True, metadata={"control_flow": flow})


def answered(made):
    return {"kind": "request", "parts": [{"kind": "tool_return", **tool_return(made)}]}


def calling(run, *calls, checkpoint_id="k1", stream_cursor=1, node="tool_call", **state):
    """Take the checkpoint before tools run."""
    messages = [samples.user("go"), response(*calls)]
    run.checkpoint(
        samples.checkpoint(
            checkpoint_id,
            run.run_id,
            stream_cursor=stream_cursor,
            messages=messages,
            step=1,
            node=node,
            pending_tool_calls=list(calls),
            **state,
        )
    )


def waiting(run, *calls, flow="approval_required"):
    """Take the checkpoint of a run that waits for a person, or a worker."""
    returns = {
        "approval_required": "pending_approval_tool_returns",
        "call_deferred": "deferred_tool_returns",
    }[flow]
    calling(
        run,
        *calls,
        node="tool_return",
        status="waiting",
        **{returns: [asking(made, flow) for made in calls]},
    )


def crashed(journal, *calls, run_id="r"):
    """Let a host die after the checkpoint before its tools run."""
    with journal.run(run_id, **SESSION) as run:
        calling(run, *calls)


def facts(journal, run_id="r"):
    """Names of the events of a run that no host record stands for."""
    return [
        event.name.removesuffix(".v1")
        for event in journal.reader.run_events(run_id)
        if event.name.startswith(("run.", "resume."))
    ]
