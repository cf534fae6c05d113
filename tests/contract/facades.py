"""The ways to reach a session store of the runtime's facade."""

import asyncio
import inspect
from contextlib import contextmanager

import pytest
from starweaver import _native
from starweaver.errors import StateError
from starweaver.store import SqliteSessionStore

from journal import Journal, JournalError
from journal.hosts.session_store import SessionStore
from journal.hosts.starweaver import JournalSessionStore


class Way:
    """A session store; each method of the facade is awaited and gives plain JSON."""

    refusals = (StateError, ValueError)
    """What a call is refused with."""

    def __init__(self, location):
        self.location = location
        self.open()

    def open(self):
        self.journal = Journal.open(self.location)
        self.target = self.made()

    def made(self):
        """Make what the methods are called on."""
        raise NotImplementedError

    def close(self):
        self.journal.close()

    def restart(self):
        """Come back as another process would."""
        self.close()
        self.open()

    def position(self):
        """How far the journal got."""
        return self.journal.reader.last_position()

    def find(self, name):
        return getattr(self.target, name)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        async def method(*args):
            answer = self.find(name)(*args)
            return plain(await answer if inspect.isawaitable(answer) else answer)

        return method

    async def everything(self):
        """All that the store answers."""
        held = {"position": self.position()}
        for session in await self.list_sessions():
            session_id = session["session_id"]
            held[session_id] = session
            held[session_id, "out"] = await self.pending_stream_publications(session_id)
            for run in await self.list_runs(session_id):
                ids = session_id, run["run_id"]
                held[ids] = await self.resume_snapshot(*ids), await self.load_checkpoints(*ids)
        return held

    @contextmanager
    def refuses(self, match=None):
        with pytest.raises(self.refusals, match=match):
            yield

    async def refused(self, name, *args, match=None):
        """Call a method that must be refused and must change nothing."""
        before = await self.everything()
        with self.refuses(match):
            await getattr(self, name)(*args)
        assert await self.everything() == before


class Plain(Way):
    """The journal's own session store, called directly."""

    refusals = (JournalError,)

    def made(self):
        return SessionStore(self.journal)


class Facade(Way):
    """The adapter, awaited directly."""

    def made(self):
        return JournalSessionStore(self.journal)


class Native(Way):
    """The adapter through the runtime's bridge, where that has the method; else what it calls."""

    refusals = (StateError, ValueError, OverflowError)

    def made(self):
        return JournalSessionStore(self.journal)

    def find(self, name):
        if name == "list_run_page":
            return self.list_run_page_by_sequence
        native = self.native()
        return getattr(native if hasattr(native, name) else self.behind(), name)

    def native(self):
        return self.target.to_native()

    def behind(self):
        return self.target.bridge

    def list_run_page_by_sequence(self, session_id, query):
        before = query.get("before")
        sequence = before and before["sequenceNo"]
        return self.native().list_run_page(session_id, query["limit"], sequence)


class AsyncNative(Native):
    """The adapter's awaitable methods through the runtime's bridge."""

    def native(self):
        return _native.PythonSessionStore(self.target, asyncio.get_running_loop())

    def behind(self):
        return self.target


class Reference(Way):
    """The runtime's own SQLite store: what the rules are where they are the same."""

    def open(self):
        SqliteSessionStore.migrate(self.location)
        self.target = SqliteSessionStore.open(self.location)

    def close(self):
        del self.target

    def position(self):
        return None


def plain(answer):
    """Give an answer as JSON, without what is absent."""
    if hasattr(answer, "to_dict"):
        answer = answer.to_dict()
    if isinstance(answer, list):
        return [plain(item) for item in answer]
    if isinstance(answer, dict):
        return {key: plain(item) for key, item in answer.items() if item is not None}
    return answer


ON_DISK = {"plain": Plain, "facade": Facade, "native": Native}
OURS = {
    **{f"{name} on disk": (way, True) for name, way in ON_DISK.items()},
    **{f"{name} in memory": (way, False) for name, way in ON_DISK.items()},
}
"""Ways to a journal, and whether it is a file."""
DIRECT = {name: way for name, way in OURS.items() if not issubclass(way[0], Native)}
"""Those that hand over every argument as it is."""
REFERENCE = {"starweaver": (Reference, True)}
