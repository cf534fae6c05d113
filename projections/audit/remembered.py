"""What is remembered of a run, to know it again when it is told once more: a bounded part."""

from __future__ import annotations

from typing import Final

from projections.audit.cells import DIGEST, digest

RESPONSES: Final = 512
"""Model responses of one account that are known again."""

RESPONSES_SIZE: Final = 5000
"""Characters of JSON that those of all accounts of a run take at most."""

MESSAGES: Final = 64
"""Prompts, and messages of checkpoints, that are known again, of each the last so many."""

NO_PLACE: Final = -1
"""Place in the history of a prompt that only the run's record has told yet."""

_REPEATS = "="
"""Ends the digests of an account whose last response was a known one; no digest has it."""

_KEY_SIZE = DIGEST + len('"":"",')


class Responses:
    """The last model responses of a run and its children: `RESPONSES` of each account.

    When those of all accounts together take more than `RESPONSES_SIZE`, the account that has
    most forgets its oldest. So the state of a run stays below 8 KB, but for its costs: to
    forget an amount would count it again.

    Args:
        known: digests, one after the other, by account: what `known` was before.
    """

    __slots__ = ("known",)

    def __init__(self, known: dict[str, str] | None = None) -> None:
        self.known = {} if known is None else known

    def is_new(self, account: str, mark: str) -> bool:
        """Tell whether the digest of a response is not known yet, and remember it."""
        key = _key(account)
        listed = self.known.get(key, "").removesuffix(_REPEATS)
        if _holds(listed, mark):
            self.known[key] = listed + _REPEATS
            return False
        self.known[key] = (listed + mark)[-RESPONSES * DIGEST :]
        self._forget()
        return True

    def repeats(self, account: str) -> bool:
        """Tell whether the last response of an account was a known one."""
        return self.known.get(_key(account), "").endswith(_REPEATS)

    def _forget(self) -> None:
        known = self.known
        while sum(map(len, known.values())) + _KEY_SIZE * len(known) > RESPONSES_SIZE:
            longest = max(known, key=lambda key: len(known[key]))
            rest = known[longest][DIGEST:]
            if rest.removesuffix(_REPEATS):
                known[longest] = rest
            else:
                del known[longest]


def is_first(known: dict[str, int], mark: str, at: int, *, appended: bool) -> bool:
    """Tell whether a prompt or a message is told for the first time, and remember where it is.

    Args:
        known: the highest place of each digest.
        at: its place in the history, or `NO_PLACE`; the next message that is like a prompt
            without a place is the same.
        appended: it came after all that was there and tells no time of its own. Then it is
            another one than what is alike and stands before it.
    """
    highest = known.get(mark)
    if highest is None:
        known[mark] = at
        if len(known) > MESSAGES:
            del known[next(iter(known))]
        return True
    if at <= highest:
        return False
    known[mark] = at
    return appended and highest != NO_PLACE


def _key(account: str) -> str:
    return account and digest(account)


def _holds(listed: str, mark: str) -> bool:
    at = listed.find(mark)
    while at > 0 and at % DIGEST:
        at = listed.find(mark, at + 1)
    return at >= 0
