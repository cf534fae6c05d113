"""Fixtures that every kind of test may use."""

import os
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, settings

from journal import Journal

settings.register_profile(
    "ci",
    max_examples=500,
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
def flip():
    """Damage the stored bytes of one event behind the journal's back."""

    def damage(path, stream, version):
        with closing(sqlite3.connect(path)) as db, db:
            guards = db.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in guards:
                db.execute(f'DROP TRIGGER "{name}"')
            [(key,)] = db.execute("SELECT key FROM streams WHERE name = ?", (stream,))
            changed = db.execute(
                "UPDATE events SET data = CAST(x'00' || substr(data, 2) AS BLOB)"
                " WHERE stream = ? AND version = ?",
                (key, version),
            )
            assert changed.rowcount == 1
            for _, sql in guards:
                db.execute(sql)

    return damage


@pytest.fixture
def anyio_backend():
    return "asyncio"
