"""Which regions' national numbers a page may hold: by its language, its top-level domain and the config."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from phonenumbers import SUPPORTED_REGIONS

from obelics_pipeline.core.errors import UserError

# Where a language is spoken by many, the largest first. A language with its region ("de-AT") puts that first.
_SPOKEN = """
ar SA EG AE MA JO DZ | bn BD IN | ca ES | de DE AT CH | el GR CY | en US GB CA AU IN IE NZ ZA
es ES MX AR CO CL PE US | et EE | eu ES | fa IR | fi FI SE | fr FR BE CH CA | gl ES | hi IN | it IT CH | ms MY
nl NL BE | no NO | nb NO | nn NO | pt BR PT | ro RO MD | ru RU KZ BY | sr RS BA | ta IN LK | te IN | ur PK
zh CN TW HK | af ZA | am ET | az AZ | be BY | bg BG | bs BA | cs CZ | da DK | fil PH | ga IE | gu IN | he IL
hr HR | hu HU | hy AM | id ID | is IS | ja JP | ka GE | kk KZ | km KH | kn IN | ko KR | lb LU | lt LT | lv LV
mk MK | ml IN | mn MN | mr IN | mt MT | my MM | ne NP | pa IN | pl PL | si LK | sk SK | sl SI | sq AL | sv SE
sw KE TZ | th TH | tl PH | tr TR | uk UA | uz UZ | vi VN | zu ZA
"""
REGIONS = {
    language: tuple(regions)
    for language, *regions in (entry.split() for entry in re.split(r" \| |\n", _SPOKEN.strip()))
}
# Country codes that the world uses for something else: they say nothing of a country.
_GENERIC = frozenset({"io", "co", "me", "tv", "ai", "fm", "cc", "ws", "to", "ly", "gg", "sh", "st", "la", "gl", "eu"})
_OTHER_NAMES = {"uk": "GB"}
_CODE = 2  # letters of a country


def check_regions(codes: Iterable[str]) -> None:
    """Raise UserError for a code that is not a region's, because no number would be searched for."""
    for code in codes:
        if code not in SUPPORTED_REGIONS:
            near = _OTHER_NAMES.get(code.lower())
            raise UserError(
                f"personal_data.regions: {code!r} is no region; valid are {', '.join(sorted(SUPPORTED_REGIONS))}"
                + (f"; did you mean {near}?" if near else "")
            )


@lru_cache(maxsize=4_096)
def regions_of(languages: tuple[str, ...], host: str, configured: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The regions of a page, each once. `languages` are tags such as de or de-AT, best first; `host` is its site's."""
    found: dict[str, None] = dict.fromkeys(_of_host(host))
    for tag in languages:
        found |= dict.fromkeys(_of_language(tag))
    return tuple(found | dict.fromkeys(configured))


def host_of(url: str) -> str:
    """The host of a URL, roughly: its top-level domain is what matters."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2].partition(":")[0]


class Regions:
    """The regions of one page: at once those it declares, on demand those of the language it is found to be in.

    To find the language takes longer than all else, so it is asked only where a number of other regions is there.
    """

    def __init__(
        self,
        declared: tuple[str, ...],
        host: str = "",
        configured: tuple[str, ...] = (),
        language: Callable[[], str | None] | None = None,
    ) -> None:
        """`declared` are language tags; `language` finds out a further one."""
        self._declared, self._host, self._configured = declared, host, configured
        self._language = language
        self._all: tuple[str, ...] | None = None
        self.known = regions_of(declared, host, configured)

    @property
    def asked(self) -> bool:
        """Whether the language was found out."""
        return self._all is not None

    def all(self) -> tuple[str, ...]:
        """With those of the language that the text is found to be in."""
        if self._all is None:
            language = self._language() if self._language is not None else None
            tags = self._declared if language is None else (*self._declared, language)
            self._all = regions_of(tags, self._host, self._configured)
        return self._all


def _of_host(host: str) -> Iterable[str]:
    top = host.rstrip(".").rpartition(".")[2].lower()
    if len(top) == _CODE and top.isalpha() and top not in _GENERIC:
        yield _OTHER_NAMES.get(top, top.upper())


def _of_language(tag: str) -> Iterable[str]:
    parts = tag.replace("_", "-").split("-")
    yield from (part.upper() for part in parts[1:] if len(part) == _CODE and part.isascii() and part.isalpha())
    yield from REGIONS.get(parts[0].lower(), ())
