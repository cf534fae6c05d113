"""`runjournal audit` answers as pages, as JSON and as CSV, and all three tell the same."""

import csv
import io

import pytest

from journal.cli import progress
from tests.cli.audit_runs import TRACE
from tests.cli.conftest import one_line

QUESTIONS = {
    "tools": (["tools"], "tool_call", 3),
    "usage": (["usage", "--by", "session,day"], "usage", 2),
    "usage of tools": (["usage", "--by", "tool", "--by", "run"], "usage", 3),
    "trace": (["trace", TRACE], "row", 9),
    "failures": (["failures"], "failure", 1),
    "approvals": (["approvals"], "approval", 1),
    "search": (["search", "declined"], "hit", 4),
    "timeline": (["timeline", "bad"], "row", 9),
    "trace-text": (["trace-text", "bad", "declined"], "term_place", 14),
    "gaps": (["gaps"], "gap", 2),
}
EACH = pytest.mark.parametrize(("args", "schema", "answers"), QUESTIONS.values(), ids=QUESTIONS)


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def members(document, before=""):
    """A document as CSV shows it: members of inner objects by their path."""
    for name, value in document.items():
        if isinstance(value, dict):
            yield from members(value, f"{before}{name}.".replace("key.", ""))
        elif name not in ("schema", "schema_version"):
            truth = {None: "", True: "true", False: "false"}
            yield before + name, truth[value] if type(value) in (bool, type(None)) else str(value)


@EACH
def test_each_object_names_its_schema(audited, cli, args, schema, answers):
    done = cli("audit", *args, "--json")
    assert (done.code, done.err) == (0, "")
    found = [(one["schema"], one["schema_version"]) for one in done.documents]
    assert found == [(f"runjournal.audit.{schema}", 1)] * answers


@EACH
def test_csv_has_every_member_of_the_json(audited, cli, args, schema, answers):
    done = cli("audit", *args, "--csv")
    assert (done.code, done.err) == (0, "")
    rows = read(done.out)
    documents = cli("audit", *args, "--json").documents
    assert len(rows) == len(documents) == answers
    for row, document in zip(rows, documents, strict=True):
        assert row == dict(members(document))


@EACH
def test_a_page_is_printed(audited, cli, args, schema, answers):
    done = cli("audit", *args)
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) >= answers
    assert cli("audit", *args, "--full").code == 0


NARROWED = [
    ["--since", "2999-01-01"],
    ["--until", "1999-01-01"],
    ["--session", "other"],
    ["--status", "cancelled"],
]


@EACH
def test_nothing_found_is_said_and_no_failure(audited, cli, args, schema, answers):
    for narrowed in NARROWED:
        done = cli("audit", *args, *narrowed)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(("no ", "nothing "))
        assert done.out.count("\n") == 1
        assert cli("audit", *args, *narrowed, "--json").out == ""
        assert len(cli("audit", *args, *narrowed, "--csv").out.splitlines()) == 1


@EACH
def test_a_limit_is_kept(audited, cli, args, schema, answers):
    assert len(cli("audit", *args, "--limit", "1", "--json").documents) == 1


@pytest.mark.parametrize(
    ("args", "run_ids"),
    [
        (["tools", "--tool", "get_weather"], ["r"]),
        (["tools", "--failed"], ["bad"]),
        (["tools", "--run", "r"], ["r"]),
        (["tools", "--session", "s2"], ["bad", "bad"]),
        (["tools", "--status", "completed"], ["r"]),
        (["tools", "--since", "1h", "--until", "2999-01-01T00:00:00+02:00"], ["bad", "bad", "r"]),
        (["failures", "--run", "r"], []),
        (["failures", "--cancelled"], ["bad"]),
        (["approvals", "--pending"], []),
        (["search", "PARIS"], ["r"]),
        (["gaps", "--run", "r"], []),
    ],
)
def test_questions_are_narrowed(audited, cli, args, run_ids):
    assert [one["run_id"] for one in cli("audit", *args, "--json").documents] == run_ids


def test_pages_tell_what_matters(audited, cli):
    tools = cli("audit", "tools").out
    assert "bad stream:2  charge_card  error    1.2 s  " in tools
    assert "declined" in tools
    usage = cli("audit", "usage", "--by", "model").out
    assert usage.splitlines()[1].split() == ["declined", "1", "12,345", "67", "0", "0", "12,412", "-"]  # fmt: skip
    failed = cli("audit", "failures").out
    assert "error        declined: declined!\n" in failed
    assert "last call    missing  stream:5  declined({})\n" in failed
    assert failed.endswith("replay to    bad stream:6\n")
    approved = cli("audit", "approvals").out
    assert "decided by   ada at " in approved
    assert "reason       small enough\n" in approved
    timeline = cli("audit", "timeline", "bad").out
    assert " tool_return          charge_card error declined 1.2 s  " in timeline
    term = cli("audit", "trace-text", "bad", "4200").out
    assert "\nentered at bad stream:2\n" in term
    gaps = cli("audit", "gaps").out
    assert gaps.startswith("runs with missing sequences  1\n")
    assert "\n\ncalls without returns  1\n" in gaps


