"""Phone numbers: candidates by how they are written and what stands before them, judged by phonenumbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from phonenumbers import (
    Leniency,
    NumberParseException,
    PhoneNumberFormat,
    PhoneNumberMatcher,
    PhoneNumberType,
    format_number,
    is_possible_number,
    is_valid_number,
    number_type,
    parse,
)

from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.cues import NO_PHONE, PHONE, before
from obelics_pipeline.policy.personal_data.finding import Finding, Taken
from obelics_pipeline.policy.personal_data.phone_shapes import LONGEST_ROW, own_shape, shapes
from obelics_pipeline.policy.personal_data.regions import REGIONS, Regions
from obelics_pipeline.policy.personal_data.runs import Run, count_digits

KIND = "phone"
MIN_DIGITS, MAX_DIGITS = 7, 15  # E.164 has at most 15
_SHAPES = 3  # looks that a row counts for: it is held against what all regions write
MIN_INTERNATIONAL = 8  # digits with the country's code

_INTERNATIONAL = re.compile(
    r"(?<![0-9+])\+ ?\(?[1-9](?:[0-9]|[ \t().\-/–]{1,3}(?=[0-9(])|\(0\) ?){6,24}[0-9](?![0-9])(?![.,][0-9])"
)
_ABROAD = re.compile(  # by the prefix for calls abroad, and a country's code set apart
    r"(?<![0-9])(?<![0-9][.,/\-: ])(?:(?:00 ?[1-9][0-9]{0,2}[ \-/(.]|001[ \-.])"
    r"[0-9 ()./\-]{6,18}[0-9]|00[1-9][0-9]{8,13})(?![0-9])(?![.,][0-9])"
)
_EXTENSION = re.compile(r" ?(?:ext\.?|extension|x|poste|durchwahl|dw|доб\.?|内線|#) ?[0-9]{1,6}(?![0-9A-Za-z])", re.I)
_CODE = re.compile(r"\((?:00|\+)?([1-9][0-9]{0,2})\) ?$")  # of a country, before a number as it is dialled at home
_JOINED = re.compile(
    r"(?:[A-Za-z0-9_À-ɏЀ-ӿ#$€£¥=&@%]|[A-Za-z0-9_][-/.:])$"
)  # before a number that is a part of something
_JOINED_AFTER = re.compile(r"[A-Za-z_À-ɏ]|[-_/][A-Za-z]|@")
_DATE = re.compile(
    r"(?<![0-9])(?:(?:19|20)[0-9]{2}([-./ ])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12][0-9]|3[01])"
    r"|(?:0?[1-9]|[12][0-9]|3[01])([-./ ])(?:0?[1-9]|[12][0-9]|3[01])\2(?:19|20)[0-9]{2})(?![0-9])"
)
_ALL = tuple(dict.fromkeys(region for regions in REGIONS.values() for region in regions))
_ALL_IN_ORDER = "01234567890123456789"
# Ranges of years and of hours, addresses of version 4 and what else has colons.
_OTHER = re.compile(
    r"(?:1[0-9]|20)[0-9]{2} ?[-/–] ?(?:1[0-9]|20)[0-9]{2}|[0-2]?[0-9][.:][0-5][0-9] ?[-–] ?[0-2]?[0-9][.:][0-5][0-9].*"
    r"|(?!(?:[0-9]{2}\.){3}[0-9]{2}$)[0-9]{1,3}(?:\.[0-9]{1,3}){3}|.*[0-9)]:[0-9].*"
)
_OUTSIDE = re.compile(
    r"^ ?(?:km|m²|m2|kg|g|mm|cm|ha|eur|euro|usd|dollars?|pln|zł|zl|kč|kr|ft|lei|лв|руб|тл|tl|元|円|人|people|views"
    r"|likes)\b",
    re.I,
)
_AND = re.compile(r"[ \t]*(?:,|;|/|\||or|and|oder|und|ou|et|o|y|e|en|of|lub|i|или|и|veya|ve|或|、)[ \t]*$", re.I)


def find_phones(
    text: str, runs: Sequence[Run], regions: Regions, taken: Taken, budget: SearchBudget
) -> Iterator[Finding]:
    """The phone numbers of a plain text, which are added to what is taken. `runs` are its rows of digits.

    `regions` is asked only where there may be a national number.
    """
    for begin, end, digits in runs:
        if digits >= MIN_DIGITS:
            for first, last, value in _in_run(text, _opened(text, begin), end, regions, taken, budget):
                yield Finding(first, last, KIND, value)


def _opened(text: str, begin: int) -> int:
    """A run begins with its digits; a number may begin with + and brackets before them."""
    while begin and text[begin - 1] in "+(":
        begin -= 1
    if begin > 1 and text[begin - 1] == " " and text[begin - 2] == "+":
        begin -= 2
    return begin


def _in_run(
    text: str, begin: int, end: int, regions: Regions, taken: Taken, budget: SearchBudget
) -> Iterator[tuple[int, int, str]]:
    free = taken.free

    def number(first: int, last: int, value: str) -> tuple[int, int, str]:
        extension = _EXTENSION.match(text, last)
        if extension is not None and free(first, extension.end()):
            last = extension.end()
        code = _CODE.search(text, max(0, first - 8), first)
        if code is not None and value.startswith(f"+{code[1]}") and free(code.start(), first):
            first = code.start()
        taken.take(first, last)
        return first, last, value

    for match in (*_INTERNATIONAL.finditer(text, begin, end), *_ABROAD.finditer(text, begin, end)):
        budget.take()
        first, last = match.span()
        if free(first, last) and not _joined(text, first, last):
            value = _abroad(match[0])
            if value is not None:
                yield number(first, last, value)
    if _FIGURES.fullmatch(text, begin, end):
        return
    budget.take(_SHAPES)
    places = regions.known
    for match in _shaped(text, begin, end, regions, free):
        budget.take()
        first, last = match.span()
        if text[first] == "(" and ")" not in match[0]:  # one that opens before the number, and closes behind it
            first += 1
        written = text[first:last]
        if not free(first, last) or _joined(text, first, last):
            continue
        if not MIN_DIGITS <= count_digits(written) <= MAX_DIGITS:
            continue
        cued = _cued(text, first, taken)
        if not cued and (_is_other(text, first, last) or NO_PHONE.search(before(text, first, taken.end_before(first)))):
            continue
        where = regions.all() if regions.asked else places
        if written.startswith("(") or _EXTENSION.match(text, last):
            where = (*where, "US")
        value = national(written, where, certain=cued)
        if value is not None:
            yield number(first, last, value)
    if _cued(text, begin, taken):
        for first, last in _pieces(text, begin, end):
            budget.take()
            if free(first, last) and not _joined(text, first, last) and not _is_other(text, first, last):
                value = national(text[first:last], places, certain=True)
                if value is not None:
                    yield number(first, last, value)
                    return  # what a word says, it says of the number after it


def _shaped(text: str, begin: int, end: int, regions: Regions, free: Callable[[int, int], bool]) -> list[re.Match[str]]:
    """What is written as the page's regions write numbers.

    Where that is no number of theirs, but one of some other region may be there, the page's language is found out, and
    its regions count too.
    """
    found = list(shapes(regions.known).finditer(text, begin, end))
    if not any(national(match[0], regions.known, certain=False) for match in found):
        match = shapes(_ALL).search(text, begin, end)
        if match is not None and free(*match.span()) and regions.all() != regions.known:
            found = list(shapes(regions.all()).finditer(text, begin, end))
    return found


# Dates, times, prices and quantities: most rows of digits are one of these.
_FIGURES = re.compile(
    r"[0-9]{1,3}(?:[.,][0-9]{3})+(?:[.,][0-9]{1,2})?|[0-9]{1,2}(?: [0-9]{3})+(?:[.,][0-9]{1,2})?|[0-9]+[.,][0-9]+"
    r"|[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}(?:[ ,]{1,2}[0-9:]+)?"
    r"|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{2,4}(?:[ ,]{1,2}(?:- )?[0-9:.]+)?|[12][0-9]{3} ?[-/] ?[12][0-9]{3}"
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?- ?[0-9]{1,2}:[0-9]{2})?"
)


def _pieces(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The ranges in a row of digits that the library takes for phone numbers."""
    comma = text.find(",", begin, end)
    end = end if comma < 0 else comma
    row = text[begin:end]
    if count_digits(row) <= MAX_DIGITS:
        yield begin, end
        return
    for match in PhoneNumberMatcher(row, "US", leniency=Leniency.POSSIBLE, max_tries=8):
        yield begin + match.start, begin + match.end


