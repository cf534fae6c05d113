"""The vocabularies are closed, and the package exports every record."""

import pytest

from journal import records
from journal.records import Record

WORDS = {
    records.ExecutionNode: "run_start prepare_model_request before_model_request model_response "
    "tool_call tool_return validate_output run_complete run_failed",
    records.LifecycleStatus: "starting running waiting completed failed cancelled",
    records.RunStatus: "queued starting running waiting completed failed cancelled",
    records.SessionStatus: "active archived failed deleted",
    records.ApprovalStatus: "pending approved denied expired cancelled",
    records.ExecutionStatus: "pending running waiting completed failed cancelled",
    records.CursorFamily: "raw_runtime display replay_event",
    records.ClaimState: "preflight admitted started",
}


@pytest.mark.parametrize("vocabulary", WORDS)
def test_a_vocabulary_holds_exactly_its_words(vocabulary):
    assert list(vocabulary) == WORDS[vocabulary].split()
    assert all(type(word.value) is str for word in vocabulary)


def test_terminal_statuses_are_the_last_three():
    assert set(records.LifecycleStatus) - records.TERMINAL == {"starting", "running", "waiting"}
    assert set(records.RunStatus) - records.TERMINAL == {
        "queued",
        "starting",
        "running",
        "waiting",
    }


def models(model):
    for child in model.__subclasses__():
        yield child
        yield from models(child)


def test_every_public_record_is_exported():
    public = {model.__name__ for model in models(Record) if not model.__name__.startswith("_")}
    assert public <= set(records.__all__)
    assert all(getattr(records, name) is not None for name in records.__all__)


def test_every_record_has_a_name_of_its_own_for_errors():
    assert all(model.NOUN != Record.NOUN for model in models(Record))
