"""Audit rows are found again as they were put, by every question, in a file as in memory."""

import contextlib
import threading
from contextlib import closing, contextmanager
from functools import partial

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from journal.ids import Position
from journal.stores import open_audit, open_store
from journal.stores.audit import APART, LARGEST, Wanted
from journal.stores.views import ViewsUnusable
from tests.contract.archived_rows import archived
from tests.contract.audit_rows import (
    CALLS,
    RUNS,
    WORDS,
    PlainReader,
    facts,
    histories,
    holds,
    row,
    runs_of,
    wanted,
    wanted_used,
)


@contextmanager
def live(tmp_path, *, in_memory):
    """Lend a way to read rows that were stored."""

    @contextmanager
    def reader_of(rows, runs):
        with audit.writing() as writer:
            writer.clear()
            writer.put(rows, runs, Position(max((each.position for each in rows), default=1)))
        with audit.reading() as reader:
            yield reader

    with (
        closing(open_store(tmp_path / "runs.db", create=True)) as store,
        closing(open_audit(store, 1, in_memory=in_memory)) as audit,
    ):
        yield reader_of


READERS = {
    "file": partial(live, in_memory=False),
    "memory": partial(live, in_memory=True),
    "archive": archived,
}
"""Each is given a directory, and lends a function that lends a reader of rows and facts."""


@pytest.fixture(params=READERS)
def reader_of(request, tmp_path):
    """A function that lends a reader of rows, and of facts where they matter."""
    with READERS[request.param](tmp_path) as made:
        yield lambda rows, runs=(): made(rows, list(runs) or runs_of(rows))


many = examples(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class TestEveryQuestion:
    @many
    @given(rows=histories(), asked=wanted, limit=st.none() | st.integers(0, 5))
    def test_gives_rows_newest_first(self, reader_of, rows, asked, limit):
        with reader_of(rows) as reader:
            plain = PlainReader(rows, ())
            assert list(reader.rows(asked, limit=limit)) == plain.rows(asked, limit=limit)
            assert list(reader.open_calls(asked)) == plain.open_calls(asked)

    @many
    @given(
        rows=histories(),
        asked=wanted | wanted_used,
        apart=st.sets(st.sampled_from(sorted(APART))),
    )
    def test_sums_usage(self, reader_of, rows, asked, apart):
        with reader_of(rows) as reader:
            found = list(reader.usage(asked, apart=apart))
            assert len(found) == len(set(found))
            assert set(found) == PlainReader(rows, ()).usage(asked, apart)
            assert set(reader.usage(asked)) == PlainReader(rows, ()).usage(asked)

    @many
    @given(
        rows=histories(),
        asked=wanted,
        phrase=st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join),
    )
    def test_finds_every_phrase(self, reader_of, rows, asked, phrase):
        with reader_of(rows) as reader:
            plain = PlainReader(rows, ())
            found = list(reader.matching(phrase, asked))
            assert found == [each for each in plain.rows(asked) if each in found]
            assert [each for each in plain.holding(phrase, asked) if each not in found] == []

    @many
    @given(
        rows=histories(),
        pairs=st.sets(st.tuples(st.sampled_from((*RUNS, "x")), st.sampled_from((*CALLS[1:], "y")))),
    )
    def test_gives_runs_and_what_belongs_to_calls(self, reader_of, rows, pairs):
        runs = runs_of(rows)
        with reader_of(rows) as reader:
            plain = PlainReader(rows, runs)
            items = {(run, "item-1") for run, _ in pairs}
            assert sorted(reader.calls(pairs), key=_place) == plain.calls(pairs)
            held = rows[:: max(1, len(pairs))]
            assert sorted(reader.calls(pairs, held=held), key=_place) == plain.calls(pairs)
            assert sorted(reader.items(items), key=_place) == plain.items(items)
            for run in RUNS:
                assert list(reader.timeline(run)) == plain.timeline(run)
            assert reader.facts([*RUNS, "x"]) == plain.facts([*RUNS, "x"])

    @many
    @given(
        rows=histories(),
        statuses=st.none() | st.sets(st.sampled_from(("completed", "failed", "unknown"))),
        session=st.sampled_from((None, "s-1", "unknown")),
        since=st.none() | st.integers(0, 4),
        until=st.none() | st.integers(0, 4),
    )
    def test_gives_runs_the_last_changed_first(  # noqa: PLR0917 - each filter
        self, reader_of, rows, statuses, session, since, until
    ):
        runs = runs_of(rows)
        asked = {"statuses": statuses, "session_id": session, "since": since, "until": until}
        with reader_of(rows) as reader:
            assert list(reader.runs(**asked)) == PlainReader(rows, runs).runs(**asked)


