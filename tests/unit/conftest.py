"""Fixtures of the unit tests."""

import pytest

from tests.unit.audited import START


class Clock:
    """A clock that stands still until it is told; journals opened after it go by it."""

    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now

    def pass_(self, micros):
        self.now += micros


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr("journal.times.now", made)
    return made
