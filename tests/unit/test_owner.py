"""Whether the owner of a lease is gone is said only when it is sure."""

import os
import subprocess
import sys

import pytest

from journal import owner
from journal.owner import Owner, is_gone, machine, started
from journal.stores.interface import Lease


def lease(owner_id="x", host=None, process=None, start=None):
    return Lease(
        "run:r",
        1,
        owner_id,
        machine() if host is None else host,
        os.getpid() if process is None else process,
        started(os.getpid()) if start is None else start,
        1,
    )


@pytest.fixture
def child():
    process = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    yield process
    process.kill()
    process.communicate()


def test_an_owner_of_this_process_is_gone_when_it_retired():
    mine = Owner()
    assert not is_gone(lease(mine.id))
    mine.retire()
    assert is_gone(lease(mine.id))


def test_an_owner_that_nobody_refers_to_any_more_is_gone():
    mine = Owner()
    left = lease(mine.id)
    del mine
    assert is_gone(left)


def test_a_running_process_is_not_gone_and_one_that_ended_is(child):
    left = lease(process=child.pid, start=started(child.pid))
    assert not is_gone(left)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(left)  # dead, but its number is not free yet
    child.wait()
    assert is_gone(left)


def test_a_reused_process_id_is_told_apart_by_when_it_started(child):
    assert is_gone(lease(process=child.pid, start="another boot/123"))
    assert is_gone(lease(start="another boot/123"))
    assert not is_gone(lease(process=child.pid, start=""))


def test_an_owner_on_another_machine_is_never_known_to_be_gone():
    assert not is_gone(lease(host="elsewhere:0", process=2**22 + 1))


def test_a_process_id_no_system_has_is_gone():
    assert is_gone(lease(process=2**40, start="x"))


def test_a_process_of_another_user_is_running(monkeypatch, child):
    def refuse(*_):
        raise PermissionError

    left = lease(process=child.pid, start=started(child.pid))
    with monkeypatch.context() as patched:
        patched.setattr(os, "kill", refuse)
        assert not is_gone(left)


def test_where_the_system_does_not_say_when_a_process_started_nothing_is_assumed(
    monkeypatch, tmp_path, child
):
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    assert started(child.pid) is None
    assert not is_gone(lease(process=child.pid, start="boot/1"))
