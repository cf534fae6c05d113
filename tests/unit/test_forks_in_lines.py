"""A fork travels with what it inherits, and only onto a journal that holds that."""

import json

import pytest

from journal import Journal
from journal.errors import BrokenBase, InvalidLine, RecordConflict, RunNotFound
from journal.export import count_lines, export_all, export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from tests import samples
from tests.unit.fork_points import point, record_steps


@pytest.fixture
def family(journal):
    """Run r; f, forked from its middle; g, forked from f at its end, in another session."""
    with journal.run("r", session_id="s", conversation_id="c") as run:
        record_steps(run, 6)
    with journal.fork(point(journal, "r", 2), "f") as fork:
        record_steps(fork, 2, first=3, prefix="f")
    with journal.fork(point(journal, "f"), "g", session_id="s2") as fork:
        record_steps(fork, 1, first=5, prefix="g")
    journal.run("unrelated", session_id="s", conversation_id="c").release()
    return journal


def lines(journal, run_id=None):
    made = export_all(journal.reader) if run_id is None else export_run(journal.reader, run_id)
    return [dumps(line) for line in made]


def owner(line):
    line = json.loads(line)
    return line.get("run_id") or line["checkpoint"]["run_id"]


def everything(journal, run_id):
    """Every event of a run as it was handed in, with its time."""
    found = []
    for event in journal.reader.run_events(run_id):
        data = {key: value for key, value in event.data.items() if key != "imported"}
        if "delta" in data:
            data = {"document": journal.reader.document(event)}
        found.append((event.version, event.name, event.recorded_at, data))
    return found


@pytest.fixture
def copy():
    with Journal.open("memory://") as opened:
        yield opened


def test_before_a_fork_comes_what_it_inherits_from_the_oldest_run_on(family):
    given = lines(family, "g")
    assert [owner(line) for line in given] == ["r"] * 13 + ["f"] * 5 + ["g"] * 3
    assert [json.loads(line)["version"] for line in given] == [
        *range(1, 14),
        *range(1, 6),
        *range(1, 4),
    ]
    assert count_lines(family.reader, "g") == len(given)
    assert count_lines(family.reader, "r") == 13
    assert count_lines(family.reader, "nobody") == 0


def test_what_a_source_goes_on_with_is_not_part_of_it(family):
    before = lines(family, "g")
    for run_id in ("r", "f"):
        with family.run(run_id) as run:
            record_steps(run, 1, first=50, prefix="later")
    assert lines(family, "g") == before


def test_ingest_of_a_fork_into_an_empty_journal_gives_the_same(family, copy):
    counts = Ingest(copy).read(lines(family, "g"))
    assert counts.repeated == {}
    for run_id in ("r", "f", "g"):
        assert everything(copy, run_id) == everything(family, run_id)
    assert lines(copy, "g") == lines(family, "g")
    assert [e.data["run_id"] for e in copy.reader.session_events("s2")] == ["g"]


def test_export_of_everything_holds_each_event_once(family, copy):
    given = lines(family)
    assert len(given) == len(set(given)) == family.reader.last_position() - 4
    Ingest(copy).read(given)
    assert lines(copy) == given
    assert Ingest(copy).read(given).recorded == {}


def test_where_its_source_is_held_only_the_fork_is_added(family, copy):
    Ingest(copy).read(lines(family, "r"))
    with copy.run("r") as run:
        record_steps(run, 2, first=50, prefix="later")
    grown = everything(copy, "r")
    counts = Ingest(copy).read(lines(family, "f"))
    assert counts.recorded.total() == 5
    assert counts.repeated.total() == 13
    assert everything(copy, "r") == grown
    assert everything(copy, "f") == everything(family, "f")


def test_a_source_being_written_does_not_stand_in_the_way(family, copy):
    Ingest(copy).read(lines(family, "r"))
    with copy.run("r"):
        Ingest(copy).read(lines(family, "f"))
    assert everything(copy, "f") == everything(family, "f")


@pytest.mark.parametrize("before", [0, 12])
def test_a_fork_before_what_it_inherits_is_refused(family, copy, before):
    Ingest(copy).read(lines(family, "r")[:before])
    has = "which has 12 of them" if before else "which is not there"
    with pytest.raises(InvalidLine, match=f"inherits 13 events of run 'r', {has}: lines"):
        Ingest(copy).read(lines(family, "f")[13:])
    assert [*copy.reader.run_ids()] == ["r"][: bool(before)]


def test_with_keep_going_nothing_of_such_a_fork_is_kept(family, copy):
    counts = Ingest(copy, keep_going=True).read(lines(family, "f")[13:])
    assert len(counts.refused) == 5
    assert [*copy.reader.run_ids()] == []


@pytest.mark.parametrize("broken", ["{", "[]"])
def test_with_keep_going_a_fork_does_not_begin_without_its_unreadable_line(family, copy, broken):
    given = lines(family, "f")
    given[13] = broken.encode()
    counts = Ingest(copy, keep_going=True).read(given)
    assert len(counts.refused) == 5
    assert [*copy.reader.run_ids()] == ["r"]


def test_a_fork_does_not_begin_without_its_first_line(family, copy):
    given = lines(family, "f")
    del given[13]
    with pytest.raises(InvalidLine, match="the line that opens it"):
        Ingest(copy).read(given)
    assert [*copy.reader.run_ids()] == ["r"]


