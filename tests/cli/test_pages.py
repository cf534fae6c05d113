"""A replay, the resume evidence and a diff, as people read them."""

import pytest

from journal import Journal
from tests import samples
from tests.cli.conftest import call
from tests.corpus import Calls


def test_a_replay_is_a_short_page(recorded, cli):
    assert cli("replay", "r", "--at", "stream:7").out.splitlines() == [
        "run          r",
        "session      s",
        "conversation c",
        "cursor       stream:7  stream 7, version 11, message 2",
        "checkpoint   k2",
        "status       running at model_response, step 1",
        "",
        "messages",
        "   1 instruction Be short.",
        "     user        Where to?",
        "   2 thinking    hm",
        '     call        get_weather(city="Paris")',
        '     call        book_train(to="Kyoto")',
        "",
        "streamed since the last model request",
        "  text  Kyoto is warm.",
        "",
        "open tool calls",
        '  book_train(to="Kyoto") call-book_train',
        "",
        "stream records after the checkpoint  5",
        '       3  tool_call       get_weather({"city":"Paris"})',
        '       4  tool_return     get_weather -> {"celsius":11}',
        "       5  model_request   step 1",
        "       6  model_stream    text Kyoto is",
        "       7  model_stream    text warm.",
    ]


def test_usage_and_output_are_in_its_head(recorded, cli):
    page = cli("replay", "r").out
    assert "usage        requests 1, input 1,200\n" in page
    assert "output       Kyoto is warm.\n" in page
    assert "   3 assistant   Kyoto is warm.\n" in page


def test_full_shows_every_part_and_every_line(recorded, cli):
    page = cli("replay", "r", "--full").out
    assert "     instruction Be kind.\n" in page
    with Journal.open(recorded) as opened, opened.run("lines", session_id="s") as run:
        run.checkpoint(samples.checkpoint("k", "lines", messages=[samples.user("one\ntwo\x1b")]))
    assert (
        "   1 user        one\n                 two\\x1b\n" in cli("replay", "lines", "--full").out
    )
    assert "   1 user        one\\ntwo\\x1b\n" in cli("replay", "lines").out


def test_long_text_is_shortened_unless_full(recorded, cli, monkeypatch):
    text = "0123456789" * 1000
    with Journal.open(recorded) as opened, opened.run("long", session_id="s") as run:
        run.checkpoint(samples.checkpoint("k", "long", messages=[samples.user(text)]))
        run.append_many(samples.record(at, "model_request", step=0) for at in range(1, 100))
    page = cli("replay", "long").out
    assert max(map(len, page.splitlines())) == 120
    assert "  ... 91 before these\n" in page
    assert len(page.splitlines()) < 25
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, cli("replay", "long").out.splitlines())) == 60
    full = cli("replay", "long", "--full").out
    assert text in full
    assert len(full.splitlines()) > 100


def test_what_is_streamed_is_shown_until_the_response_is_there(recorded, cli):
    with Journal.open(recorded) as opened, opened.run("live", session_id="s") as run:
        run.checkpoint(samples.checkpoint("k", "live", messages=[samples.user("hi")]))
        run.append(samples.record(1, "model_request", step=0))
        think = {"kind": "part_delta", "index": 0, "delta_kind": "thinking", "text": "hm"}
        run.append(samples.record(2, "model_stream", step=0, event=think))
        run.append(samples.delta(3, "Kyo"))
        for at, (key, kind) in enumerate(
            [("name", "tool_call_name"), ("arguments_delta", "tool_call_arguments")]
        ):
            part = {"kind": "part_delta", "index": 1, "delta_kind": kind, key: '{"a'}
            run.append(samples.record(4 + at, "model_stream", step=0, event=part))
        response = {"parts": [{"kind": "text", "text": "Kyoto"}], "usage": samples.ZERO}
        run.append(samples.record(6, "model_response", step=1, response=response))
    page = cli("replay", "live", "--at", "stream:5").out
    assert "streamed since the last model request\n  thinking  hm\n  text  Kyo\n  call  " in page
    assert '{"a({"a)\n' in page
    assert "streamed since" not in cli("replay", "live").out


def test_what_was_streamed_after_an_answer_of_an_earlier_step_is_shown(recorded, cli):
    with Journal.open(recorded) as opened, opened.run("cut", session_id="s") as run:
        history = [samples.user("q"), samples.answer("a")]
        run.checkpoint(samples.checkpoint("k", "cut", messages=history, step=1))
        run.append_many([samples.record(1, "model_request", step=1), samples.delta(2, "half", 1)])
        page = cli("replay", "cut").out
        assert "   2 assistant   a\n\nstreamed since the last model request\n  text  half\n" in page
        answer = {"parts": [{"kind": "text", "text": "half of it"}], "usage": samples.ZERO}
        run.append(samples.record(3, "model_response", step=2, response=answer))
        assert "streamed since" not in cli("replay", "cut").out
        later = [samples.user("summary of all that")]
        run.checkpoint(samples.checkpoint("c", "cut", stream_cursor=3, messages=later, step=2))
        assert "  text  half\n" in cli("replay", "cut").out  # the compacted history lacks it
        assert "streamed since" not in cli("replay", "cut", "--at", "stream:0").out


