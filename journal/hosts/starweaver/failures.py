"""Errors of the journal in the words of the runtime."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starweaver.errors import StateError

from journal.errors import JournalError, RunNotFound, RunNotInSession, SessionNotFound


@contextmanager
def state_errors() -> Iterator[None]:
    """Raise the runtime's error in place of the journal's, which is then its cause.

    The runtime sees only the text. It takes a text with "unknown session" or "unknown run" for
    a record that is not there yet.

    Raises:
        StateError: in place of every `JournalError`, with its text.
    """
    try:
        yield
    except SessionNotFound as error:
        raise StateError(f"unknown session: {error.session_id}") from error
    except RunNotInSession as error:
        raise StateError(f"unknown run: {error.session_id}:{error.run_id}") from error
    except RunNotFound as error:
        raise StateError(f"unknown run: {error.run_id}") from error
    except JournalError as error:
        raise StateError(str(error)) from error