def _cued(text: str, begin: int, taken: Taken) -> bool:
    """Whether a word before says that a phone number follows."""
    said = before(text, begin, taken.end_before(begin))
    if PHONE.search(said) is None:
        return False
    other = NO_PHONE.search(said)
    return other is None or PHONE.search(said, other.start() + 1) is not None or _PHONE_NUMBER.search(said) is not None


_PHONE_NUMBER = re.compile(r"(?:phone|tel|fax|mobile|cell|whatsapp)\W*(?:no|nr|number|num|#|id)?\W*$", re.I)


def _joined(text: str, first: int, last: int) -> bool:
    """Whether the digits go on as a name or a path: A-212-555-0187."""
    return _JOINED.search(text[max(0, first - 2) : first]) is not None or (
        _JOINED_AFTER.match(text, last) is not None and _EXTENSION.match(text, last) is None
    )


def _is_other(text: str, first: int, last: int) -> bool:
    """Whether it is a date, a range, or a quantity."""
    piece = text[first:last]
    figures = "".join(character for character in piece if character.isdigit())
    if len(set(figures)) <= 1 + (len(figures) > MIN_DIGITS) or figures in _ALL_IN_ORDER:
        return True
    return bool(_DATE.search(piece) or _OTHER.fullmatch(piece) or _OUTSIDE.match(text[last : last + 12]))


