"""Text for the audit's journal, of words as unequally frequent as those of a language."""

from __future__ import annotations

import random
from itertools import accumulate

WORDS = 20_000
_COMMON = (
    "the of and to a in that it is was for on with as be at by this have from or an are not "
    "which but all were when we there can been has more if will would who so no out up into "
    "about than them only some could time these two may then do first any my now such like"
)
"""The most frequent words, the first ones most."""

PHRASES = (
    "connection reset by peer",
    "please summarize the findings",
    "quarterly revenue forecast",
    "customer asked for a refund",
    "migration of the billing service",
    "rate limit of the provider",
    "pull request was reverted",
    "invoice number does not match",
    "rotate the signing keys",
    "shipment held at customs",
)
"""Turns of phrase that come up again and again, the first ones most."""

_WEIGHTS = [1 / rank for rank in range(1, len(PHRASES) + 1)]

PHRASE_CHANCE = 0.004
"""Of a sentence to hold one."""

_BEGINNINGS = "b c d f g h j k l m n p r s t v w z br ch cl cr dr fl gr pl pr sh st str th tr"
_ONSETS = _BEGINNINGS.split()
_VOWELS = ("a", "e", "i", "o", "u", "a", "e", "i", "o", "ai", "ea", "ee", "io", "ou")
_CODAS = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "nt", "ck", "st", "ng"]


class Prose:
    """Makes text of words that are as unequally frequent as those of a language."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._words = vocabulary(dice)
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))

    def words(self, count: int) -> list[str]:
        """Draw words."""
        return self._dice.choices(self._words, cum_weights=self._weights, k=count)

    def word(self) -> str:
        """Draw a word that says something: none of the most common ones."""
        return self._dice.choice(self._words[200:4000])

    def text(self, count: int) -> str:
        """Make sentences of about so many words in all."""
        drawn = self.words(count)
        sentences = []
        at = 0
        while at < count:
            length = self._dice.randint(5, 18)
            said = drawn[at : at + length]
            at += length
            if self._dice.random() < PHRASE_CHANCE:
                place = self._dice.randint(0, len(said))
                said[place:place] = [self._dice.choices(PHRASES, _WEIGHTS)[0]]
            if len(said) > 9:
                said[4] += ","
            said[0] = said[0].capitalize()
            sentences.append(" ".join(said) + ".")
        return " ".join(sentences)


def vocabulary(dice: random.Random) -> list[str]:
    """Make the words, the most frequent and mostly the shortest first."""
    made = dict.fromkeys(_COMMON.split())
    while len(made) < WORDS:
        syllables = 1 + (dice.random() < len(made) / 2000) + (dice.random() < len(made) / 20_000)
        parts = (
            dice.choice(_ONSETS) + dice.choice(_VOWELS) + dice.choice(_CODAS)
            for _ in range(syllables)
        )
        made["".join(parts)] = None
    return list(made)
