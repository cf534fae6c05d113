"""A diff of two runs names the first divergence; `--exit-code` makes it an answer for CI."""

import pytest

from journal import Journal
from projections import diff_runs
from tests import samples
from tests.cli.conftest import call, one_line

FILLER = "Nothing happens here for a while. " * 20


def answer(call_id, content):
    return {
        "kind": "request",
        "parts": [
            {
                "kind": "tool_return",
                "tool_call_id": call_id,
                "name": "get_weather",
                "content": content,
                "is_error": False,
                "metadata": {"duration_ms": len(call_id)},
            }
        ],
    }


def ask(call_id, city):
    part = {"kind": "tool_call", "id": call_id, "name": "get_weather", "arguments": {"city": city}}
    return {"kind": "response", "parts": [part], "usage": samples.ZERO, "timestamp": call_id}


def record(opened, run_id, *messages, **state):
    with opened.run(run_id, session_id=run_id) as run:
        for at in range(len(messages)):
            run.append(samples.record(at, "model_request", step=at))
            run.checkpoint(
                samples.checkpoint(
                    f"{run_id}-{at}", run_id, stream_cursor=at, messages=messages[: at + 1],
                    **(state if at + 1 == len(messages) else {}),
                )
            )  # fmt: skip


@pytest.fixture
def runs(tmp_path):
    """Runs of which the first two do the same, and the others less or something else."""
    with Journal.open(tmp_path / "runjournal.db") as opened:
        start = samples.user("Where to?")
        done = {"status": "completed", "output": "Kyoto"}
        same = {"warm": True}
        record(
            opened,
            "one",
            start,
            ask("1", "Oslo"),
            answer("1", same),
            samples.answer("Kyoto"),
            **done,
        )
        record(
            opened,
            "two",
            start,
            ask("22", "Oslo"),
            answer("22", same),
            samples.answer("Kyoto"),
            **done,
        )
        record(opened, "cut", start, ask("3", "Oslo"))
        record(
            opened, "other", start, ask("4", "Oslo"), answer("4", {"warm": False}), ask("5", "Rome"),
            status="failed", pending_tool_calls=[call("book")],
        )  # fmt: skip
        record(opened, "long", start, samples.answer(f"{FILLER}Go north. {FILLER}"))
        record(opened, "longer", start, samples.answer(f"{FILLER}Go south. {FILLER}"))
    return tmp_path / "runjournal.db"


@pytest.mark.usefixtures("runs")
def test_runs_that_do_the_same_do_not_differ(cli):
    done = cli("diff", "one", "--against", "two", "--exit-code")
    assert (done.code, done.out, done.err) == (
        0,
        "- one  latest\n+ two  latest\nnothing of what is compared differs\n",
        "",
    )


@pytest.mark.usefixtures("runs")
def test_the_page_names_the_divergence_and_what_each_does_next(cli):
    assert cli("diff", "one", "--against", "other").out.splitlines() == [
        "- one  latest",
        "+ other  latest",
        "",
        "divergence  after 2 equal messages",
        '- message:2@1  message 3  return get_weather: {"warm":true}',
        '+ message:2@1  message 3  return get_weather: {"warm":false}',
        "",
        "status",
        "  completed -> failed",
        "",
        "output",
        "- Kyoto",
        "",
        "messages",
        '-    3 return      get_weather: {"warm":true}',
        '+    3 return      get_weather: {"warm":false}',
        "-    4 assistant   Kyoto",
        '+    4 call        get_weather(city="Rome")',
        "",
        "tool calls  1 and 2",
        '~    2 call        get_weather(city="Oslo")',
        '-      return      get_weather: {"warm":true}',
        '+      return      get_weather: {"warm":false}',
        '+    4 call        get_weather(city="Rome")',
        "",
        "open tool calls",
        "+ book()  call-book",
        "",
        "members of the run state",
        "- output",
        "+ pending_tool_calls",
        "~ status",
    ]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("runs_named", [("cut", "one"), ("one", "cut")])
