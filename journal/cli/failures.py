"""How a command ends when it cannot do what was asked: one line, and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import ParamSpec

import typer

from journal.cli.escape import escape, shorten_middle
from journal.errors import InvalidCursor, InvalidFilter, JournalError

P = ParamSpec("P")

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
TRACEBACK = "RUNJOURNAL_TRACEBACK"
LONGEST = 2000
"""Characters of a message that are printed; more is cut out of its middle."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Make a command end with an exit code, whatever is raised in it."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            with writing():
                sys.stdout.flush()
        except (typer.Exit, typer.BadParameter):
            raise
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - never a traceback
            raise typer.Exit(ended(error)) from None

    return run


def ended(error: BaseException) -> int:
    """Say on the standard error why a command ends, and give its exit code.

    A reader that closes the pipe has what it wanted: that is no failure. Ctrl-C needs no
    words either.
    """
    settle_output()
    if isinstance(error, BrokenPipeError):
        return 0
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if os.environ.get(TRACEBACK):
        for line in "".join(traceback.format_exception(error)).splitlines():
            sys.stderr.write(escape(line) + "\n")
    complain(told(error))
    return WRONG_USAGE if isinstance(error, InvalidCursor | InvalidFilter) else FAILED


@contextmanager
def writing() -> Iterator[None]:
    """Write to the standard output; a failure of the system is told as one of writing there."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailedError(error.strerror or str(error)) from error


class OutputFailedError(Exception):
    """The standard output does not take what is written."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot write to standard output: {reason[:1].lower()}{reason[1:]}")


def complain(message: str) -> None:
    """Print a message on the standard error, on one line."""
    sys.stderr.write(f"runjournal: {escape(shorten_middle(message, LONGEST))}\n")


def told(error: BaseException) -> str:
    """Say what went wrong in words for the user."""
    if isinstance(error, JournalError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        about = "" if error.filename is None else f"{error.filename!r}: "
        return f"{about}{error.strerror}"
    if isinstance(error, OutputFailedError):
        return str(error)
    if isinstance(error, ImportError) and error.name is None:
        return str(error)  # of an extra: it says what to install
    return (
        f"unexpected {type(error).__name__}: {error}; this is a fault of runjournal, "
        f"{TRACEBACK}=1 shows where"
    )


def settle_output() -> None:
    """Write what is still buffered; where that fails, drop it, or it fails again at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def prepare_streams() -> None:
    """Make the standard streams usable: closed ones go nowhere, any text can be written."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
