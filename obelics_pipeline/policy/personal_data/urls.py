"""Personal data in a URL: an address anywhere behind its host, a phone number in a parameter that is named so."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from urllib.parse import quote, unquote

from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.email import find_emails
from obelics_pipeline.policy.personal_data.phone import MAX_DIGITS, MIN_DIGITS

Stand = Callable[[str, str], str]  # (kind, value) -> what stands for it

_AT = re.compile("@|%40", re.IGNORECASE)
_PIECE = re.compile(r"[^/?#&;=:,]+")
_PHONE = re.compile(
    r"(?P<name>[?&;#](?:[a-z]+[_-])?(?:tel|phone|mobile|cell|fax|telefon|telefono|whatsapp|msisdn|phone_?number)=)"
    r"(?P<value>[^&;#\s]{7,40})|(?P<scheme>(?:^|[?&=/])tel:|wa\.me/|[?&]phone=)(?P<number>[+%0-9().\-]{7,40})",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[+ 0-9().\-/]+")
MAX_URL = 65_536  # characters; a longer one holds an image, not an address


def may_hold(urls: str) -> bool:
    """Whether a URL, or several in lines, are worth a look: most hold neither."""
    return "@" in urls or "%40" in urls or "tel:" in urls or "wa.me/" in urls or _NAMED.search(urls) is not None


# By the sign first: it is searched for fastest.
_NAMED = re.compile(
    r"=(?:(?<=(?i:tel)=)|(?<=(?i:phone)=)|(?<=(?i:mobile)=)|(?<=(?i:cell)=)|(?<=(?i:fax)=)"
    r"|(?<=(?i:telefon)=)|(?<=(?i:telefono)=)|(?<=(?i:whatsapp)=)|(?<=(?i:msisdn)=)|(?<=(?i:number)=))"
)


def clean_url(url: str, kinds: Collection[str], stand: Stand) -> tuple[str, list[str]]:
    """The URL with placeholders, and the kind of each value that was found. Unchanged where there was none."""
    if len(url) > MAX_URL or not may_hold(url):
        return url, []
    head, rest = _behind_host(url)
    found: list[str] = []
    if "email" in kinds and _AT.search(rest):
        rest = _PIECE.sub(lambda piece: _emails(piece[0], stand, found), rest)
    if "phone" in kinds:
        rest = _PHONE.sub(lambda match: _phone(match, stand, found), rest)
    return (head + rest, found) if found else (url, [])


def _behind_host(url: str) -> tuple[str, str]:
    """A URL cut behind its host; mailto: and tel: have none."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "", url
    places = [place for place in map(rest.find, "/?#") if place >= 0]
    host = min(places, default=len(rest))
    return scheme + mark + rest[:host], rest[host:]


def _emails(piece: str, stand: Stand, found: list[str]) -> str:
    if not _AT.search(piece):
        return piece
    plain = unquote(piece.replace("+", " ") if "%40" in piece and "+" in piece and "%2B" not in piece else piece)
    pieces: list[str] = []
    done = 0
    for finding in find_emails(plain, SearchBudget(MAX_URL)):
        new = stand("email", finding.value)
        if new != plain[finding.begin : finding.end]:
            found.append("email")
            pieces += plain[done : finding.begin], new
            done = finding.end
    return quote("".join([*pieces, plain[done:]]), safe="@+!$'()*,;:~[]") if done else piece


def _phone(match: re.Match[str], stand: Stand, found: list[str]) -> str:
    before, written = match["name"] or match["scheme"], match["value"] or match["number"]
    plain = unquote(written.replace("+", " ")).strip()
    digits = "".join(character for character in plain if character.isascii() and character.isdigit())
    if not _NUMBER.fullmatch(plain) or not MIN_DIGITS <= len(digits) <= MAX_DIGITS or digits.startswith("999"):
        return match[0]
    found.append("phone")
    return before + quote(stand("phone", f"+{digits}"), safe="")
