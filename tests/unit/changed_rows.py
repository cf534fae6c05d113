"""A journal one of whose rows reads as something else."""

from journal.stores.interface import StoredEvent
from journal.views import Views


class Changed:
    """A store one of whose rows reads as something else."""

    def __init__(self, store, stream, version, **change):
        self._store = store
        self._place = stream, version
        self._change = change

    def __getattr__(self, name):
        return getattr(self._store, name)

    def _rows(self, rows):
        return [self._row(row) if (row.stream, row.version) == self._place else row for row in rows]

    def _row(self, row):
        names = ("position", "stream", "version", "name", "recorded_at", "data")
        return StoredEvent(**{name: getattr(row, name) for name in names} | self._change)

    def read_stream(self, *args, **kwargs):
        return self._rows(self._store.read_stream(*args, **kwargs))

    def read_versions(self, *args, **kwargs):
        return self._rows(self._store.read_versions(*args, **kwargs))

    def read_all(self, *args, **kwargs):
        return self._rows(self._store.read_all(*args, **kwargs))


def replaced(journal, store, stream, version, **change):
    """Let a row of a journal's store read as something else, before anything is derived."""
    changed = Changed(store, stream, version, **change)
    journal.reader._store = journal.reader._documents._store = changed
    journal.views.close()
    journal.views = Views(journal.views._open, journal.views._open_audit)
