"""Trace contexts, and the W3C header they can come from."""

import pytest

from journal.records import TraceContext

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def test_a_traceparent_gives_its_ids_and_flags():
    assert TraceContext.from_traceparent(f"00-{TRACE}-{SPAN}-01").to_json() == {
        "trace_id": TRACE,
        "parent_span_id": SPAN,
        "metadata": {"trace_flags": "01"},
    }


@pytest.mark.parametrize(
    "header",
    [
        TRACE,
        "some-trace",
        f"01-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}0-{SPAN}-01",
        f"00-{TRACE}-{SPAN[1:]}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE[1:]}g-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
        f" 00-{TRACE}-{SPAN}-01",
    ],
)
def test_anything_else_becomes_a_bare_trace_id(header):
    assert TraceContext.from_traceparent(header).to_json() == {"trace_id": header}


def test_an_empty_header_gives_an_empty_context():
    assert TraceContext.from_traceparent("").is_empty


@pytest.mark.parametrize("value", [{}, {"trace_id": None}, {"metadata": {}}, {"metadata": None}])
def test_a_context_that_says_nothing_is_empty(value):
    assert TraceContext.from_json(value).is_empty


@pytest.mark.parametrize(
    "value",
    [
        {"trace_id": "t"},
        {"span_id": "s"},
        {"parent_span_id": "p"},
        {"trace_state": "a=b"},
        {"metadata": {"a": None}},
        {"more": 0},
    ],
)
def test_a_context_that_says_something_is_not(value):
    assert not TraceContext.from_json(value).is_empty
