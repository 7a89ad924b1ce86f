"""E-mail addresses, as a machine reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.finding import Finding
from obelics_pipeline.policy.personal_data.top_level import ascii_host, top_level

KIND = "email"
MAX_LOCAL = 64  # characters (RFC 5321 4.5.3.1.1)
MAX_HOST = 253

# Scripts without spaces: an address in Latin letters that stands among them is cut off where they begin.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3131-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+(?:xn--[a-z0-9-]{1,59}|[^\W\d_]{2,63})", re.IGNORECASE)
_LITERAL = re.compile(r"\[(?:IPv6:)?[0-9A-Fa-f:.]{3,45}\]")
_LATIN_END = re.compile(rf"[^\W{_UNSPACED}]+")
_QUOTED = re.compile(r'"[^"\n@]{1,62}"$')
_RETINA = re.compile(r"[1-9](?:[.,]\d)?x\.", re.IGNORECASE)  # logo@2x.png: a picture for screens of twice the density
_PATH_AFTER = re.compile(r":(?!//)[\w~./-]*[\w~]/|:[\w-]+\.git\b")  # git@host:owner/name, of scp and git
_LOGIN = re.compile(
    r"(?:://[^\s/@]{0,128}|(?:^|[\s$#>])(?:ssh|scp|sftp|rsync|mosh)(?: -\S+)*[ \t]+(?:-\S+[ \t]+\S+[ \t]+)?)$"
)
_ACCOUNTS = frozenset({"git", "hg", "svn", "bzr", "root"})  # of machines, not of people


def find_emails(text: str, budget: SearchBudget) -> Iterator[Finding]:
    """The email addresses of a text. `text` is plain (see `plain`): its positions are those of the written text."""
    place = text.find("@")
    until = 0
    while place >= 0:
        following = text[place + 1 : place + 2]
        if following.isalnum() or following == "[":
            budget.take()
            found = _around(text, place, until)
            if found is not None:
                yield found
                until = found.end
        place = text.find("@", max(place + 1, until))


def _around(text: str, at: int, since: int) -> Finding | None:
    host = _host_at(text, at + 1)
    if host is None:
        return None
    end, name = host
    begin = _local_at(text, at, since)
    if begin is None:
        return None
    local = text[begin:at]
    if text[begin - 1 : begin] == "@" or text[end : end + 1] == "@":  # @name@host of the fediverse; a@b@c is nothing
        return None
    line = text[max(since, begin - 160) : begin]
    if local.lower() in _ACCOUNTS or _PATH_AFTER.match(text, end, end + 300) or _LOGIN.search(line):
        return None
    return Finding(begin, end, KIND, f"{local.lower()}@{name}")


def _local_at(text: str, at: int, since: int) -> int | None:
    """Where the part before an @ begins."""
    first = max(since, at - MAX_LOCAL - 1)
    before = text[first:at]
    if before.endswith('"'):
        quoted = _QUOTED.search(before)
        return first + quoted.start() if quoted else None
    # from the right, by hand: a search would begin anew at every character
    begin = len(before)
    unspaced = bool(before) and _is_unspaced(before[-1])
    while begin and _is_local(before[begin - 1], unspaced):
        begin -= 1
    while begin < len(before) and not before[begin].isalnum() and before[begin] != "_":
        begin += 1
    length = len(before) - begin
    if not 0 < length <= MAX_LOCAL or before[-1] in ".'’%&" or ".." in before[begin:]:
        return None
    return first + begin


def _is_local(character: str, unspaced: bool) -> bool:
    if character in ".+'’%&-_":
        return True
    if unspaced:
        return _is_unspaced(character) or (character.isascii() and character.isdigit())
    return (character.isalnum() or _is_combining(character)) and not _is_unspaced(character)


def _is_combining(character: str) -> bool:
    return "\u0300" <= character <= "\u036f" or "\u0900" <= character <= "\u0dff"


_UNSPACED_ONE = re.compile(f"[{_UNSPACED}]")


def _is_unspaced(character: str) -> bool:
    return character >= "\u0e00" and _UNSPACED_ONE.match(character) is not None


def _host_at(text: str, begin: int) -> tuple[int, str] | None:
    """Where the host that begins there ends, and its name."""
    if text[begin : begin + 1] == "[":
        literal = _LITERAL.match(text, begin, begin + 48)
        return (literal.end(), literal[0].lower()) if literal else None
    if _RETINA.match(text, begin, begin + 6):
        return None
    match = _HOST.match(text, begin, begin + MAX_HOST)
    if match is None:
        return None
    labels = match[0].split(".")
    while len(labels) > 1:
        last = known_beginning(labels[-1], whole=not goes_on(text, begin + len(".".join(labels))))
        if last:
            host = ".".join([*labels[:-1], last])
            name = ascii_host(host)
            return (begin + len(host), name) if name else None
        labels.pop()
    return None


def goes_on(text: str, end: int) -> bool:
    """Whether the word goes on there, in a script that parts words by spaces."""
    following = text[end : end + 1]
    return bool(following) and (following.isalnum() or following == "_") and not _is_unspaced(following)


def known_beginning(label: str, whole: bool) -> str | None:
    """A top-level domain: the label, or what it begins with where a script without spaces follows it."""
    if whole and top_level(label):
        return label
    latin = _LATIN_END.match(label)
    if latin is not None:
        return latin[0] if latin.end() < len(label) and top_level(latin[0]) else None
    return next((label[:n] for n in range(min(len(label), 12), 1, -1) if top_level(label[:n])), None)
