"""No control character and no markup of recorded text reaches a terminal."""

import json
import re

import pytest

from journal import Journal
from tests import samples
from tests.cli.conftest import call, one_line

EVIL = (
    "\x1b[31mred\x1b]0;title\x07[bold]b[/bold][link=http://x]l[/link]:smile:\x9b1m\x7f\x00"
    "\u202eevil\u202c\u2066iso\u2069\u200bzero\u2028line\u2029par\ufeff\U000e0041\r\nnext\ttab \\ \"'"
)
ESCAPED = r"\x1b[31mred\x1b]0;title\x07[bold]b[/bold][link=http://x]l[/link]:smile:\x9b1m"
STYLES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def hostile(tmp_path):
    """A journal in which every text that a host can choose is hostile."""
    with Journal.open(tmp_path / "runjournal.db") as opened:
        opened.save_session(samples.session_record(EVIL, title=EVIL))
        run = opened.run(EVIL, session_id=EVIL, conversation_id=EVIL)
        tool = {**call(EVIL, **{EVIL: EVIL}), "id": EVIL}
        messages = [
            samples.user(EVIL),
            {
                "kind": "response",
                "parts": [
                    {"kind": "text", "text": EVIL},
                    {"kind": EVIL, EVIL: EVIL},
                    {"kind": "tool_call", **tool},
                ],
                "usage": samples.ZERO,
            },
            {
                "kind": "request",
                "parts": [
                    {"kind": "tool_return", "tool_call_id": "x", "name": EVIL, "content": {EVIL: EVIL}, "is_error": True},
                    {"kind": "retry_prompt", "content": EVIL},
                ],
            },
            {"kind": EVIL, EVIL: EVIL},
        ]  # fmt: skip
        run.checkpoint(
            samples.checkpoint(
                EVIL, EVIL, conversation_id=EVIL, messages=messages, pending_tool_calls=[tool],
                output=EVIL, **{EVIL: 1},
            )
        )  # fmt: skip
        source = {"kind": "subagent", "agent_id": EVIL, "agent_name": EVIL, "source_sequence": 0}
        run.append_many(
            [
                samples.delta(1, EVIL),
                {**samples.delta(2, EVIL), "source": source},
                samples.record(3, EVIL, **{EVIL: EVIL}),
                samples.record(4, "custom", event={"kind": EVIL, "payload": {EVIL: EVIL}}),
                samples.record(5, "model_stream", step=0, event={"kind": "part_delta", "index": 1, "delta_kind": "tool_call_name", "name": EVIL}),
                samples.record(6, "run_failed", run_id=EVIL, error_kind=EVIL, message=EVIL),
            ]
        )  # fmt: skip
        run.approval(
            samples.approval(run_id=EVIL, session_id=EVIL, approval_id=EVIL, action_name=EVIL)
        )
        run.deferred_tool(
            samples.deferred_tool(run_id=EVIL, session_id=EVIL, deferred_id=EVIL, tool_name=EVIL)
        )
        run.suspend(EVIL)
    return EVIL


COMMANDS = [
    ["sessions"],
    ["runs"],
    ["log", EVIL],
    ["log", EVIL, "--kind", EVIL],
    ["tail"],
    ["tail", EVIL],
    ["replay", EVIL],
    ["replay", EVIL, "--at", f"checkpoint:{EVIL}"],
    ["evidence", EVIL],
    ["diff", EVIL, "version:1", "latest"],
    ["export", EVIL],
    ["approvals"],
    ["deferred"],
]
EACH = pytest.mark.parametrize(
    "args", COMMANDS, ids=["sessions", "runs", "log", "kind", "tail", "tail run", "replay", "at", "evidence", "diff", "export", "approvals", "deferred"]
)  # fmt: skip