def _abroad(written: str) -> str | None:
    """A number with its country's code, in E.164; None where there can be no such number."""
    digits = written.replace("(0)", "")
    if not digits.startswith("+"):
        digits = "+" + digits.lstrip("0 ")
    number = _international(digits, bare=written.isdigit())
    return number if number is not None and count_digits(number) >= MIN_INTERNATIONAL else None


@lru_cache(maxsize=16_384)
def _international(written: str, bare: bool) -> str | None:
    """A number in E.164; a bare row of digits must have been given out, of others it is enough that they can be."""
    try:
        number = parse(written, None)
    except NumberParseException:
        return None
    can_be = is_valid_number(number) if bare else is_possible_number(number)
    return format_number(number, PhoneNumberFormat.E164) if can_be else None


@lru_cache(maxsize=16_384)
def national(written: str, regions: tuple[str, ...], certain: bool) -> str | None:
    """A number as one of the regions would dial it, in E.164; None if it is no phone number.

    The first regions go before the later. A number must be written as the region writes them, or have been given out; a
    short bare row of digits must be a mobile phone's. Where it is `certain` that the number is a phone's, it need only
    be possible, and its digits are taken even if no region knows it.
    """
    possible = None
    for region in regions:
        try:
            number = parse(written, region)
        except NumberParseException:
            continue
        if not is_possible_number(number):
            continue
        if own_shape(region).fullmatch(written) or (
            is_valid_number(number)
            and (certain or not written.isdigit() or len(written) == LONGEST_ROW or number_type(number) in _MOBILE)
        ):
            return format_number(number, PhoneNumberFormat.E164)
        possible = possible or format_number(number, PhoneNumberFormat.E164)
    digits = "".join(character for character in written if character.isdigit())
    return possible or digits if certain and MIN_DIGITS <= len(digits) <= MAX_DIGITS else None


_MOBILE = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