def test_what_the_tail_tells_is_what_the_log_tells(recorded, cli):
    told = {one["version"]: one["summary"] for one in cli("log", "r", "--json").documents}
    tail = cli("replay", "r", "--at", "stream:7").out.splitlines()[-5:]
    assert [line.split(maxsplit=2)[2] for line in tail] == [told[at].strip() for at in range(7, 12)]


def test_a_response_of_provider_calls_only_names_them(recorded, cli):
    call = {"id": "c", "name": "search", "arguments": {"q": 1}}
    parts = [{"kind": "provider_tool_call", "call": call}, {"kind": "native_tool_call", **call}]
    with Journal.open(recorded) as opened, opened.run("p", session_id="s") as run:
        response = {"parts": parts, "usage": samples.ZERO}
        run.append(samples.record(0, "model_response", step=1, response=response))
    told = 'step 1: search({"q":1}); search({"q":1})'
    assert told in cli("log", "p").out
    assert told in cli("replay", "p").out


def test_errors_suspensions_traces_and_exports_are_in_its_head(recorded, cli):
    with Journal.open(recorded) as opened, opened.run("bad", session_id="s") as run:
        run.append(
            samples.record(0, "run_failed", run_id="bad", error_kind="model_error", message="down")
        )
        run.export_context(samples.context([samples.user("hi")]))
        trace = {"trace_id": "f" * 32}
        opened.save_run(
            samples.run_record(
                "bad",
                status="failed",
                terminal_error={"code": "model_error", "message": "down"},
                trace_context=trace,
            )
        )
        with opened.run("waits", session_id="s") as other:
            other.append(samples.record(0, "suspended", node="tool_call", reason="needs\ntea"))
    page = cli("replay", "bad").out
    assert "error        model_error: down\n" in page
    assert f"trace        {'f' * 32}\n" in page
    assert "exported     context state (--json shows it)\n" in page
    assert "status       waiting at tool_call, step 0: needs\\ntea\n" in cli("replay", "waits").out


def test_people_and_children_have_parts_of_their_own(recorded, cli):
    with Journal.open(recorded) as opened, opened.run("hitl", session_id="s") as run:
        run.approval(samples.approval(run_id="hitl"))
        run.deferred_tool(samples.deferred_tool(run_id="hitl"))
        source = {"kind": "subagent", "agent_id": "w", "agent_name": "worker", "source_sequence": 0}
        run.append({**samples.delta(0, "child text"), "source": source})
    page = cli("replay", "hitl").out
    assert "\nchildren\n  worker  -  1 records  child text\n" in page
    assert "\napprovals\n  pending  deploy  a1\n" in page
    assert "\ndeferred tools\n  waiting  lookup  d1\n" in page
    assert "       0  model_stream    [worker] text child text\n" in page


PARTS = [
    ({"kind": "text", "text": "hello"}, "assistant   hello"),
    ({"kind": "text", "text": 5}, "assistant   5"),
    ({"kind": "text"}, "assistant   {}"),
    ({"kind": "user_prompt", "content": ["a", {"kind": "image", "url": "u"}]}, 'user        a {"kind":"image","url":"u"}'),
    ({"kind": "retry_prompt", "prompt": "again"}, "retry       again"),
    ({"kind": "tool_return", "tool_call_id": "x", "name": "n", "content": "ok", "is_error": False}, "return      n: ok"),
    ({"kind": "tool_return", "tool_call_id": "x", "name": "n", "content": [1], "is_error": True}, "error       n: [1]"),
    ({"kind": "tool_call", **call("f")}, "call        f()"),
    ({"kind": "tool_call", "id": "i", "name": "f", "arguments": None}, "call        f()"),
    ({"kind": "tool_call", "id": "i", "name": "f", "arguments": '{"a'}, 'call        f({"a)'),
    ({"kind": "provider_tool_call", "call": call("f", a=[1])}, "call        f(a=[1])"),
    ({"kind": "native_tool_call", "payload": 1}, 'native_tool_call {"payload":1}'),
    ({"kind": "file", "id": "f1"}, 'file        {"id":"f1"}'),
]  # fmt: skip


