"""The names of publications: what a run's evidence wants published outside the journal."""

from __future__ import annotations

import orjson

from journal.errors import InvalidRecord, brief

PREFIX = "publication:"


def publication_id(session_id: str, run_id: str) -> str:
    """Name the publication of a run; `run_of` reads it."""
    return PREFIX + orjson.dumps([session_id, run_id]).decode()


def run_of(publication: str) -> tuple[str, str]:
    """Tell the session and the run of a publication.

    Raises:
        InvalidRecord: no publication of a journal has this id.
    """
    if isinstance(publication, str):
        try:
            session_id, run_id = orjson.loads(publication.removeprefix(PREFIX))
            named = publication_id(str(session_id), str(run_id))
        except (TypeError, ValueError):
            named = None
        if publication == named:
            return session_id, run_id
    reason = f"expected the id of a pending publication, found {brief(publication)}"
    raise InvalidRecord("publication id", "$", reason)
