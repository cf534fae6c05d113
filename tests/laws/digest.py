"""Views shortened to what a person can read and check by hand."""

import json

LONGEST = 60


def digest(message):
    """Shorten a message to its kind and its parts: `request: user_prompt "hi"`."""
    return f"{message['kind']}: " + ", ".join(_part(part) for part in message["parts"])


def _part(part):
    match part["kind"]:
        case "text" | "instruction":
            said = _short(part["text"])
        case "user_prompt":
            said = _short(" ".join(item["text"] for item in part["content"]))
        case "tool_call":
            said = f"{part['name']}({_short(part['arguments'])})"
        case "tool_return":
            said = f"{part['name']} -> {_short(part['content'])}"
    return f"{part['kind']} {said}"


def _short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def expand(row, expected):
    """Spell out a row of a fixture: the digests of the messages, the live view, the children."""
    usual, said = expected["live_unless_said"], row["live"]
    live = {**usual, "last_sequence": row["stream"], **said}
    live["usage"] = usual["usage"] | said.get("usage", {})
    live["open_tool_calls"] = [expected["calls"][name] for name in live["open_tool_calls"]]
    return {
        "messages": [expected["history"][name] for name in row["messages"].split()],
        "live": live,
        "children": [expected["child"] | child for child in row.get("children", [])],
    }
