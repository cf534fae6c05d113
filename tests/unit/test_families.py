"""Runs are arranged as families, whatever the list leaves out."""

from hypothesis import given
from hypothesis import strategies as st

from projections import RunSummary, families


def run(run_id, parent=None):
    return RunSummary(run_id, forked_from=None if parent is None else (parent, "latest"))


def test_a_family_stands_where_its_newest_run_does():
    listed = [run("g", "f"), run("alone"), run("f", "r"), run("e", "r"), run("r")]
    assert [(each.run.run_id, each.lasts) for each in families(listed)] == [
        ("r", ()),
        ("f", (False,)),
        ("g", (False, True)),
        ("e", (True,)),
        ("alone", ()),
    ]


def test_a_fork_of_a_run_that_is_not_listed_is_a_root():
    listed = [run("g", "f"), run("f", "nobody")]
    assert [each.run.run_id for each in families(listed)] == ["f", "g"]


def test_a_long_line_of_forks_is_no_matter():
    listed = [run(str(at), str(at - 1)) for at in range(1500, 0, -1)]
    found = [*families(listed)]
    assert [each.run.run_id for each in found] == [str(at) for at in range(1, 1501)]
    assert len(found[-1].lasts) == 1499


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=10))
def test_each_run_stands_there_once_and_below_its_parent(parents):
    # Also where damage makes a run its own ancestor.
    listed = [run(str(at), None if of is None else str(of)) for at, of in enumerate(parents)]
    found = [*families(listed)]
    assert sorted(each.run.run_id for each in found) == sorted(each.run_id for each in listed)
    places = {each.run.run_id: at for at, each in enumerate(found)}
    for each in found:
        if each.lasts:
            parent = places[each.run.forked_from[0]]
            assert parent < places[each.run.run_id]
            assert found[parent].lasts == each.lasts[:-1]