def test_a_run_that_is_the_beginning_of_the_other_is_called_so(cli, runs_named):
    page = cli("diff", runs_named[0], "--against", runs_named[1]).out
    assert "divergence  after 2 equal messages\n" in page
    assert " stream:1  ends here\n" in page
    assert ' stream:1  message 3  return get_weather: {"warm":true}\n' in page
    assert "  cut is just the beginning of one\n" in page


@pytest.mark.usefixtures("runs")
def test_a_long_text_is_shown_around_what_changed(cli):
    page = cli("diff", "long", "--against", "longer").out
    assert " here for a while. Go north. Nothing happens here " in page
    assert " here for a while. Go south. Nothing happens here " in page
    whole = cli("diff", "long", "--against", "longer", "--full").out
    assert f"+    2 assistant   {FILLER}Go south. {FILLER.rstrip()}\n" in whole


@pytest.mark.usefixtures("runs")
def test_what_changed_is_marked_in_colour(cli, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    page = cli("diff", "long", "--against", "longer").out
    assert "\x1b[1;31mnorth\x1b[0m" in page
    assert "\x1b[1;32msouth\x1b[0m" in page


def test_a_message_that_says_the_same_shows_which_members_differ(cli, tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        for run_id, metadata in (("a", {"x": 1}), ("b", {"x": 2, "v": 0, "w": 0, "y\x1b": 0})):
            record(opened, run_id, {**samples.user("hi"), "metadata": metadata})
    page = cli("diff", "a", "--against", "b").out
    assert "~    1 replace     /metadata/x  2\n~      add         /metadata/v  0\n" in page
    assert "  ... 1 more members\n" in page
    assert "/metadata/y\\x1b  0\n" in cli("diff", "a", "--against", "b", "--full").out


def test_json_is_the_diff_of_the_library(runs, cli):
    with Journal.open(runs) as opened:
        expected = diff_runs(opened, "one", "other", "stream:2", "message:2").to_json()
    done = cli("diff", "one", "stream:2", "message:2", "--against", "other", "--json")
    assert done.document == expected
    assert (expected["a"]["cursor"], expected["b"]["cursor"]) == ("stream:2", "message:2")
    assert expected["divergence"]["beginning"] == "b"


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("cursors", [(), ("stream:1",), ("stream:1", "latest")])
def test_cursors_are_latest_by_default(cli, cursors):
    document = cli("diff", "one", *cursors, "--against", "two", "--json").document
    assert document["a"]["cursor"] == (cursors[0] if cursors else "latest")
    assert document["b"]["cursor"] == "latest"


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("json", [(), ("--json",)])
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["one", "--against", "two"], 0),
        (["one", "--against", "other"], 1),
        (["one", "stream:1", "stream:1"], 0),
        (["one", "stream:1", "latest"], 1),
    ],
)
def test_the_exit_code_tells_whether_they_differ(cli, args, code, json):
    done = cli("diff", *args, "--exit-code", *json)
    assert (done.code, done.err) == (code, "")
    assert done.out
    assert cli("diff", *args, *json).code == 0


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["one", "--against", "nope"], "no run 'nope'"),
        (["nope", "--against", "one"], "no run 'nope'"),
        (["one", "stream:99", "--against", "two"], "stream:99"),
        (["one", "latest", "checkpoint:one-0", "--against", "two"], "no checkpoint 'one-0'"),
    ],
)
@pytest.mark.parametrize("option", [(), ("--exit-code",)])
def test_an_error_is_one_line_with_and_without_exit_code(cli, args, part, option):
    done = cli("diff", *args, *option)
    assert (done.code, done.out) == (1, "")
    assert one_line(done, part)


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("args", [["one"], ["one", "latest"]])
def test_one_run_needs_two_cursors(cli, args):
    done = cli("diff", *args)
    assert (done.code, done.out) == (2, "")
    assert "--against" in done.err
