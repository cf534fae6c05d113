"""Whose account of the operating system this process runs in."""

from __future__ import annotations

import getpass
import os
import socket

from journal.events import Operator


def current_operator(name: str | None = None) -> Operator:
    """Tell who is at this process: the operating system's user and machine, and a name given.

    The user is the one that the system lets the process act for; variables such as `USER`,
    which anybody can set, are asked only where the system has no such thing (Windows).

    Args:
        name: as the person gave it; nobody checks it.
    """
    return Operator(user=_user(), host=socket.gethostname(), name=name)


def _user() -> str:
    try:
        import pwd  # noqa: PLC0415 - only on Unix
    except ImportError:
        return getpass.getuser()
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"  # containers often run as a user without a name
