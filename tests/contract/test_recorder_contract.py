"""Both engines' recorders also keep the promises of the `eventsourcing` library's."""

import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent

from journal.errors import JournalClosed, NotAJournal
from journal.stores.memory import MemoryFactory
from journal.stores.recorder import RecorderEvent
from journal.stores.sqlite import EventFactory


def sqlite_factory(tmp_path, **settings):
    return EventFactory({"SQLITE_DBNAME": str(tmp_path / "runs.db"), **settings})


@pytest.fixture(params=["memory", "sqlite"])
def recorder(request, tmp_path):
    factory = MemoryFactory(None) if request.param == "memory" else sqlite_factory(tmp_path)
    with factory:
        yield factory.application_recorder()
    factory.close()


def event(version, originator="a", topic="t1", state=b"s"):
    return StoredEvent(originator, version, topic, state)


def seen(events):
    return [(e.originator_id, e.originator_version, e.topic, e.state) for e in events]


def test_an_empty_recorder_has_nothing(recorder):
    assert recorder.max_notification_id() is None
    assert recorder.select_events("a") == []
    assert recorder.select_notifications(start=None, limit=3) == []
    assert recorder.select_notifications(start=None, limit=3, topics=["t1"]) == []
    assert recorder.insert_events([]) == []


def test_inserting_gives_the_positions(recorder):
    assert recorder.insert_events([event(1), event(2), event(1, "b")]) == [1, 2, 3]
    assert recorder.insert_events([event(3)]) == [4]
    assert recorder.max_notification_id() == 4


@pytest.mark.parametrize("batch", [[1], [3, 1], [3, 3], [4], [3, 5], [0]])
def test_a_version_out_of_place_is_an_integrity_error(recorder, batch):
    recorder.insert_events([event(1), event(2)])
    with pytest.raises(IntegrityError):
        recorder.insert_events([event(1, "b"), *(event(version) for version in batch)])
    assert recorder.max_notification_id() == 2
    assert recorder.select_events("b") == []


def test_an_identity_is_unique_in_its_originator(recorder):
    one, two = (RecorderEvent("a", version, "t1", b"", identity=7) for version in (1, 2))
    recorder.insert_events([one])
    with pytest.raises(IntegrityError):
        recorder.insert_events([two])
    recorder.insert_events([RecorderEvent("b", 1, "t1", b"", identity=7)])


def test_selecting_events(recorder):
    recorder.insert_events([event(1), event(1, "b"), event(2, topic="t2"), event(3, state=b"3")])

    def select(**bounds):
        return [e.originator_version for e in recorder.select_events("a", **bounds)]

    assert seen(recorder.select_events("a")) == [
        ("a", 1, "t1", b"s"),
        ("a", 2, "t2", b"s"),
        ("a", 3, "t1", b"3"),
    ]
    assert select(desc=True) == [3, 2, 1]
    assert select(gt=1) == [2, 3]
    assert select(lte=2) == [1, 2]
    assert select(gt=1, lte=2) == [2]
    assert select(limit=2) == [1, 2]
    assert select(desc=True, limit=1, lte=2) == [2]
    assert {e.recorded_at > 0 for e in recorder.select_events("a")} == {True}


def test_selecting_notifications(recorder):
    recorder.insert_events([event(1), event(2, topic="t2"), event(1, "b", topic="t3")])

    def select(start, limit=10, **rest):
        return [n.id for n in recorder.select_notifications(start, limit, **rest)]

    found = recorder.select_notifications(1, 10)
    assert seen(found) == [("a", 1, "t1", b"s"), ("a", 2, "t2", b"s"), ("b", 1, "t3", b"s")]
    assert select(None) == [1, 2, 3]
    assert select(2) == [2, 3]
    assert select(1, inclusive_of_start=False) == [2, 3]
    assert select(None, 1) == [1]
    assert select(1, stop=2) == [1, 2]
    assert select(1, stop=2, inclusive_of_start=False) == [2]
    assert select(None, topics=["t1", "t3"]) == [1, 3]
    assert select(2, 1, topics=["t1", "t3"]) == [3]
    assert select(None, topics=["t4"]) == []


def test_a_recorder_can_be_subscribed_to(recorder):
    recorder.insert_events([event(1), event(2)])
    with recorder.subscribe(gt=1) as subscription:
        assert next(subscription).id == 2
        recorder.insert_events([event(3)])
        found = next(subscription)
        assert (found.id, *seen([found])) == (3, ("a", 3, "t1", b"s"))
    assert list(subscription) == []


def test_a_subscription_may_name_topics(recorder):
    recorder.insert_events([event(1), event(2, topic="t2"), event(3)])
    with recorder.subscribe(topics=["t2"]) as subscription:
        assert next(subscription).id == 2
        recorder.insert_events([event(4), event(5, topic="t2"), event(6)])
        assert next(subscription).id == 5


def test_a_subscription_ends_with_the_recorder(recorder):
    with recorder.subscribe() as subscription:
        recorder.close()
        with pytest.raises(JournalClosed):
            next(subscription)


def test_a_subscription_sees_what_another_appends_to_the_file(tmp_path):
    with sqlite_factory(tmp_path) as one, sqlite_factory(tmp_path) as other:
        with one.application_recorder().subscribe() as subscription:
            other.application_recorder().insert_events([event(1)])
            assert next(subscription).id == 1
        one.close()
        other.close()


def test_a_journal_file_holds_events_only(tmp_path):
    factory = sqlite_factory(tmp_path)
    for make in (factory.aggregate_recorder, factory.tracking_recorder, factory.process_recorder):
        with pytest.raises(NotImplementedError, match="no table"):
            make()
    factory.close()


def test_the_library_may_be_told_not_to_create(tmp_path):
    (tmp_path / "runs.db").touch()
    with pytest.raises(NotAJournal):
        sqlite_factory(tmp_path, CREATE_TABLE="n")


def test_the_librarys_connections_are_ours(tmp_path):
    factory = sqlite_factory(tmp_path)
    datastore = factory.datastore
    with datastore.get_connection(commit=True) as writer:
        assert writer.sqlite.execute("SELECT count(*) FROM events").fetchone() == (0,)
    with datastore.get_connection(commit=True) as again:
        assert again is writer
    with datastore.get_connection(commit=False) as reader:
        assert reader is not writer
    factory.close()


def test_creating_tables_again_changes_nothing(tmp_path):
    factory = sqlite_factory(tmp_path)
    recorder = factory.application_recorder()
    recorder.create_table()
    recorder.insert_events([event(1)])
    recorder.create_table()
    assert recorder.max_notification_id() == 1
    factory.close()