@pytest.mark.parametrize(("part", "line"), PARTS, ids=range(len(PARTS)))
def test_each_kind_of_part_is_told(cli, tmp_path, part, line):
    message = {"kind": "response", "parts": [part], "usage": samples.ZERO}
    with Journal.open(tmp_path / "runjournal.db") as opened, opened.run("r", session_id="s") as run:
        run.checkpoint(samples.checkpoint(messages=[message]))
    assert f"\n   1 {line}\n" in cli("replay", "r").out


def test_messages_of_other_kinds_and_without_parts_are_told(cli, tmp_path):
    messages = [{"kind": "note", "body": 1}, {"kind": "request", "parts": []}]
    with Journal.open(tmp_path / "runjournal.db") as opened, opened.run("r", session_id="s") as run:
        run.checkpoint(samples.checkpoint(messages=messages))
    page = cli("replay", "r").out
    assert '   1 note        {"body":1}\n' in page
    assert "   2 request\n" in page


def test_derived_cursors_and_later_epochs_are_named(cli, tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened, opened.run("r", session_id="s") as run:
        for at, count in enumerate((4, 2, 3)):
            messages = [samples.user(str(number)) for number in range(count)]
            run.checkpoint(samples.checkpoint(f"k{at}", stream_cursor=at, messages=messages))
    assert "message 3 of epoch 2\n" in cli("replay", "r").out
    assert "message 3, derived\n" in cli("replay", "r", "--at", "message:3@1").out


def test_evidence_is_shown_by_paths(recorded, cli):
    done = cli("evidence", "r", "--at", "stream:3")
    lines = done.out.splitlines()
    assert lines[:5] == [
        "run          r",
        "cursor       stream:3  stream 3, version 7, message 2",
        "checkpoint   k2",
        "",
        "resume evidence",
    ]
    assert dict(line.split() for line in lines[5:]) == {
        "node": "model_response",
        "status": "running",
        "run_step": "1",
        "cursor.model_request_attempt": "1",
        "cursor.output_validation_attempt": "0",
        "cursor.message_cursor": "2",
        "cursor.stream_cursor": "2",
        **{f"usage.{name}": "0" for name in samples.ZERO},
        "pending_approval_count": "0",
        "deferred_tool_count": "0",
    }


def test_a_diff_shows_what_came_and_what_went(recorded, cli):
    assert cli("diff", "r", "version:1", "latest").out.splitlines() == [
        "- r  version:1",
        "+ r  latest",
        "",
        "status",
        "  null -> completed",
        "",
        "output",
        "+ Kyoto is warm.",
        "",
        "messages",
        "+    1 instruction Be short.",
        "+      instruction Be kind.",
        "+      user        Where to?",
        "+    2 thinking    hm",
        '+      call        get_weather(city="Paris")',
        '+      call        book_train(to="Kyoto")',
        "+    3 assistant   Kyoto is warm.",
        "",
        "open tool calls",
        '+ book_train(to="Kyoto")  call-book_train',
        "",
        "usage",
        "  requests              0 -> 1",
        "  input_tokens          0 -> 1200",
        "",
        "members of the run state",
        "+ run_id",
        "+ conversation_id",
        "+ usage",
        "+ run_step",
        "+ status",
        "+ pending_tool_calls",
    ]


def test_a_diff_shows_what_was_changed_and_removed(cli, tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened, opened.run("r", session_id="s") as run:
        before, after = [samples.user("a"), samples.user("b")], [samples.user("c")]
        pending = [call("f")]
        run.checkpoint(
            samples.checkpoint(
                "k0", stream_cursor=0, messages=before, pending_tool_calls=pending, extra=1
            )
        )
        run.checkpoint(samples.checkpoint("k1", stream_cursor=1, messages=after, output="x"))
    page = cli("diff", "r", "checkpoint:k0", "checkpoint:k1").out
    assert "-    1 user        a\n+    1 user        c\n-    2 user        b\n" in page
    assert "open tool calls\n- f()  call-f\n" in page
    assert "- extra\n" in page
    assert "- pending_tool_calls\n" in page
    assert "+ output\n" in page


def test_a_diff_of_equal_places_says_so(recorded, cli):
    done = cli("diff", "r", "latest", "latest")
    assert (done.code, done.out) == (
        0,
        "- r  latest\n+ r  latest\nnothing of what is compared differs\n",
    )


@pytest.mark.parametrize("name", ["approval", "cancel", "env", "stream", "subagent", "toolerror"])
def test_pages_of_real_runs_are_printed_at_every_cursor(recorded, cli, name):
    calls = Calls(name)
    with Journal.open(recorded) as opened:
        calls.give(opened)
    [run_id] = calls.run_ids
    last = cli("replay", run_id, "--json").document["live"]["last_sequence"]
    for sequence in range(0, last + 1, 7):
        done = cli("replay", run_id, "--at", f"stream:{sequence}")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"run          {run_id}\n")
        assert cli("diff", run_id, f"stream:{sequence}", "latest").code == 0
