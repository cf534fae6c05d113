"""A text holds a phrase where the phrase's words stand in it, one after the other."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal import Journal
from journal.words import words
from projections.audit import Audit
from projections.audit.phrase import Phrase
from tests import samples

PIECES = [
    "data", "Data", "DATA", "base", "database", "a", "İ", "ß", "SS", "\u017f", "K", "k", "é", "e\u0301",
    "Σ", "ς", "漢", "字", "漢字", "カナ", "한국", "ไทย", "नमस्ते", "١٢", "12", "1", "_", "-", "'", '"', "%", "*",
    "(", ")", "NEAR", "AND", "OR", "NOT", "\0", "\n", " ", "  ", ".", "\U0001f600", "\U00020000",
    "\U0001e900", "\U0001e922", "\u13a0", "\uab70", "ა", "Ა",
]  # fmt: skip
TEXTS = st.lists(
    st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), max_size=12
).map("".join)


def places(phrase, text):
    """Count where the words stand, without overlaps, looking at every place."""
    wanted, held = words(phrase), words(text)
    found = at = 0
    while at + len(wanted) <= len(held):
        if held[at : at + len(wanted)] == wanted:
            found += 1
            at += len(wanted)
        else:
            at += 1
    return found


@given(phrase=TEXTS.filter(words), text=TEXTS, before=TEXTS)
@example(phrase="data base", text="data-base database data\nbase", before="")
@example(phrase="漢字", text="x漢字y漢 字", before="")
@example(phrase="a a", text="a a a a a", before="")
@example(phrase="ss", text="ß", before="İ")
def test_a_phrase_is_found_where_its_words_stand(phrase, text, before):
    for held in (text, before + phrase + text, before + " " + phrase.swapcase() + " " + text):
        judge = Phrase(phrase)
        assert judge.count(held) == places(phrase, held)
        shown = judge.excerpt(held)
        assert (shown is None) == (judge.count(held) == 0)
        if shown is not None:
            assert words(shown.text[shown.start : shown.end]) == words(phrase)
            assert shown.text in held


@settings(max_examples=25)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=20),
    phrases=st.lists(TEXTS.filter(words), min_size=1, max_size=4),
    data=st.data(),
)
def test_a_search_finds_all_texts_that_hold_it_and_no_others(texts, phrases, data):
    some = data.draw(st.sampled_from(texts))
    part = some[: data.draw(st.integers(0, len(some)))]
    with Journal.open("memory://") as journal:
        run = journal.run("r", session_id="s")
        run.append_many(
            samples.record(at, "steering_guard", step=0, prompt=text)
            for at, text in enumerate(texts)
        )
        audit = Audit(journal)
        for phrase in (phrase for phrase in [*phrases, some, part] if words(phrase)):
            wanted = {f"stream:{at}": places(phrase, text) for at, text in enumerate(texts)}
            hits = [hit for hit in audit.search(phrase) if hit.kind == "steering_guard"]
            assert {hit.place: hit.count for hit in hits} == {
                place: count for place, count in wanted.items() if count
            }