def _place(each):
    return each.position, each.part


class TestValues:
    def test_every_column_comes_back(self, reader_of):
        full = row(1, part=0)
        values = {
            name: f"{name} 'ä\0\""
            for name, value in full._asdict().items()
            if value is None or isinstance(value, str)
        }
        numbers = ("host_at", "step", "duration_ms", "requests", "input_tokens", "output_tokens")
        numbers += ("cache_read_tokens", "cache_write_tokens", "total_tokens", "cost_micros")
        values |= {name: LARGEST - at for at, name in enumerate(numbers)}
        full = full._replace(**values, from_state=True, anchor=LARGEST, recorded_at=-1)
        run = facts(
            full.run_id,
            1,
            **dict.fromkeys(("session_id", "conversation_id", "parent_run_id", "agent"), "x"),
            **dict.fromkeys(("forked_from", "status", "error_kind", "error", "last_tool"), "x"),
            **dict.fromkeys(("last_call_id", "last_text"), "x"),
            **dict.fromkeys(("last_call_anchor", "last_text_anchor"), LARGEST),
            ended_at=5,
        )
        with reader_of([full], [run]) as reader:
            assert list(reader.rows(Wanted())) == [full]
            assert reader.facts([full.run_id]) == {full.run_id: run}
            assert type(next(iter(reader.rows(Wanted()))).from_state) is bool
            assert type(reader.facts([full.run_id])[full.run_id].archived) is bool

    def test_nothing_has_what_cannot_be_stored(self, reader_of):
        half = "\ud800"
        with reader_of([row(1)]) as reader:
            assert list(reader.rows(Wanted(run_id=half))) == []
            assert list(reader.rows(Wanted(kinds={half}))) == []
            assert list(reader.timeline(half)) == []
            assert list(reader.matching(f"{half} alpha", Wanted())) == []
            assert reader.facts([half]) == {}
            assert list(reader.calls([(half, half), ("run-1", half)])) == []
            assert list(reader.on_trace(half)) == []

    def test_many_rows_of_one_time_come_each_once(self, reader_of):
        rows = [row(at, recorded_at=7) for at in range(1, 3001)]
        with reader_of(rows, [facts("run-1", 3000)]) as reader:
            assert list(reader.rows(Wanted())) == rows[::-1]
            assert list(reader.rows(Wanted(kinds={"message"}))) == rows[::-1]
            assert list(reader.rows(Wanted(run_id="run-1"))) == rows[::-1]
            assert list(reader.timeline("run-1")) == rows

    def test_many_kinds_come_in_one_order(self, reader_of):
        rows = [row(at, kind=f"custom:{at % 100}", status="ok") for at in range(1, 300)]
        with reader_of(rows, [facts("run-1", 299)]) as reader:
            assert list(reader.rows(Wanted(statuses={"ok"}))) == rows[::-1]
            kinds = {f"custom:{at}" for at in range(100)}
            assert list(reader.rows(Wanted(kinds=kinds))) == rows[::-1]
            tooled = [each._replace(tool="shell") for each in rows]
        with reader_of(tooled, [facts("run-1", 299)]) as reader:
            assert list(reader.rows(Wanted(tool="shell"))) == tooled[::-1]

    def test_a_phrase_is_never_syntax(self, reader_of):
        rows = [row(1, text='one "two" NEAR three'), row(2, text="one OR text: two*")]
        with reader_of(rows, [facts("run-1", 2)]) as reader:
            for phrase in ('"', "*", "( ) ^ -", ""):
                assert list(reader.matching(phrase, Wanted())) == []
            assert list(reader.matching("near THREE", Wanted())) == rows[:1]
            assert list(reader.matching("one or", Wanted())) == rows[1:]
            assert list(reader.matching('one" OR "two', Wanted())) == []
            assert list(reader.matching("text: two*", Wanted())) == rows[1:]

    def test_letters_newer_than_the_engine_are_found(self, reader_of):
        rows = [row(1, text="\U0001e900\U0001e901 x"), row(2, text="plain")]  # Adlam, of 2016
        with reader_of(rows, [facts("run-1", 2)]) as reader:
            found = list(reader.matching("\U0001e922\U0001e923", Wanted()))
            assert [each for each in found if holds(each.text, ["\U0001e922\U0001e923"])] == rows[
                :1
            ]


