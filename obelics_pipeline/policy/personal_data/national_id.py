"""Numbers by which states know people, where python-stdnum can check them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from importlib import import_module

from stdnum.iso7064 import mod_11_2

from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.cues import before
from obelics_pipeline.policy.personal_data.finding import Finding, Taken
from obelics_pipeline.policy.personal_data.regions import Regions
from obelics_pipeline.policy.personal_data.runs import Run

KIND = "national_id"


@dataclass(frozen=True)
class Number:
    """How one kind of number is written, and when such a row is taken for one.

    `regions` is empty where it is looked for everywhere. `cue` are words that must stand before it: for numbers whose
    shape and check digits alone say too little. None: the shape says enough.
    """

    regions: str
    module: str
    pattern: str
    cue: str | None = None

    @property
    def words(self) -> re.Pattern[str] | None:
        """The cue as a pattern."""
        return _words(self.cue) if self.cue else None

    @property
    def shape(self) -> re.Pattern[str]:
        """The pattern, set off from what is around it."""
        return _shape(self.pattern)

    def is_valid(self, written: str) -> bool:
        """Whether the check digits hold, whatever stands between thousands: python-stdnum does not know all points."""
        return _checker(self.module)(written.replace(".", ""))


NUMBERS = (
    Number("US", "us.ssn", r"[0-9]{3}-[0-9]{2}-[0-9]{4}"),
    Number("US", "us.ssn", r"[0-9]{3}[ ]?[0-9]{2}[ ]?[0-9]{4}", r"ssn|social security|social sec|seguro social"),
    Number("", "any", r"[0-9]{3}-[0-9]{2}-[0-9]{4}", r"ssn|social security(?: number| no\.?)?"),
    Number("US", "us.itin", r"9[0-9]{2}-[0-9]{2}-[0-9]{4}"),
    Number("CA", "ca.sin", r"[0-9]{3}[ \-][0-9]{3}[ \-][0-9]{3}", r"sin|social insurance|nas|assurance sociale"),
    Number("GB", "nino", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]"),
    Number("GB", "any", r"[A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Z]", r"national insurance|nino|ni (?:no|number)"),
    Number("GB", "gb.nhs", r"[0-9]{3}[ \-]?[0-9]{3}[ \-]?[0-9]{4}", r"nhs"),
    Number("DE", "de.idnr", r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
           r"steuer-?id\w*|idnr|id-nr|steuerliche\w*|identifikationsnummer|steueridentifikations\w*|tin"),
    Number("FR", "fr.nir", r"[1278] ?[0-9]{2} ?(?:0[1-9]|[1-9][0-9]) ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"),
    Number("ES", "es.dni", r"[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}[ \-]?[A-HJ-NP-TV-Z]"),
    Number("ES", "es.nie", r"[XYZ][ \-]?[0-9]{7}[ \-]?[A-HJ-NP-TV-Z]"),
    Number("IT", "it.codicefiscale", r"[A-Z]{6} ?[0-9]{2}[A-EHLMPRST][0-9]{2} ?[A-Z][0-9]{3}[A-Z]"),
    Number("BR", "br.cpf", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}"),
    Number("BR", "br.cpf", r"[0-9]{9}-?[0-9]{2}", r"cpf|cadastro"),
    Number("PT", "pt.nif", r"[1-3][0-9]{2} ?[0-9]{3} ?[0-9]{3}", r"nif|contribuinte"),
    Number("NL", "nl.bsn", r"[0-9]{4}[. ]?[0-9]{2}[. ]?[0-9]{3}|[0-9]{9}", r"bsn|burgerservicenummer|sofinummer|sofi"),
    Number("BE", "be.nn", r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}"),
    Number("BE", "be.nn", r"[0-9]{11}",
           r"rijksregister\w*|registre national|nationaal nummer|numéro national|insz|niss"),
    Number("PL", "pl.pesel", r"[0-9]{11}", r"pesel\w*"),
    Number("RU", "ru.inn", r"[0-9]{12}", r"инн"),
    Number("RU", "snils", r"[0-9]{3}-[0-9]{3}-[0-9]{3}[ \-][0-9]{2}"),
    Number("CN", "ric", r"[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-9]{2}[0-9]{3}[0-9Xx]"),
    Number("JP", "jp.in_", r"[0-9]{4}[ \-]?[0-9]{4}[ \-]?[0-9]{4}", r"マイナンバー|個人番号|my ?number"),
    Number("IN", "in_.aadhaar", r"[2-9][0-9]{3} [0-9]{4} [0-9]{4}|[2-9][0-9]{3}-[0-9]{4}-[0-9]{4}"),
    Number("IN", "in_.aadhaar", r"[2-9][0-9]{11}", r"aadhaar|aadhar|adhar|uidai|uid|आधार"),
    Number("IN", "in_.pan", r"[A-Z]{3}P[A-Z][0-9]{4}[A-Z]"),
    Number("TR", "tr.tckimlik", r"[1-9][0-9]{10}"),
    Number("KR", "rrn", r"[0-9]{6}-[1-8][0-9]{6}"),
    Number("SE", "se.personnummer", r"(?:[0-9]{2})?[0-9]{6}[\-+][0-9]{4}"),
    Number("FI", "fi.hetu", r"[0-3][0-9][01][0-9][0-9]{2}[+\-ABCDEFYXWVU][0-9]{3}[0-9A-Y]"),
    Number("DK", "dk.cpr", r"[0-3][0-9][01][0-9][0-9]{2}-[0-9]{4}", r"cpr\w*"),
    Number("MX", "mx.curp", r"[A-Z]{4}[0-9]{6}[HM][A-Z]{5}[0-9A-Z][0-9]"),
    Number("AR", "ar.cuit", r"(?:20|23|24|27)-[0-9]{8}-[0-9]"),
    Number("AT", "at.vnr", r"[1-9][0-9]{3} ?[0-9]{6}", r"sv-?nr|svnr|sozialversicherungs\w*|versicherungsnummer"),
    Number("CH", "ch.ssn", r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}"),
    Number("CZ SK", "cz.rc", r"[0-9]{6}/[0-9]{3,4}"),
    Number("BG", "bg.egn", r"[0-9]{10}", r"егн|egn"),
    Number("GR", "gr.amka", r"[0-9]{11}", r"αμκα|amka"),
    Number("HR", "hr.oib", r"[0-9]{11}", r"oib"),
    Number("SI HR RS BA ME MK", "si.emso", r"[0-9]{13}"),
    Number("RO", "ro.cnp", r"[1-9][0-9]{12}"),
    Number("EE LT", "ee.ik", r"[3-6][0-9]{10}"),
    Number("LV", "lv.pvn", r"[0-3][0-9][01][0-9]{3}-[0-9]{5}"),
    Number("NO", "no.fodselsnummer", r"[0-3][0-9][01][0-9]{3} ?[0-9]{5}"),
    Number("IS", "is_.kennitala", r"[0-3][0-9][01][0-9]{3}-[0-9]{4}"),
    Number("IE", "ie.pps", r"[0-9]{7}[A-W][A-I]?", r"pps\w*"),
    Number("IL", "il.idnr", r"[0-9]{9}", r"ת\.?ז\.?|תעודת זהות|teudat zehut|id"),
    Number("UA", "ua.rntrc", r"[0-9]{10}", r"рнокпп|іпн|ідентифікаційн\w*"),
    Number("TH", "th.pin", r"[1-8]-[0-9]{4}-[0-9]{5}-[0-9]{2}-[0-9]"),
    Number("CL", "cl.rut", r"[1-2]?[0-9]\.[0-9]{3}\.[0-9]{3}-[0-9K]"),
    Number("PK", "pk.cnic", r"[1-7][0-9]{4}-[0-9]{7}-[0-9]"),
    Number("ID", "id.nik", r"[1-9][0-9]{15}", r"nik|ktp"),
    Number("MY", "my.nric", r"[0-9]{6}-[0-9]{2}-[0-9]{4}"),
    Number("AU", "au.tfn", r"[0-9]{3} ?[0-9]{3} ?[0-9]{3}", r"tfn|tax file"),
    Number("ZA", "za.idnr", r"[0-9]{6} ?[0-9]{4} ?[0-9]{2} ?[0-9]", r"id|identity"),
)  # fmt: skip
_LETTERS_FIRST = frozenset({"it.codicefiscale", "in_.pan"})  # they may have no row of digits
_EVERYWHERE = frozenset({"ric", "mx.curp"})  # shapes that nothing else has
_ENDING = re.compile(rb"000x")  # three digits and a letter: how they end, in the form of a text
_MORE_GROUPS = re.compile(r" [0-9]{2,}")
FEWEST = 6  # digits in a row of those that are found by it
_LOOK_AROUND = 20  # characters before and after a row of digits in which letters may belong to the number


def find_national_ids(
    text: str, form: bytes, runs: Sequence[Run], regions: Regions, taken: Taken, budget: SearchBudget
) -> Iterator[Finding]:
    """The identity numbers of a plain text: those of its regions, and those that are unlike anything else."""
    anything, numbers = _of(regions.known, letters_first=False)
    for first, last, digits in runs:
        if digits >= FEWEST:
            begin, end = max(0, first - 4), min(len(text), last + 12)
            if anything.search(text, begin, end):
                budget.take()
                yield from _at(text, begin, end, numbers, taken)
    _, letters = _of(regions.known, letters_first=True)
    for match in _ENDING.finditer(form) if letters else ():
        budget.take()
        yield from _at(text, max(0, match.end() - _LOOK_AROUND), match.end() + 2, letters, taken)


@lru_cache(maxsize=1_024)
def _of(regions: tuple[str, ...], letters_first: bool) -> tuple[re.Pattern[str], tuple[Number, ...]]:
    """The numbers to look for, after what matches where any of them may be."""
    chosen = tuple(
        number
        for number in NUMBERS
        if (not number.regions or not set(regions).isdisjoint(number.regions.split()) or number.module in _EVERYWHERE)
        and (number.module in _LETTERS_FIRST) == letters_first
    )
    return re.compile("|".join(f"(?:{number.pattern})" for number in chosen)), chosen


def _at(text: str, begin: int, end: int, numbers: tuple[Number, ...], taken: Taken) -> Iterator[Finding]:
    for number in numbers:
        words = number.words
        for match in number.shape.finditer(text, begin, end):
            if words is not None and not words.search(before(text, match.start(), taken.end_before(match.start()))):
                continue
            if " " in match[0] and _MORE_GROUPS.match(text, match.end()):
                continue  # a row of figures
            if number.is_valid(match[0]):
                value = "".join(character for character in match[0] if character.isalnum()).upper()
                yield Finding(match.start(), match.end(), KIND, value)


@cache
def _shape(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![0-9A-Za-z_])(?<![0-9][.,/\-])(?:{pattern})(?![0-9A-Za-z_])(?![.\-][0-9A-Za-z])")


@cache
def _words(cue: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z])(?:{cue})(?![A-Za-z])", re.IGNORECASE)


@cache
def _checker(module: str) -> Callable[[str], bool]:
    if module in _OURS:
        return _OURS[module]
    check: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return check


def _is_snils(written: str) -> bool:
    """The check of Russia's pension number, which python-stdnum does not have (order of the pension fund 192p)."""
    digits = [int(character) for character in written if character.isdigit()]
    total = sum(digit * weight for digit, weight in zip(digits[:9], range(9, 0, -1), strict=True)) % 101 % 100
    return len(digits) == 11 and total == digits[9] * 10 + digits[10]


def _is_nino(written: str) -> bool:
    """A British insurance number has no check digit, but beginnings that are never given out (HMRC NIM39110)."""
    return written[:2] not in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}


def _is_ric(written: str) -> bool:
    """China's number by its check digit (GB 11643): python-stdnum asks for a county that exists, and lacks some."""
    return mod_11_2.is_valid(written.upper())


def _is_rrn(written: str) -> bool:
    """South Korea's number: since October 2020 it has no check digit, but a date of birth."""
    year = ("18", "19", "19", "20", "20", "19", "19", "20", "20")[int(written[7])] + written[:2]
    try:
        date(int(year), int(written[2:4]), int(written[4:6]))
    except ValueError:
        return False
    return True


# What python-stdnum does not have, or asks too much of; "any" is for those that a word names and nothing checks.
_OURS: dict[str, Callable[[str], bool]] = {
    "any": bool,
    "nino": _is_nino,
    "ric": _is_ric,
    "rrn": _is_rrn,
    "snils": _is_snils,
}
