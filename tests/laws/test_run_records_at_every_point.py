"""A run's record at a cursor is the one that was there when only that had been recorded."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journal import Journal
from journal.json_door import equal
from projections import run_record
from projections.fold import RunFold, evolve
from projections.fold_json import fold_to_json
from projections.order import anchored
from projections.run_index import RunIndex
from tests.laws.random_runs import runs
from tests.laws.small_pages import small_pages
from tests.laws.test_random_runs import hand_in


@pytest.fixture(autouse=True)
def limits():
    with small_pages():
        yield


@settings(max_examples=60)
@given(runs(), st.lists(st.integers(0, 10**6), min_size=1, max_size=3))
def test_folds_from_pages_are_those_from_scratch(random_run, numbers):
    random_run.looked_at = list(range(0, len(random_run.items), 3))
    with Journal.open("memory://") as journal:
        hand_in(journal, random_run, as_text=False)
        index = RunIndex(journal, "r")
        events = list(journal.reader.run_events("r"))
        for version in {len(events), *(number % len(events) + 1 for number in numbers)}:
            scratch = RunFold()
            for entry in sorted(anchored(events[:version])):
                evolve(scratch, entry)
            found = index.fold_to(index.first(version))
            assert equal(fold_to_json(found, index.stream), fold_to_json(scratch, index.stream))


@settings(max_examples=40)
@given(runs(longest=14))
def test_a_record_at_a_version_is_the_one_of_then(random_run):
    random_run.again = random_run.looked_at = []
    with Journal.open("memory://") as journal:
        then = {}
        items, random_run.items = random_run.items, []
        for item in items:
            random_run.items = [item]
            hand_in(journal, random_run, as_text=False)
            then[journal.reader.head("r")] = run_record(journal, "r")
        for version, expected in then.items():
            assert equal(run_record(journal, "r", f"version:{version}"), expected)
