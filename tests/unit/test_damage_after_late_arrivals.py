"""What comes before damage answers, also where some of it arrived late."""

import pytest

from journal import Journal
from journal.errors import CorruptEvent
from projections import VersionCursor, replay
from tests import samples
from tests.unit.changed_rows import replaced


@pytest.mark.parametrize("late", [False, True])
def test_versions_before_damage_are_replayed(late):
    with Journal.open("memory://") as journal:
        run = journal.run("r", session_id="s")
        sequences = [number for number in range(300) if number != 50]
        run.append_many([samples.record(number) for number in sequences[:200]])
        run.append(samples.record(50 if late else 300))
        run.append_many([samples.record(number) for number in sequences[200:]])
        whole = [replay(journal, "r", VersionCursor(at)).to_json() for at in (5, 202, 249)]
        replaced(journal, journal._store, "run:r", 250, data=b"7")
        seen = [replay(journal, "r", VersionCursor(at)).to_json() for at in (5, 202, 249)]
        assert seen == whole
        with pytest.raises(CorruptEvent, match="event 250"):
            replay(journal, "r", VersionCursor(250))
        with pytest.raises(CorruptEvent, match="event 250"):
            replay(journal, "r")
