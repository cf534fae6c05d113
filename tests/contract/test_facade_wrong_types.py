"""Whatever a host hands to the runtime's own facade, it gets the facade's error."""

import asyncio

import pytest
from starweaver.errors import StateError

from journal.hosts.starweaver import JournalSessionStore
from tests.contract import test_session_store_wrong_types as plain
from tests.contract.host_records import WAITING

FACADE = [name for name in plain.METHODS if hasattr(JournalSessionStore, name)]


@pytest.mark.parametrize("name", FACADE)
def test_methods_refuse_with_the_facades_error(journal, name):
    store = JournalSessionStore(journal)
    method = getattr(store, name)

    async def call_with_each():
        await store.commit_run_evidence(WAITING)
        for key, wrong, arguments in plain.swapped(name, method, plain.WRONG):
            try:
                await method(**arguments)
            except StateError:
                continue
            except Exception as error:
                error.add_note(f"{name}({key}={wrong!r})")
                raise
        await store.load_session("s1")

    asyncio.run(call_with_each())