def test_what_search_prints_can_be_replayed(audited, cli):
    hit = cli("audit", "search", "card was declined").out.splitlines()[0].split()
    assert hit[:2] == ["bad", "stream:3"]
    assert cli("replay", hit[0], "--at", hit[1]).code == 0


def test_keys_of_usage_are_given_apart_or_with_commas(audited, cli):
    together = cli("audit", "usage", "--by", "session, day", "--json")
    assert together.out == cli("audit", "usage", "--by", "session", "--by", "day", "--json").out
    assert list(together.documents[0]["key"]) == ["session", "day"]


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["tools", "--since", "yesterday"], ["'yesterday'", "2026-11-29", "7d"]),
        (["tools", "--until", "2026-11-31"], ["'2026-11-31'"]),
        (["tools", "--since", "2026-11-29T21:00:00"], ["2026-11-29T21:00:00"]),
        (["tools", "--since", "1d", "--until", "2d"], ["since", "after"]),
        (["tools", "--since", ""], ["''"]),
        (["usage", "--by", "colour"], ["'colour'", "session, run"]),
        (["usage", "--by", ""], ["''", "session, run"]),
        (["usage", "--by", "day,day"], ["each key once"]),
        (["usage", "--by", "tool,model"], ["one of them"]),
        (["search", "!?"], ["no word"]),
        (["trace-text", "bad", ""], ["''"]),
        (["tools", "--session", "x\udcff"], ["surrogate"]),
        (["search", "caf\udce9"], ["surrogate"]),
        (["trace", "\udcff"], ["surrogate"]),
    ],
)
def test_a_question_that_nobody_can_ask_is_wrong_usage(audited, cli, args, parts):
    for form in ([], ["--json"], ["--csv"]):
        done = cli("audit", *args, *form)
        assert (done.code, done.out) == (2, "")
        assert one_line(done, *parts)


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["nope"],
        ["tools", "extra"],
        ["tools", "--nope"],
        ["tools", "--limit", "0"],
        ["tools", "--status", "finished"],
        ["tools", "--status", "'; DROP TABLE runs; --"],
        ["tools", "--csv", "--json"],
        ["trace"],
        ["search"],
        ["timeline"],
        ["trace-text", "r"],
    ],
)
def test_wrong_usage_exits_2(audited, cli, args):
    done = cli("audit", *args)
    assert (done.code, done.out) == (2, "")
    assert "Usage" in done.err or "Error" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("args", [["timeline", "nope"], ["trace-text", "nope", "x"]])
def test_an_unknown_run_is_a_failure(audited, cli, args):
    done = cli("audit", *args)
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "no run 'nope'")


def test_without_a_journal_there_is_none_to_ask(cli):
    done = cli("audit", "tools")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "no journal at runjournal.db")


def test_times_are_rfc3339_in_csv_and_json_whatever_the_zone(audited, cli, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    [row, *_] = read(cli("audit", "tools", "--csv").out)
    assert row["called_at"] == cli("audit", "tools", "--json").documents[0]["called_at"]
    assert len(row["called_at"]) == len("2026-11-29T22:22:00.304000Z")
    assert row["called_at"].endswith("Z")


def test_a_first_look_at_a_long_journal_shows_its_progress(audited, cli, attach, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    audited.with_name("runjournal.db.views").unlink()
    seen = attach()
    done = cli("audit", "tools", "--json")
    assert "take in for audits" in seen.getvalue()
    assert len(done.documents) == 3


@EACH
def test_an_archive_answers_the_same_with_and_without_the_journal(audited, cli, args, schema, answers):  # fmt: skip
    live = cli("audit", *args, "--json")
    made = cli("archive", "--before", "2999-01-01", "--to", "archive")
    assert (made.code, made.err) == (0, "")
    for more in ([], ["--db", "missing.db"]):
        done = cli("audit", *args, "--archive", "archive", *more, "--json")
        assert (done.code, done.err) == (0, "")
        assert done.documents == live.documents
    assert cli("audit", *args, "--archive", "archive", "--csv").out == cli("audit", *args, "--csv").out  # fmt: skip


def test_an_archive_that_is_none_is_named(audited, cli):
    for args in (["audit", "tools"], ["sql", "SELECT 1"], ["stats"]):
        done = cli(*args, "--archive", "nowhere")
        assert (done.code, done.out) == (1, "")
        assert one_line(done, "no archive at", "nowhere")
