"""Account numbers and payment cards: both carry check digits, and begin with what was given out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce

from stdnum import ean, iban, luhn

from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.cues import ACCOUNT, CARD, NO_PHONE, before
from obelics_pipeline.policy.personal_data.finding import Finding, Taken
from obelics_pipeline.policy.personal_data.runs import Run

IBAN, CARD_KIND = "iban", "card"
_HEAD = 4  # characters: a country and two check digits, which are reckoned as the last (ISO 13616)
SHORTEST_IBAN, LONGEST_IBAN = 15, 34  # characters (ISO 13616; Norway has the shortest)
_IBAN = re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?:[ \-.]?[0-9A-Za-z]){11,42}")
FEWEST_OF_IBAN = 6  # digits in a row, where letters are among the others
MIN_CARD = 12  # digits
_LOOK_BACK = 24  # characters before a row of digits in which an account number may have begun

_CARD = re.compile(
    r"(?<![0-9A-Za-z+/=&#_])(?<![0-9][ .,/:\-])[0-6][0-9]{3}(?:[ \-]?[0-9]){8,15}(?![ \-]?[0-9])(?![A-Za-z])"
)
_GROUPED = re.compile(r"[0-9]{4}(?:([ \-])[0-9]{4}){2}(?:\1[0-9]{1,4}){0,2}|[0-9]{4}([ \-])[0-9]{6}\2[0-9]{4,5}")
_MAESTRO = re.compile(r"50(?:18|20|38)|5893|6304|6390|675[0-9]|676[1-3]|0604")  # the cards that may have twelve digits
# Issuers and the digits that their numbers have (ISO/IEC 7812; the tables of the networks).
_ISSUERS = re.compile(
    r"(?:4[0-9]{12}(?:[0-9]{3})?(?:[0-9]{3})?|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|09|[689][0-9])[0-9]{11}|6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}(?:[0-9]{3})?"
    r"|35[0-9]{14}|(?:1800|2131)[0-9]{11}|62[0-9]{14,17}|(?:50[0-9]{2}|5[6-8][0-9]{2}|6[37][0-9]{2}|0604)[0-9]{8,15}"
    r"|220[0-4][0-9]{12,15}|9792[0-9]{12})"
)


def find_ibans(text: str, runs: Sequence[Run], budget: SearchBudget) -> Iterator[Finding]:
    """The account numbers of a plain text, by its rows of digits."""
    until = 0
    for first, last, digits in runs:
        if digits < FEWEST_OF_IBAN:
            continue
        for match in _IBAN.finditer(text, max(until, first - _LOOK_BACK), last + LONGEST_IBAN):
            budget.take()
            found = _checked(match[0])
            chosen = next((place for place in found if iban.is_valid(place[1], check_country=False)), None)
            if chosen is None and found and ACCOUNT.search(before(text, match.start())):
                chosen = found[0]  # of a country whose form is not known
            if chosen is not None:
                length, value = chosen
                until = match.start() + length
                yield Finding(match.start(), until, IBAN, value)
                break


def _checked(written: str) -> list[tuple[int, str]]:
    """Possible account numbers by their check digits, the longest first: length in characters, and the number.

    A word may follow a number without a separator, so several lengths are tried: the remainder grows with each
    character.
    """
    compact, ends = "", []
    for place, character in enumerate(written):
        if character.isalnum():
            compact += character.upper()
            ends.append(place + 1)
    found, remainder = [], 0
    for length in range(_HEAD + 1, min(len(compact), LONGEST_IBAN) + 1):
        remainder = _remainder(remainder, compact[length - 1])
        if length < SHORTEST_IBAN or reduce(_remainder, compact[:_HEAD], remainder) != 1:
            continue
        end = ends[length - 1]
        if length == len(compact) or not written[end : end + 1].isalnum():  # else it would end within a word
            found.append((end, compact[:length]))
    return found[::-1]


def _remainder(before: int, character: str) -> int:
    """The remainder by 97 of a number with one more character, a letter as its number (ISO 7064, MOD 97-10)."""
    value = int(character, 36)
    return (before * (10 if value < 10 else 100) + value) % 97


def find_cards(text: str, runs: Sequence[Run], taken: Taken, budget: SearchBudget) -> Iterator[Finding]:
    """The card numbers of a plain text, by its rows of digits."""
    for first, last, n_digits in runs:
        if n_digits < MIN_CARD:
            continue
        for match in _CARD.finditer(text, first, last):
            budget.take()
            digits = match[0].replace(" ", "").replace("-", "")
            if not _ISSUERS.fullmatch(digits) or not luhn.is_valid(digits) or len(set(digits)) == 1:
                continue
            said = before(text, match.start(), taken.end_before(match.start()))
            grouped = digits == match[0] or _GROUPED.fullmatch(match[0])
            if len(digits) == MIN_CARD and not _MAESTRO.match(digits):
                continue
            if CARD.search(said) or (grouped and not ean.is_valid(digits) and not NO_PHONE.search(said)):
                yield Finding(match.start(), match.end(), CARD_KIND, digits)
