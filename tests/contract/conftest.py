"""The engines that keep the contract of a store."""

import pytest

from journal.stores import open_store

ENGINES = {
    "memory": lambda tmp_path: "memory://",
    "sqlite": lambda tmp_path: tmp_path / "runs.db",
}


@pytest.fixture(params=ENGINES)
def store(request, tmp_path):
    store = open_store(ENGINES[request.param](tmp_path), create=True)
    yield store
    store.close()
