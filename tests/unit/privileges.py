"""Being a user whom permissions bind, whoever runs the tests."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def public_directory():
    """A directory that other users may use, whoever runs the tests."""
    with tempfile.TemporaryDirectory(prefix="runjournal-") as made:
        directory = Path(made)
        directory.chmod(0o777)
        yield directory
        directory.chmod(0o700)


@contextmanager
def without_privileges():
    """Be a user whom permissions bind; the superuser is not bound."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
