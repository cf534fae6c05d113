"""Signals that would break a commit off are put off, and none is lost."""

import signal
import threading

import pytest

from journal.interrupts import WAITING, InterruptsWait


@pytest.fixture
def handlers():
    before = {number: signal.getsignal(number) for number in WAITING}
    yield before
    for number, handler in before.items():
        signal.signal(number, handler)


def test_an_interrupt_is_delivered_when_the_work_is_done(handlers):
    done = []

    def work():
        with InterruptsWait():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done
    assert {number: signal.getsignal(number) for number in WAITING} == handlers


def test_every_signal_reaches_its_own_handler(handlers):
    seen = []
    for number in WAITING:
        signal.signal(number, lambda got, _: seen.append(got))
    with InterruptsWait():
        for number in WAITING:
            signal.raise_signal(number)
        assert seen == []
    assert seen == list(WAITING)


def test_an_ignored_signal_stays_ignored(handlers):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with InterruptsWait():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_error_in_the_work_is_what_the_caller_gets(handlers):
    with pytest.raises(ValueError, match="mine"), InterruptsWait():
        raise ValueError("mine")
    assert {number: signal.getsignal(number) for number in WAITING} == handlers


def test_other_threads_change_no_handler(handlers):
    seen = []

    def work():
        with InterruptsWait():
            seen.append({number: signal.getsignal(number) for number in WAITING})

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [handlers]
