"""Nothing leads out of a restored local environment while somebody swaps what is in it."""

import itertools
import os
import threading
from contextlib import contextmanager, suppress

import pytest

from journal.environment import LocalPolicy, LocalProvider
from journal.errors import FileNotInEnvironment, PathRefused
from tests.unit.local_roots import SECRET, guarded_top, state


@pytest.fixture
def root(tmp_path):
    with guarded_top(tmp_path):
        yield tmp_path / "root"


def swap(root, *names):
    """Put links to the outside in the place of a directory or a file."""
    for name in names:
        (root / name).rename(root / f"real {name}")
        (root / f"link {name}").rename(root / name)


def swap_back(root, *names):
    for name in names:
        (root / name).rename(root / f"link {name}")
        (root / f"real {name}").rename(root / name)


def filled(root, to_out):
    """Put a directory, a file, and links to the outside below a root."""
    (root / "d").mkdir(parents=True)
    (root / "d" / "f").write_text("F")
    (root / "d" / "g").write_text("F")
    (root / "e").write_text("F")
    (root / "sub").mkdir(exist_ok=True)
    (root / "sub" / "f").write_text("F")
    (root / "link d").symlink_to(to_out)
    (root / "link e").symlink_to(f"{to_out}/f")


CALLS = ("open", "stat", "readlink", "mkdir", "unlink", "rename", "rmdir", "listdir", "scandir")


@contextmanager
def before_call(number, act):
    """Act right before one of the system calls, counted from 0; tells whether there was one."""
    left = itertools.count(-number)
    acted = []

    def watched(real):
        def call(*args, **named):
            if next(left) == 0:
                acted.append(True)
                act()
            return real(*args, **named)

        return call

    with pytest.MonkeyPatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, watched(getattr(os, name)))
        yield acted


def at_each_call(root, attempt, act):
    """Try something anew for each of its system calls; gives what came of it each time."""
    for number in itertools.count():
        mine = root / f"{number}"
        filled(mine, "../../out")
        local = LocalProvider(state(mine), LocalPolicy([mine], writable=True))
        with before_call(number, lambda mine=mine: act(mine)) as acted:
            try:
                got = attempt(local)
            except (FileNotInEnvironment, PathRefused):
                got = None
        yield mine, got
        if not acted:
            assert number > 5
            return


@pytest.mark.parametrize(
    "attempt",
    [
        lambda local: local.read_text("d/f"),
        lambda local: local.write_text("d/f", "F"),
        lambda local: local.write_text("d/new/f", "F"),
        lambda local: local.copy("d/f", "copied", overwrite=True),
        lambda local: local.copy("sub/f", "d/f", overwrite=True),
        lambda local: local.names("d"),
        lambda local: local.delete("d/f"),
        lambda local: local.delete("d", recursive=True),
        lambda local: local.move("d/f", "moved"),
        lambda local: local.move("sub/f", "d/f", overwrite=True),
        lambda local: local.create_dir("d/made"),
        lambda local: local.read_text("e"),
        lambda local: local.write_text("e", "F"),
        lambda local: local.copy("e", "copied"),
        lambda local: local.move("d/f", "e", overwrite=True),
        lambda local: local.delete("e"),
    ],
    ids=[
        *("read", "write", "write_below", "copy_from", "copy_to", "names", "delete"),
        *("delete_all", "move_from", "move_to", "create_dir"),
        *("read_file", "write_file", "copy_file", "move_to_file", "delete_file"),
    ],
)
def test_a_link_put_in_before_any_system_call_leads_nowhere(root, attempt):
    for mine, got in at_each_call(root, attempt, lambda mine: swap(mine, "d", "e")):
        assert got in (None, "F", ["f", "g"])
        for name in ("copied", "moved"):
            assert not (mine / name).exists() or SECRET not in (mine / name).read_text()


@pytest.mark.parametrize(
    "attempt", [lambda local: local.read_text("e"), lambda local: local.write_text("e", "W")]
)
def test_a_pipe_put_in_before_any_system_call_makes_nobody_wait(root, attempt):
    def put_in(mine):
        (mine / "e").unlink()
        os.mkfifo(mine / "e")

    assert {got for _, got in at_each_call(root, attempt, put_in)} <= {None, "F"}


def test_what_vanishes_meanwhile_is_not_there(root):
    def put_in(mine):
        (mine / "d").rename(mine / "away")

    assert {got for _, got in at_each_call(root, lambda local: local.read_text("d/f"), put_in)} == {
        None,
        "F",
    }


def test_directories_swapped_for_links_meanwhile_lead_nowhere(root):
    filled(root, "../out")
    local = LocalProvider(state(root), LocalPolicy([root], writable=True))
    stop = threading.Event()

    def swapping():
        while not stop.is_set():
            swap(root, "d", "e")
            swap_back(root, "d", "e")

    swapper = threading.Thread(target=swapping)
    swapper.start()
    found = set()
    try:
        for _ in range(300):
            for attempt in (
                lambda: local.read_text("d/f"),
                lambda: local.read_text("e"),
                lambda: local.copy("d/f", "sub/copied", overwrite=True),
            ):
                with suppress(FileNotInEnvironment, PathRefused):
                    found.add(attempt())
    finally:
        stop.set()
        swapper.join()
    assert found <= {"F", "", None}
    assert SECRET not in (root / "sub" / "copied").read_text()


def test_a_directory_that_moves_while_it_is_removed_leads_nowhere(root):
    reasons = []

    def removed(local):
        try:
            local.delete("d", recursive=True)
        except PathRefused as error:
            reasons.append(error.reason)

    def moves(mine):
        if (mine / "d" / "x").exists():
            (mine / "d" / "x").rename(mine / "sub" / "x")

    def made(mine):
        filled(mine, "../../out")
        (mine / "d" / "x").mkdir()
        (mine / "d" / "x" / "f").write_text("F")
        return LocalProvider(state(mine), LocalPolicy([mine], writable=True))

    for number in itertools.count():
        mine = root / f"{number}"
        local = made(mine)
        with (
            before_call(number, lambda mine=mine: moves(mine)) as acted,
            suppress(FileNotInEnvironment),
        ):
            removed(local)
        assert (mine / "sub" / "f").read_text() == (mine / "e").read_text() == "F"
        if not acted:
            break
    assert not (mine / "d").exists()
    assert any("moves directories" in reason for reason in reasons)
