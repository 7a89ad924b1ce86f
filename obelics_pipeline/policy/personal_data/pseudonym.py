"""Replacements of values: a pseudonym from a range that is assigned to no one, or the name of its kind in brackets.

No replacement is found as a value again, so a second pass changes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from ipaddress import IPv6Address
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.personal_data.runs import Run

PUBLIC_KEY = b"obelics-pipeline personal data, a key that everybody knows"
MIN_KEY, MAX_KEY = 16, 4_096  # bytes of a key's file
_USED = 64  # bytes of a key that BLAKE2b takes
_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")  # RFC 5737: for documentation, as 2001:db8::/32 (RFC 3849)
MASKS = {"national_id": "[national id]"}

# A pseudonym of an address is found by its host, of a number by its row of digits, a mask by its bracket.
_HOST = b"@example.com"
_PERSON = re.compile(rb"person-[0-9a-f]{10}@example\.com")
_NUMBER = re.compile(
    rb"\+999 [0-9]{4} [0-9]{4}(?![0-9])|ZZ00(?: [0-9]{4}){4}(?![0-9])|ZZ-[0-9]{8}(?![0-9])"
    rb"|(?<![0-9])9999(?: [0-9]{4}){3}(?![0-9])|(?<![0-9.])(?:192\.0\.2|198\.51\.100|203\.0\.113)\.[0-9]{1,3}(?![0-9])"
)
_COLONS = re.compile(rb":(?:db8:|5e:00:53:)")
_NETWORK = re.compile(rb"2001:db8:[0-9a-f:]{1,34}|00:00:5e:00:53:[0-9a-f]{2}(?![0-9A-Za-z])")
_MASK = re.compile(rb"\[(?:email|phone|ip|mac|iban|card|national id)\]")
LONGEST = 30  # characters of a pseudonym at most; the shortest value that is replaced has six


def standing(flat: bytes, runs: Sequence[Run]) -> list[tuple[int, int]]:
    """Where a text, as `plain.flat` gives it, has pseudonyms and masks already. `runs` are its rows of digits."""
    found = [match.span() for match in _MASK.finditer(flat)]
    if b"@" in flat and _HOST in flat:  # one character is looked for much faster
        found += [match.span() for match in _PERSON.finditer(flat)]
    if _COLONS.search(flat):
        found += [match.span() for match in _NETWORK.finditer(flat)]
    for begin, end, _ in runs:
        found += [match.span() for match in _NUMBER.finditer(flat, max(0, begin - 3), end)]
    return found


def mask(kind: str) -> str:
    """The same for all values of a kind."""
    return MASKS.get(kind, f"[{kind}]")


class Pseudonyms:
    """Replaces each value by one pseudonym, by a keyed hash. Without the key the value cannot be guessed from it."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.blake2b(key, digest_size=_USED).digest()

    def of(self, kind: str, value: str) -> str:
        """The pseudonym of a value in its one spelling."""
        hashed = hashlib.blake2b(f"{kind}\n{value}".encode("utf-8", "replace"), digest_size=16, key=self._key)
        number = int.from_bytes(hashed.digest(), "big")
        digits = f"{number % 10**16:016d}"
        fours = [digits[place : place + 4] for place in range(0, 16, 4)]
        match kind:
            case "email":
                return f"person-{number % 16**10:010x}@example.com"
            case "phone":
                return f"+999 {fours[0]} {fours[1]}"  # a country's code that no country has (ITU-T E.164)
            case "ip" if ":" in value:
                return str(IPv6Address((0x20010DB8 << 96) | (number % 2**64)))
            case "ip":
                return f"{_NETWORKS[number % 3]}.{number // 3 % 254 + 1}"
            case "mac":
                return f"00:00:5e:00:53:{number % 256:02x}"  # RFC 9542: for documentation
            case "iban":
                return f"ZZ00 {' '.join(fours)}"  # a country that is none (ISO 3166)
            case "card":
                return f"9999 {' '.join(fours[:3])}"  # an issuer that is none (ISO/IEC 7812)
            case _:
                return f"ZZ-{digits[:8]}"


def read_key(path: str | None) -> bytes:
    """The key of a config. Raises UserError where its file cannot be read, or is too short to be secret."""
    if path is None:
        return PUBLIC_KEY
    try:
        with Path(path).expanduser().open("rb") as file:
            key = file.read(MAX_KEY + 1)
    except OSError as error:
        raise UserError(
            f"personal_data.key_file: {path}: {error.strerror}; make one by: openssl rand -out {path} 32"
        ) from None
    if not MIN_KEY <= len(key) <= MAX_KEY:
        raise UserError(
            f"personal_data.key_file: {path}: has {len(key):,} bytes or more, must have {MIN_KEY} to {MAX_KEY:,}; make "
            f"one by: openssl rand -out {path} 32"
        )
    return key
