"""Fixtures that every kind of test may use."""

import os
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, settings

from journal import Journal

settings.register_profile(
    "ci",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(params=["sqlite", "memory"])
def journal(request, tmp_path):
    location = tmp_path / "runs.db" if request.param == "sqlite" else "memory://"
    with Journal.open(location) as opened:
        yield opened


@pytest.fixture
def tamper():
    """Change the rows of one event behind the journal's back, guards and all."""

    def change(path, stream, version, what):
        with closing(sqlite3.connect(path)) as db, db:
            guards = db.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in guards:
                db.execute(f'DROP TRIGGER "{name}"')
            changed = db.execute(
                f"{what} WHERE version = ? AND stream = (SELECT key FROM streams WHERE name = ?)",
                (version, stream),
            )
            assert changed.rowcount == 1
            for _, sql in guards:
                db.execute(sql)

    return change


@pytest.fixture
def flip(tamper):
    """Damage the stored bytes of one event behind the journal's back."""

    def damage(path, stream, version):
        what = "UPDATE events SET data = CAST(x'00' || substr(data, 2) AS BLOB)"
        tamper(path, stream, version, what)

    return damage


@pytest.fixture
def anyio_backend():
    return "asyncio"