def test_without_versions_nothing_before_a_fork_may_be_passed_over(family, copy):
    given = []
    for line in lines(family):
        bare = json.loads(line)
        del bare["version"]
        given.append(dumps(bare))
    given[1] = b"{"
    given.insert(13, dumps({"type": "run", "run": samples.run_record("r")}))
    Ingest(copy, keep_going=True).read(given)
    assert not copy.reader.has_run("f")


def test_another_run_under_the_sources_id_is_a_conflict(family, copy):
    copy.run("r", session_id="s", conversation_id="c").append(samples.delta(0, "x"))
    with pytest.raises(InvalidLine, match="already recorded as version 2") as error:
        Ingest(copy).read(lines(family, "f"))
    assert isinstance(error.value.__cause__, RecordConflict)
    assert [*copy.reader.run_ids()] == ["r"]


def test_without_versions_a_fork_is_recognized_too(family, copy):
    given = []
    for line in lines(family, "f"):
        bare = json.loads(line)
        del bare["version"]
        given.append(dumps(bare))
    Ingest(copy).read(given)
    counts = Ingest(copy).read(given)
    assert counts.recorded == {}
    assert everything(copy, "f") == everything(family, "f")


def forked(**fields):
    data = {"run_id": "f", "session_id": "s", "source": "r", "source_version": 13}
    data |= {"cursor": "stream:2", "before": [2, 2, 0]}
    data |= fields
    data = {key: value for key, value in data.items() if value != "left out"}
    return {"type": "event", "run_id": data["run_id"], "name": "run.forked.v1", "data": data}


BAD = [
    ({"source": "f"}, r"\$\.data\.source: a run is no fork of itself"),
    ({"forked": "f"}, r"\$\.data\.forked: a run is no fork of itself"),
    ({"source": ""}, "source of run.forked"),
    ({"forked": ""}, "forked of run.forked"),
    ({"source": 5}, r"\$\.data\.source"),
    ({"source": "left out"}, r"\$\.data\.source"),
    ({"session_id": ""}, "session_id of run.forked"),
    ({"conversation_id": ""}, "conversation_id of run.forked"),
    ({"source_version": 0}, r"\$\.data\.source_version"),
    ({"source_version": True}, r"\$\.data\.source_version"),
    ({"source_version": 1.0}, r"\$\.data\.source_version"),
    ({"source_version": 2**63}, r"\$\.data\.source_version"),
    ({"source_version": 14}, "which has 13 of them"),
    ({"source": "nobody"}, "which is not there"),
    ({"before": [2, 2]}, r"\$\.data\.before"),
    ({"before": [2, 2, 0, 0]}, r"\$\.data\.before"),
    ({"before": [2, "2", 0]}, r"\$\.data\.before"),
    ({"before": {"anchor": 2}}, r"\$\.data\.before"),
    ({"before": [-2, 2, 0]}, r"\$\.data\.before"),
    ({"before": [2, 3, 0]}, r"\$\.data\.before"),
    ({"before": [2, 2, -1]}, r"\$\.data\.before"),
    ({"until": "2026"}, r"\$\.data\.until"),
    ({"until": 2**62}, r"\$\.data\.until"),
    ({"cursor": ""}, "cursor of run.forked"),
    ({"cursor": "left out"}, r"\$\.data\.cursor"),
    ({"colour": "red"}, r"\$\.data\.colour"),
]


@pytest.mark.parametrize(("fields", "said"), BAD, ids=str)
def test_a_lineage_that_cannot_be_is_refused(family, copy, fields, said):
    Ingest(copy).read(lines(family, "r"))
    with pytest.raises(InvalidLine, match=said):
        Ingest(copy).read([dumps(forked(**fields))])
    assert [*copy.reader.run_ids()] == ["r"]
    Ingest(copy).read([dumps(forked())])
    assert [*copy.reader.run_ids()] == ["f", "r"]


def test_a_fork_is_never_the_source_of_its_ancestors(family, copy):
    Ingest(copy).read(lines(family, "f"))
    circle = forked(run_id="r", source="f", source_version=1)
    with pytest.raises(InvalidLine, match="origin 'no fork'"):
        Ingest(copy).read([dumps(circle)])
    with pytest.raises(InvalidLine, match="already recorded as version 1"):
        Ingest(copy).read([dumps(circle | {"version": 1})])


def test_nothing_of_a_lineage_is_shown_to_the_hook(family):
    def shout(value, path, kind):
        return "X" if kind == "event" else value

    given = lines(family, "f")
    with Journal.open("memory://", redact=shout) as redacting:
        Ingest(redacting).read(given)
        assert lines(redacting, "f") == given


def test_a_fork_whose_source_is_gone_is_not_exported(tmp_path, tamper):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        with journal.run("r", session_id="s", conversation_id="c") as run:
            record_steps(run, 2)
        journal.fork(point(journal), "f").release()
    tamper(path, "run:r", 5, "DELETE FROM events")
    with Journal.open(path) as journal:
        with pytest.raises(BrokenBase, match="it has 4 events, its fork inherits 5") as error:
            lines(journal, "f")
        assert (error.value.stream, error.value.base_stream) == ("run:f", "run:r")
        with pytest.raises(RunNotFound):
            lines(journal, "nobody")
