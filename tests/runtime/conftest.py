"""Fixtures of the tests with the real runtime."""

import pytest

from journal import Journal


@pytest.fixture
def journal(tmp_path):
    """A journal in a file; that engines do not differ is shown in `tests/contract`."""
    with Journal.open(tmp_path / "runs.db") as opened:
        yield opened
