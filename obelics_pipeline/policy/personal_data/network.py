"""IP addresses and the hardware addresses of network cards."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence

from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.cues import ADDRESS, HARDWARE, VERSION, before
from obelics_pipeline.policy.personal_data.finding import Finding, Taken
from obelics_pipeline.policy.personal_data.runs import Run

IP, MAC = "ip", "mac"
SMALL = 20  # four numbers below it are a version or a section as often as an address: a word must say which

_V4 = re.compile(
    r"(?<![0-9A-Za-z_.,+\-])(?<![^/:]/)(?<!\d:)((?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    r"(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3})(?![0-9A-Za-z_\-]|\.[0-9A-Za-z])"
)
_TWO_COLONS = re.compile(rb":[0-9A-Fa-f]{0,4}:")
_V6 = re.compile(r"(?<![0-9A-Za-z_:.])[0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){1,7}(?:::)?(?![0-9A-Za-z_:]|\.[0-9])")
# Given to networks, 2000::/3 (RFC 4291 2.4), or of eight parts, as nothing else has.
_LIKELY = re.compile(r"[23][0-9A-Fa-f]{3}:|[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){7}$")
_TWO_DASHES = re.compile(rb"-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-")
_MAC = re.compile(
    r"(?<![0-9A-Za-z_:\-.])(?:[0-9A-Fa-f]{2}([:\-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2})"
    r"(?![0-9A-Za-z_:]|[-.][0-9A-Za-z])"
)
_FOUR_BETWEEN_DOTS = re.compile(rb"\.[0-9A-Fa-f]{4}\.")
_LETTER = re.compile(r"[A-Fa-f]")
_DIGIT = re.compile(r"[0-9]")
_NO_TIME = re.compile(r"(?<![0-9])[6-9][0-9](?![0-9])")  # pairs of digits below 60 may be hours, minutes and seconds
_LONGEST = 40  # characters of an address before the place at which it was noticed
_DOCUMENTED = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
)  # RFC 5737, RFC 3849
_BETWEEN = re.compile(r"[:\-.]")
_DOCUMENTED_MAC = "00005e0053"  # RFC 9542; our pseudonyms are of these, so they always stay
_NOBODY = frozenset({"000000000000", "ffffffffffff"})


def find_v4(text: str, runs: Sequence[Run], taken: Taken, special: bool, budget: SearchBudget) -> Iterator[Finding]:
    """The addresses of version 4 of a plain text, by its rows of digits; those that name nobody where `special`."""
    for first, last, _ in runs:
        if text.count(".", first, last) < 3:
            continue
        for match in _V4.finditer(text, first, last):
            budget.take()
            begin, end = match.span()
            address = ipaddress.IPv4Address(match[1])
            if names_nobody(address) and not (special and not _is_documented(address)):
                continue
            said = before(text, begin, taken.end_before(begin))
            if VERSION.search(said):
                continue
            small = all(part < SMALL for part in address.packed)
            if not small or ADDRESS.search(said) or text[end : end + 1] in ("/", ":"):
                yield Finding(begin, end, IP, str(address))


def find_v6(text: str, flat: bytes, taken: Taken, special: bool, budget: SearchBudget) -> Iterator[Finding]:
    """The addresses of version 6 of a plain text."""
    until = 0
    for mark in _TWO_COLONS.finditer(flat):
        if mark.start() < until:
            continue
        first = max(until, mark.start() - _LONGEST)
        for match in _V6.finditer(text, first, mark.end() + _LONGEST):
            until = max(until, match.end())
            if not (_LIKELY.match(match[0]) or special):
                continue
            budget.take()
            try:
                address = ipaddress.IPv6Address(match[0])
            except ValueError:
                continue
            if _is_documented(address):
                continue
            if (
                special and ADDRESS.search(before(text, match.start(), taken.end_before(match.start())))
            ) or not names_nobody(address):
                yield Finding(match.start(), match.end(), IP, str(address))
        if until <= first:
            budget.take()  # nothing found: the same characters will be looked at again
        until = max(until, mark.end() - 1)


def names_nobody(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether it is private, loopback, link-local, multicast, for documentation, or otherwise of no one network."""
    return not address.is_global or address.is_multicast or (address.version == 4 and address.is_reserved)


def _is_documented(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return any(address in network for network in _DOCUMENTED)


def find_macs(text: str, flat: bytes, taken: Taken, budget: SearchBudget) -> Iterator[Finding]:
    """The hardware addresses of a plain text. One of digits only needs a word that says what it is."""
    until = 0
    for marks in (_TWO_COLONS, _TWO_DASHES, _FOUR_BETWEEN_DOTS):
        for mark in marks.finditer(flat):
            if mark.start() < until:
                continue
            match = _MAC.search(text, max(until, mark.start() - 5), mark.end() + 16)
            if match is None:
                continue
            budget.take()
            until = match.end()
            value = _BETWEEN.sub("", match[0]).lower()
            if value in _NOBODY or value.startswith(_DOCUMENTED_MAC):
                continue
            if (
                (_LETTER.search(value) and _DIGIT.search(value))
                or (match[1] == ":" and _NO_TIME.search(match[0]))
                or HARDWARE.search(before(text, match.start(), taken.end_before(match.start())))
            ):
                yield Finding(match.start(), match.end(), MAC, value)
        until = 0
