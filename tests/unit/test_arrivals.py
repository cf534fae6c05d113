"""Any number of those who wait look no more often than one."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from journal.errors import FileMoved
from journal.stores.arrivals import OFTEN, Arrivals

PATIENCE = 60


class Looks:
    """A journal that others append to, and how often it was looked at."""

    def __init__(self):
        self.last = 0
        self.count = 0
        self.error = None

    def __call__(self):
        self.count += 1
        if self.error is not None:
            raise self.error
        return self.last


def test_many_share_one_look():
    looks = Looks()
    arrivals = Arrivals("here", looks, shared=True)
    began = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(arrivals.wait_for, 0, 0.3) for _ in range(20)]
        assert not any(one.result(PATIENCE) for one in waiting)
    assert 2 <= looks.count <= (time.monotonic() - began) / OFTEN + 2


def test_what_one_found_is_told_to_all():
    looks = Looks()
    arrivals = Arrivals("here", looks, shared=True)
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(arrivals.wait_for, at % 5, PATIENCE) for at in range(20)]
        looks.last = 5
        assert all(one.result(PATIENCE) for one in waiting)
    count = looks.count
    assert arrivals.wait_for(4, PATIENCE)
    assert looks.count == count


def test_what_is_told_needs_no_look():
    looks = Looks()
    arrivals = Arrivals("here", looks, shared=True)
    arrivals.tell(7)
    arrivals.tell(3)
    assert arrivals.wait_for(6, PATIENCE)
    assert looks.count == 0


def test_nobody_looks_where_everybody_tells():
    looks = Looks()
    arrivals = Arrivals("here", looks, shared=False)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(arrivals.wait_for, 0, PATIENCE)
        arrivals.tell(1)
        assert waiting.result(PATIENCE)
    assert not arrivals.wait_for(1, 0.01)
    assert looks.count == 0


def test_whoever_looks_in_vain_gets_the_error_and_another_takes_over():
    looks = Looks()
    arrivals = Arrivals("here", looks, shared=True)
    with ThreadPoolExecutor(3) as pool:
        looks.error = FileMoved("here")
        for one in [pool.submit(arrivals.wait_for, 0, PATIENCE) for _ in range(3)]:
            with pytest.raises(FileMoved):
                one.result(PATIENCE)
        looks.error = None
        waiting = pool.submit(arrivals.wait_for, 0, PATIENCE)
        looks.last = 1
        assert waiting.result(PATIENCE)


def test_a_look_that_takes_long_keeps_nobody_from_telling():
    looking, go_on = threading.Event(), threading.Event()

    def look():
        looking.set()
        go_on.wait(PATIENCE)
        return 0

    arrivals = Arrivals("here", look, shared=True)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(arrivals.wait_for, 1, PATIENCE)
        assert looking.wait(PATIENCE)
        second = pool.submit(arrivals.wait_for, 0, PATIENCE)
        arrivals.tell(1)
        assert second.result(PATIENCE)
        arrivals.tell(2)
        go_on.set()
        assert first.result(PATIENCE)