@EACH
@pytest.mark.parametrize("full", [(), ("--full",)], ids=["short", "full"])
@pytest.mark.parametrize("colour", [False, True], ids=["pipe", "colour"])
@pytest.mark.usefixtures("hostile")
def test_nothing_dangerous_is_printed(cli, monkeypatch, args, full, colour):
    if args[0] == "export" and full:
        full = ("--json",)  # it has nothing to shorten
    if colour:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "1000")
    command, *rest = args
    done = (
        cli(command, *full, "--", *rest)
        if "--at" not in rest and "--kind" not in rest
        else cli(*args, *full)
    )
    assert (done.code, done.err) == (0, "")
    seen = STYLES.sub("", done.out) if colour else done.out
    assert seen
    assert all(one == "\n" or one.isprintable() for one in seen)
    if full and command != "evidence":
        assert "[bold]b[/bold][link=http://x]l[/link]:smile:" in seen


@EACH
def test_json_is_printable_and_keeps_the_text(hostile, cli, args):
    done = cli(*args, "--json")
    assert done.out.endswith("\n")
    assert done.out.replace("\n", "").isprintable()
    assert json.dumps(EVIL)[1:-1] in json.dumps(done.documents)


@pytest.mark.parametrize("full", [(), ("--full",)], ids=["short", "full"])
@pytest.mark.parametrize("args", [["suspend", "--reason", EVIL, "--by", EVIL], ["resume"]])
def test_what_stands_in_the_way_is_printed_escaped(hostile, cli, args, full):
    if args[0] == "suspend":
        full = ()  # it has nothing to shorten
    done = cli(*args, *full, "--", hostile)
    assert done.code == (args[0] == "resume")  # an approval of it waits
    assert r"\x1b[31mred" in done.out
    assert all(one == "\n" or one.isprintable() for one in done.out + done.err)


def test_an_event_takes_one_line_of_the_log(hostile, cli):
    assert len(cli("log", hostile).out.splitlines()) == 1 + len(
        cli("log", hostile, "--json").documents
    )


def test_the_escapes_are_readable(hostile, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    assert ESCAPED in cli("replay", hostile).out


@pytest.mark.parametrize(
    "args",
    [
        ["replay", EVIL],
        ["export", EVIL],
        ["replay", "r", "--at", f"checkpoint:{EVIL}"],
        ["replay", "r", "--at", EVIL],
        ["replay", "bad\udcffbytes"],
        ["--db", EVIL.replace("\0", ""), "runs"],
        ["ingest", EVIL.replace("\0", "")],
    ],
    ids=["run", "export", "checkpoint", "cursor", "bytes", "db", "file"],
)
def test_errors_stay_one_printable_line(recorded, cli, args):
    done = cli(*args)
    assert done.code in (1, 2)
    assert one_line(done)


def test_a_bad_line_is_told_on_one_printable_line(cli):
    lines = json.dumps({"type": EVIL, EVIL: 1}).encode()
    done = cli("ingest", "-", stdin=lines)
    assert one_line(done, "line 1: ")


ODD_IDS = [
    "a b",
    "a/b",
    "checkpoint:1",
    "run:é晴",
    "x" * 500,
    "-",
    "--at",
    "'; DROP TABLE",
    "%s{0}",
    " ",
]


@pytest.mark.parametrize("run_id", ODD_IDS, ids=range(len(ODD_IDS)))
def test_odd_ids_work_everywhere(cli, tmp_path, run_id):
    with (
        Journal.open(tmp_path / "runjournal.db") as opened,
        opened.run(run_id, session_id=run_id) as run,
    ):
        run.checkpoint(samples.checkpoint(run_id, run_id))
    assert cli("runs", "--session", run_id, "--json").document["run_id"] == run_id
    assert (
        cli("replay", "--at", f"checkpoint:{run_id}", "--json", "--", run_id).document["run_id"]
        == run_id
    )
    for command in ("log", "replay", "evidence", "export"):
        assert cli(command, "--", run_id).code == 0
    assert cli("diff", "--", run_id, "version:1", f"checkpoint:{run_id}").code == 0
    assert cli("runs", "--full").out.count(run_id) >= 2
