"""Documents kept in the views, so that a rebuild applies only a few differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from journal.documents import Place, Walk
from journal.ids import StreamId, Version
from journal.json_door import JSON
from journal.stores.views import ViewReader
from projections.stored_values import stored_value

Answer = TypeVar("Answer")


class Look(Protocol):
    """Looks at the rows of a stream."""

    def __call__(
        self, stream: StreamId, question: Callable[[ViewReader], Answer], /
    ) -> Answer | None:
        """Answer a question; None where the stream's rows are not to be used."""
        ...


class _Stored(NamedTuple):
    """The answer to the last question about a stream's stored documents."""

    asked: Version
    found: Version
    """The last stored one at or below; 0 for none."""
    document: JSON


class StoredDocuments:
    """A `journal.documents.Known`: what the views hold, and what was rebuilt lately."""

    def __init__(self, look: Look, walk: Walk | None = None) -> None:
        self._look = look
        self._walk = Walk(0) if walk is None else walk
        self._stored: dict[StreamId, _Stored] = {}

    def get(self, place: Place) -> tuple[JSON] | None:
        """Give the document of an event, where it is known; see `Known`."""
        known = self._walk.get(place)
        if known is None:
            stored = self._find(place)
            known = (stored.document,) if stored.found == place[1] else None
        return known

    def nearest(self, place: Place) -> Version:
        """Tell the last version at or below one whose document is known; see `Known`."""
        return max(self._find(place).found, self._walk.nearest(place))

    def put(self, place: Place, document: JSON) -> None:
        """Remember a document for the next one."""
        self._walk.put(place, document)

    def _find(self, place: Place) -> _Stored:
        stream, version = place
        stored = self._stored.get(stream)
        if stored is None or not stored.found <= version <= stored.asked:

            def look(rows: ViewReader) -> _Stored:
                found = rows.document(stream, version)
                if found is None:
                    return _Stored(version, Version(0), None)
                document = stored_value(rows, stream, found[1])
                return _Stored(version, found[0], document)

            stored = self._look(stream, look) or _Stored(version, Version(0), None)
            self._stored[stream] = stored
        return stored
