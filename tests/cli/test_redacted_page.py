"""A page says what was redacted, and nothing where nothing was."""

import pytest

from journal import Journal
from tests import samples


@pytest.fixture
def redacted(tmp_path):
    """Write records whose token is hidden, each with these members besides."""

    def hide(value, path, _kind):
        return "[redacted]" if path.endswith("token") else value

    def write(*members):
        with Journal.open(tmp_path / "j.db", redact=hide) as journal:
            run = journal.run("r", session_id="s")
            for number, more in enumerate(members):
                called = {"id": "c", "name": "login", "arguments": more}
                run.append(samples.record(number, "tool_call", step=1, call=called))
        return str(tmp_path / "j.db")

    return write


def test_a_page_lists_what_was_redacted(cli, redacted):
    path = redacted({"token": "x"}, {"user": "u"}, {"token": "y"})
    page = cli("--db", path, "replay", "r").out.splitlines()
    assert page[-3:] == [
        "redacted before recording  2",
        "       2  stream.recorded       $.event.call.arguments.token",
        "       4  stream.recorded       $.event.call.arguments.token",
    ]
    shown = cli("--db", path, "--json", "replay", "r").document
    assert shown["redacted"] == [
        {"version": version, "name": "stream.recorded.v1", "path": "$.event.call.arguments.token"}
        for version in (2, 4)
    ]


def test_a_page_of_a_run_without_such_values_says_nothing(cli, redacted):
    path = redacted({"user": "u"})
    assert "redacted" not in cli("--db", path, "replay", "r").out
    assert cli("--db", path, "--json", "replay", "r").document["redacted"] == []


def test_of_many_the_last_are_listed(cli, redacted):
    path = redacted(*[{"token": str(n)} for n in range(12)])
    page = cli("--db", path, "replay", "r").out.splitlines()
    assert page[page.index("redacted before recording  12") + 1] == "  ... 4 before these"
    assert len(page) - page.index("redacted before recording  12") == 10


def test_no_control_character_of_a_path_reaches_the_terminal(cli, redacted):
    path = redacted({"a\x1b[2J": {"token": "x"}})
    page = cli("--db", path, "replay", "r").out
    assert "\x1b" not in page
    assert '$.event.call.arguments["a\\x1b[2J"].token' in page
