"""Which regions' national numbers a page may hold: by its language, its top-level domain and the config."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

# Where a language is spoken by many, the largest first. A language with its region ("de-AT") puts that first.
REGIONS = {
    "en": ("US", "GB", "CA", "AU", "IN", "IE", "NZ", "ZA"),
    "de": ("DE", "AT", "CH"),
    "fr": ("FR", "BE", "CH", "CA"),
    "es": ("ES", "MX", "AR", "CO", "CL", "PE", "US"),
    "it": ("IT", "CH"),
    "pt": ("BR", "PT"),
    "nl": ("NL", "BE"),
    "pl": ("PL",),
    "ru": ("RU", "KZ", "BY"),
    "uk": ("UA",),
    "ja": ("JP",),
    "zh": ("CN", "TW", "HK"),
    "ko": ("KR",),
    "hi": ("IN",),
    "bn": ("BD", "IN"),
    "ta": ("IN",),
    "te": ("IN",),
    "mr": ("IN",),
    "ur": ("PK",),
    "ar": ("SA", "EG", "AE", "MA", "JO"),
    "fa": ("IR",),
    "he": ("IL",),
    "tr": ("TR",),
    "sv": ("SE",),
    "no": ("NO",),
    "nb": ("NO",),
    "nn": ("NO",),
    "da": ("DK",),
    "fi": ("FI", "SE"),
    "cs": ("CZ",),
    "sk": ("SK",),
    "hu": ("HU",),
    "ro": ("RO",),
    "bg": ("BG",),
    "el": ("GR",),
    "hr": ("HR",),
    "sr": ("RS",),
    "sl": ("SI",),
    "lt": ("LT",),
    "lv": ("LV",),
    "et": ("EE",),
    "id": ("ID",),
    "ms": ("MY",),
    "vi": ("VN",),
    "th": ("TH",),
    "ca": ("ES",),
    "eu": ("ES",),
    "gl": ("ES",),
}
# Country codes that the world uses for something else: they say nothing of a country.
_GENERIC = frozenset({"io", "co", "me", "tv", "ai", "fm", "cc", "ws", "to", "ly", "gg", "sh", "st", "la", "gl", "eu"})
_OTHER_NAMES = {"uk": "GB"}
_CODE = 2  # letters of a country


@lru_cache(maxsize=4_096)
def regions_of(languages: tuple[str, ...], host: str, configured: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The regions of a page, each once. `languages` are tags such as de or de-AT, best first; `host` is its site's."""
    found: dict[str, None] = dict.fromkeys(_of_host(host))
    for tag in languages:
        found |= dict.fromkeys(_of_language(tag))
    return tuple(found | dict.fromkeys(configured))


def _of_host(host: str) -> Iterable[str]:
    top = host.rstrip(".").rpartition(".")[2].lower()
    if len(top) == _CODE and top.isalpha() and top not in _GENERIC:
        yield _OTHER_NAMES.get(top, top.upper())


def _of_language(tag: str) -> Iterable[str]:
    parts = tag.replace("_", "-").split("-")
    yield from (part.upper() for part in parts[1:] if len(part) == _CODE and part.isascii() and part.isalpha())
    yield from REGIONS.get(parts[0].lower(), ())
