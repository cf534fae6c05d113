"""The engines that keep the contract of a store."""

from contextlib import closing

import pytest

from journal.stores import open_store
from tests.contract.facades import DIRECT, OURS, REFERENCE

ENGINES = {
    "memory": lambda tmp_path: "memory://",
    "sqlite": lambda tmp_path: tmp_path / "runs.db",
}


@pytest.fixture(params=ENGINES)
def store(request, tmp_path):
    store = open_store(ENGINES[request.param](tmp_path), create=True)
    yield store
    store.close()


def _opened(request, tmp_path):
    way, on_disk = request.param
    with closing(way(str(tmp_path / "runs.db") if on_disk else "memory://")) as opened:
        yield opened


def _ways(ways):
    return {"params": ways.values(), "ids": ways.keys()}


@pytest.fixture(**_ways({**OURS, **REFERENCE}))
def either(request, tmp_path):
    """Each way to a session store on a journal, and the runtime's own store."""
    yield from _opened(request, tmp_path)


@pytest.fixture(**_ways(OURS))
def ours(request, tmp_path):
    """Each way to a session store on a journal."""
    yield from _opened(request, tmp_path)


@pytest.fixture(**_ways({name: way for name, way in OURS.items() if way[1]} | REFERENCE))
def on_disk(request, tmp_path):
    """Each way to a session store on a file, and the runtime's own store."""
    yield from _opened(request, tmp_path)


@pytest.fixture(**_ways(DIRECT))
def direct(request, tmp_path):
    """Each way to a session store on a journal that hands over every argument as it is."""
    yield from _opened(request, tmp_path)
