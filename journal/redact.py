"""Redaction: a hook of the host's sees each value before it becomes part of an event.

`hook(value, path, kind)` is called for every JSON value of a record, containers before what
is in them. The very object it was given means unchanged; anything else replaces the value,
and is not looked into again. It runs before the event exists: what it replaces is never
written, and when it fails nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from journal.difference import apply
from journal.errors import InvalidEnvelope, InvalidJSON, InvalidRecord, RedactionFailed
from journal.json_door import JSON, accept, dumps
from journal.json_text import member

Hook: TypeAlias = Callable[[JSON, str, str], JSON]
"""`hook(value, path, kind) -> value`; must not change what it is given in place."""

MAX_PATHS = 20
"""Paths that an event tells; where more was redacted, it tells those of what contains it."""

MAX_PATH = 200
"""Characters of a path that an event tells; of a longer one it tells what contains it."""

KINDS = (
    "approval",
    "checkpoint",
    "context_state",
    "deferred_tool",
    "environment_state",
    "event",
    "resume_claim",
    "run",
    "run_evidence",
    "session",
    "stream_cursor",
    "stream_record",
)
"""What a hook may be told that a record is: the interchange types, and a resume claim."""

_Steps: TypeAlias = tuple[str | int, ...]


class Redactor:
    """Runs a journal's hook over records."""

    def __init__(self, hook: Hook | None, known: Sequence[str] = ()) -> None:
        """Run `hook`; without one, only tell the paths that are `known` already."""
        self._hook = hook
        self._known = known

    @property
    def known(self) -> Sequence[str]:
        """Paths that are told whatever the hook does."""
        return self._known

    def knowing(self, paths: Sequence[str]) -> Redactor:
        """Give one that tells these paths too: what another journal redacted."""
        return Redactor(self._hook, paths)

    def redact(self, value: JSON, kind: str, below: tuple[str, ...] = ()) -> tuple[JSON, list[str]]:
        """Show a record to the hook.

        Args:
            value: accepted JSON; it is not changed.
            kind: one of `KINDS`.
            below: keys that lead to the record, where it is not the value itself.

        Returns:
            The value with what the hook replaced, which shares the rest with it and has not
            been through the door yet; and the paths in the record, sorted.

        Raises:
            RedactionFailed: the hook failed, or changed what it was given.
        """
        if self._hook is None:
            return value, sorted(self._known)
        record = value
        for key in below:
            record = record[key]
        was = dumps(record)
        replaced = list(self._replaced(self._hook, record, kind))
        if not _is_written(record, was):
            reason = "it changed a value in place; let it return another value instead"
            raise RedactionFailed(kind, "$", reason)
        left = apply(value, [["=", [*below, *steps], item] for steps, item in replaced])
        return left, _told([steps for steps, _ in replaced], self._known)

    @contextmanager
    def blamed(self, kind: str) -> Iterator[None]:
        """Check what the hook left.

        Raises:
            RedactionFailed: in place of what the door or the record's check refuses.
        """
        try:
            yield
        except InvalidJSON as error:
            reason = "what it returned is no JSON"
            raise RedactionFailed(kind, _brief(error.path), reason) from error
        except (InvalidRecord, InvalidEnvelope) as error:
            path = error.path if isinstance(error, InvalidRecord) else "$"
            reason = f"what it returned leaves no valid {kind.replace('_', ' ')}"
            raise RedactionFailed(kind, _brief(path), reason) from error

    @staticmethod
    def _replaced(hook: Hook, record: JSON, kind: str) -> Iterator[tuple[_Steps, JSON]]:
        todo: list[tuple[_Steps, str, JSON]] = [((), "$", record)]
        while todo:
            steps, path, value = todo.pop()
            try:
                found = hook(value, path, kind)
            except Exception as error:
                reason = f"it raised {type(error).__name__}"
                raise RedactionFailed(kind, _brief(path), reason) from error
            if found is not value:
                yield steps, _taken(found, kind, path)
            elif type(value) is dict:
                todo += [
                    ((*steps, key), member(path, key), item)
                    for key, item in reversed(value.items())
                ]
            elif type(value) is list:
                todo += [
                    ((*steps, at), f"{path}[{at}]", value[at])
                    for at in range(len(value) - 1, -1, -1)
                ]


def _is_written(record: JSON, text: bytes) -> bool:
    try:
        return dumps(record) == text
    except (TypeError, ValueError, RecursionError):
        return False  # something came into it that is no JSON


def _taken(found: JSON, kind: str, path: str) -> JSON:
    """Take what the hook returned as plain JSON of our own, at once."""
    try:
        [value], _ = accept([found], wrapped=1)
    except InvalidJSON as error:
        place = path + error.path.removeprefix("$[0]")
        raise RedactionFailed(kind, _brief(place), "what it returned is no JSON") from error
    return value


def _told(replaced: list[_Steps], known: Sequence[str]) -> list[str]:
    """Give the paths of what was replaced: few enough, and none too long to be told."""
    if not replaced:
        return sorted(known)
    for depth in range(max(map(len, replaced)), -1, -1):
        paths = {_path(steps[:depth]) for steps in replaced}.union(known)
        if len(paths) <= MAX_PATHS:
            return sorted(paths)
    return ["$"]


def _path(steps: _Steps) -> str:
    path = "$"
    for step in steps:
        longer = member(path, step) if isinstance(step, str) else f"{path}[{step}]"
        if len(longer) > MAX_PATH:
            break
        path = longer
    return path


def _brief(path: str) -> str:
    return path if len(path) <= MAX_PATH else path[:MAX_PATH] + "..."