class TestTraces:
    def test_a_run_is_on_every_trace_it_ever_was(self, reader_of):
        runs = [
            facts("run-1", 1, trace_ids='["t1","t2"]'),
            facts("run-2", 2, trace_ids='["t2"]'),
        ]
        with reader_of([row(1), row(2, run_id="run-2")], runs) as reader:
            assert set(reader.on_trace("t2")) == {"run-1", "run-2"}
            assert list(reader.on_trace("t1")) == ["run-1"]
            assert list(reader.on_trace("run-1")) == []


@pytest.fixture(params=[False, True], ids=["file", "memory"])
def opener(request, tmp_path):
    """Opens revisions of one journal's rows, which are closed at the end."""
    opened = []

    def open_revision(revision=1):
        opened.append(open_audit(store, revision, in_memory=request.param))
        return opened[-1]

    with closing(open_store(tmp_path / "runs.db", create=True)) as store:
        yield open_revision
        for audit in opened:
            audit.close()


@pytest.fixture
def audit(opener):
    return opener()


def put(audit, *rows, upto=None):
    upto = upto or max(each.position for each in rows)
    with audit.writing() as writer:
        writer.put(rows, runs_of(rows), Position(upto))


def all_of(audit, after=0):
    with audit.reading(after=Position(after)) as reader:
        return list(reader.rows(Wanted()))


class TestTransactions:
    def test_nothing_is_there_at_first(self, audit):
        with audit.writing() as writer:
            assert writer.tracked() == 0
            assert writer.facts(["run-1"]) == {}
            writer.remove("run-1", 9)
        with audit.reading() as reader:
            assert list(reader.rows(Wanted())) == list(reader.usage(Wanted())) == []
            assert list(reader.matching("x", Wanted())) == list(reader.runs()) == []
            assert reader.facts(["run-1"]) == {}
            assert list(reader.items([("run-1", "x")])) == list(reader.on_trace("x")) == []
        assert list(audit.damage()) == []

    def test_a_block_that_raises_changes_nothing(self, audit):
        put(audit, row(1))
        writing = audit.writing()
        writer = writing.__enter__()
        writer.put([row(2)], [], Position(2))
        writer.note_damage(Position(2), "why")
        error = KeyError("of the block")
        writing.__exit__(KeyError, error, None)
        with audit.writing() as writer:
            assert writer.tracked() == 1
        assert all_of(audit) == [row(1)]
        assert list(audit.damage()) == []

    def test_the_position_rises_without_rows(self, audit):
        with audit.writing() as writer:
            writer.put([], [], Position(5))
            assert writer.tracked() == 5
        with audit.writing() as writer:
            assert writer.tracked() == 5

    @pytest.mark.parametrize(
        ("rows", "upto"), [([2], 3), ([4], 3), ([3, 3], 5), ([4, 3], 5), ([], 1)]
    )
    def test_rows_that_do_not_follow_are_refused(self, audit, rows, upto):
        put(audit, row(2))
        with pytest.raises(ValueError, match="row"), audit.writing() as writer:
            writer.put([row(at) for at in rows], [], Position(upto))
        assert all_of(audit) == [row(2)]

    def test_facts_replace_those_before(self, audit):
        first = facts("run-1", 1, trace_ids='["t1"]', status="running")
        then = facts("run-1", 2, trace_ids='["t2"]', status="failed")
        for each in (first, then):
            with audit.writing() as writer:
                writer.put([], [each], Position(each.position))
                assert writer.facts(["run-1", "x"]) == {"run-1": each}
        with audit.reading() as reader:
            assert list(reader.runs(statuses={"running"})) == []
            assert list(reader.runs(statuses={"failed"})) == [then]
            assert list(reader.on_trace("t1")) == []
            assert list(reader.on_trace("t2")) == ["run-1"]

    def test_what_is_put_later_is_not_in_a_state_that_is_looked_at(self, audit):
        rows = [row(at) for at in range(1, 200)]
        put(audit, *rows)
        with audit.reading() as reader:
            seen = reader.rows(Wanted())
            first = next(seen)
            put(audit, row(500, recorded_at=1))
            assert [first, *seen] == rows[::-1]
        assert len(all_of(audit)) == 200

    def test_rows_after_a_position(self, audit):
        put(audit, row(1), row(2, text="x"), row(2, part=1), row(3, text="x"))
        assert all_of(audit, after=2) == [row(3, text="x")]
        with audit.reading(after=Position(2)) as reader:
            assert list(reader.timeline("run-1")) == [row(3, text="x")]
            assert list(reader.matching("x", Wanted())) == [row(3, text="x")]
            assert list(reader.rows(Wanted(run_id="run-1"))) == [row(3, text="x")]
            assert reader.facts(["run-1"]) == {each.run_id: each for each in runs_of([row(3)])}

    def test_looking_within_looking_is_allowed(self, audit):
        put(audit, *(row(at) for at in range(1, 200)))
        with audit.reading() as one, audit.reading() as other:
            for first, second in zip(one.rows(Wanted()), other.rows(Wanted()), strict=True):
                assert first == second

    def test_threads_take_turns(self, audit):
        def work(number):
            for _ in range(20):
                with audit.writing() as writer:
                    at = Position(writer.tracked() + 1)
                    writer.put([row(at, run_id=f"run-{number}")], [], at)
                all_of(audit)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [each.position for each in all_of(audit)] == list(range(80, 0, -1))


class TestSums:
    @many
    @given(
        rows=histories(),
        asked=wanted_used,
        cuts=st.sets(st.integers(1, 40), max_size=3).map(sorted),
        after=st.integers(0, 40),
    )
    def test_sums_take_in_what_is_looked_at(self, audit, rows, asked, cuts, after):
        """Rows come at several times; a state looked at has those of its time."""
        with audit.writing() as writer:
            writer.clear()
        upto = 0
        for cut in [*cuts, LARGEST]:
            some = [each for each in rows if upto < each.position <= cut]
            before = [each for each in rows if after < each.position <= upto]
            with audit.reading(after=Position(after)) as reader:
                put(audit, *some, upto=cut)
                assert set(reader.usage(asked)) == PlainReader(before, ()).usage(asked, APART)
            upto = cut
        left = [each for each in rows if each.position > after]
        with audit.reading(after=Position(after)) as reader:
            assert set(reader.usage(asked)) == PlainReader(left, ()).usage(asked, APART)

    @many
    @given(rows=histories(), asked=wanted_used, version=st.integers(0, 40))
    def test_what_is_removed_is_not_in_sums(self, audit, rows, asked, version):
        with audit.writing() as writer:
            writer.clear()
            writer.put(rows, runs_of(rows), Position(1000))
            writer.remove("run-1", version)
        left = [each for each in rows if each.run_id != "run-1" or each.version > version]
        with audit.reading() as reader:
            assert set(reader.usage(asked)) == PlainReader(left, ()).usage(asked, APART)


class TestRemoving:
    def test_a_run_is_removed_up_to_a_version(self, audit):
        rows = [row(at, text="word", item_id="i") for at in range(1, 5)]
        rows[0] = row(1, text="", item_id="i")
        other = row(5, run_id="run-2", text="word")
        put(audit, *rows, other)
        with audit.writing() as writer:
            writer.remove("run-1", 3)
            writer.remove("unknown", 3)
        assert all_of(audit) == [other, rows[3]]
        with audit.reading() as reader:
            assert list(reader.matching("word", Wanted())) == [other, rows[3]]
            assert list(reader.timeline("run-1")) == [rows[3]]
            assert list(reader.items([("run-1", "i")])) == [rows[3]]

    def test_what_was_cleared_can_be_put_again(self, audit):
        rows = [row(at, text=f"text {at}") for at in range(1, 5)]
        for _ in range(2):
            put(audit, *rows)
            with audit.writing() as writer:
                writer.note_damage(Position(3), "why")
            assert list(audit.damage()) == [(3, "why")]
            with audit.reading() as reader:
                assert list(reader.matching("text 3", Wanted())) == [rows[2]]
            with audit.writing() as writer:
                writer.clear()
                assert writer.tracked() == 0
                assert writer.facts(["run-1"]) == {}
            assert all_of(audit) == []
            assert list(audit.damage()) == []

    def test_rows_that_were_removed_meanwhile_are_missed(self, audit):
        put(audit, *(row(at) for at in range(1, 200)))
        with audit.reading() as reader:
            seen = reader.rows(Wanted())
            next(seen)
            with audit.writing() as writer:
                writer.clear()
            with pytest.raises(ViewsUnusable, match="removed"):
                list(seen)


class TestRevisions:
    def test_rows_of_past_code_are_made_again(self, opener):
        old = opener(1)
        put(old, row(1, text="x"), row(2))
        new = opener(2)
        if new.location == "memory":
            return
        with new.writing() as writer:
            assert writer.tracked() == 0
            assert writer.facts(["run-1"]) == {}
        assert all_of(new) == []
        put(new, row(1, text="x"))
        assert all_of(new) == [row(1, text="x")]
        for use in (old.reading, old.writing):
            with pytest.raises(ViewsUnusable, match="newer"), use():
                pass

    def test_a_closed_store_says_so(self, audit):
        put(audit, row(1))
        audit.close()
        audit.close()
        for use in (audit.reading, audit.writing):
            with pytest.raises(ViewsUnusable), use():
                pass
        with contextlib.suppress(ViewsUnusable):
            audit.damage()
