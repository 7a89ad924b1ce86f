"""E-mail addresses as people hide them from machines: name [at] host [dot] com."""

from __future__ import annotations

import re
from collections.abc import Iterator

from obelics_pipeline.policy.personal_data.budget import SearchBudget
from obelics_pipeline.policy.personal_data.email import KIND, MAX_LOCAL, goes_on, known_beginning
from obelics_pipeline.policy.personal_data.finding import Finding
from obelics_pipeline.policy.personal_data.top_level import ascii_host

_AT = (
    r"at|ät|aet|arroba|arobase|chiocciola|apenstaartje|klammeraffe|affe|małpa|malpa|собака|собачка|kukac|snabel-?a|a|@"
)
_DOT = r"dot|punkt|pkt|point|punto|ponto|punt|kropka|kropek|точка|nokta|d0t|\."
_OPEN, _CLOSE, _GAP = r"[\[({<|*_-]{1,2}", r"[\])}>|*_-]{1,2}", r"[ \t\u00a0]{0,2}"
_WORD = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_POINT = (
    r"(?:[ \t\u00a0]{1,2}\.[ \t\u00a0]{1,2}|[ \t\u00a0]{0,2}\.(?![ \t\u00a0]))"  # a gap only after it ends a sentence
)
_DOT_BETWEEN = (
    rf"(?:{_POINT}|{_GAP}{_OPEN}{_GAP}(?:{_DOT}){_GAP}{_CLOSE}{_GAP}|[ \t\u00a0]{{1,2}}(?:{_DOT})[ \t\u00a0]{{1,2}})"
)
# The words for @ that may stand bare, and those for the dot that go with them: "at this point in time" is a sentence.
_BARE = {
    "at": ("dot", "punkt", "d0t"),
    "@": ("dot", "punkt", "point", "punto", "ponto", "punt", "kropka", "точка", "nokta"),
    "arobase": ("point",),
    "arroba": ("punto", "ponto"),
    "chiocciola": ("punto",),
    "apenstaartje": ("punt",),
    "małpa": ("kropka",),
    "собака": ("точка",),
}
_BARE_WORDS = "|".join(_BARE)
_WORD_IN = re.compile(r"[\W_]+")
_HIDDEN = re.compile(
    rf"(?<![\w.+-])(?P<local>[^\W_][\w+-]{{0,63}}(?:{_DOT_BETWEEN}[\w+-]{{1,64}}){{0,3}})"
    rf"(?:{_GAP}{_OPEN}{_GAP}(?:{_AT}){_GAP}{_CLOSE}{_GAP}"
    rf"|[ \t\u00a0]{{1,2}}(?P<bare>{_BARE_WORDS})[ \t\u00a0]{{1,2}})"
    rf"(?P<host>{_WORD}(?:{_DOT_BETWEEN}{_WORD}){{1,4}})",
    re.IGNORECASE,
)
_SPOKEN_DOT = re.compile(
    rf"{_GAP}{_OPEN}{_GAP}(?:{_DOT}){_GAP}{_CLOSE}{_GAP}|[ \t\u00a0]{{1,2}}(?:{_DOT})[ \t\u00a0]{{1,2}}|{_GAP}\.{_GAP}",
    re.IGNORECASE,
)


def _then_dot(at: str) -> bytes:
    """How an address goes on behind a bare word for @, as far as the word for the dot."""
    dots = "|".join(_BARE[at]).replace("точка", r"\?{5}")
    return rf" [^ ]{{1,64}}(?: ?[\[({{<] ?| )(?:{dots})".encode("ascii")


# Where one of these stands there may be a hidden address. They are as cheap as tests can be: on a text as `plain.flat`
# gives it, in lower case, in which ? is any letter that is not ASCII.
_SPOKEN = re.compile(  # the bare words that begin with the same two characters, which are searched for fastest
    rb" a(?=[trp])(?:%s)" % b"|".join(at[1:].encode() + _then_dot(at) for at in _BARE if at.startswith("a"))
)
_SIGN = re.compile(rb" @(?: [^ ]{1,64}\.[a-z]{2}|%s)" % _then_dot("@"))
_OTHER_LETTERS = (("ł", "łpa"), ("Ł", "ŁPA"), ("о", "обак"), ("о", "обач"), ("О", "ОБАК"), ("О", "ОБАЧ"))
_OPENED = tuple(  # a pattern for each bracket: what begins with one byte is searched for fastest
    (
        bracket,
        re.compile(
            re.escape(bracket)
            + rb" ?(?:at|\?t|aet|arroba|arobase|affe|klammeraffe|malpa|apenstaartje|snabel-?a|kukac|@|a) ?[\])}>]"
        ),
    )
    for bracket in (b"(", b"[", b"{", b"<")
)
_AROUND = 200  # characters of a hidden address at most


def find_hidden_emails(text: str, flat: bytes, budget: SearchBudget) -> Iterator[Finding]:
    """Addresses such as `name [at] host [dot] com`, in a plain text. `flat` is the text as `plain.flat` gives it."""
    if not _may_be_hidden(text, flat.lower()):
        return
    until = 0
    for mark in _MARKS.finditer(text):
        budget.take()
        match = _hidden_around(text, mark.start(), until)
        if match is not None:
            yield match
            until = match.end


def _may_be_hidden(text: str, lowered: bytes) -> bool:
    return (
        _SPOKEN.search(lowered) is not None
        or b"chiocciola" in lowered
        or (b"@" in lowered and _SIGN.search(lowered) is not None)
        # one letter is looked for much faster than a word
        or any(letter in text and word in text for letter, word in _OTHER_LETTERS)
        or any(bracket in lowered and opened.search(lowered) for bracket, opened in _OPENED)
    )


_MARKS = re.compile(
    rf"{_OPEN}{_GAP}(?:{_AT}){_GAP}{_CLOSE}|(?<=[ \t\u00a0])(?:{_BARE_WORDS})(?=[ \t\u00a0])",
    re.IGNORECASE,
)


def _hidden_around(text: str, mark: int, since: int) -> Finding | None:
    first = max(since, mark - MAX_LOCAL - 4, text.rfind("\n", 0, mark) + 1)
    begin = first
    while begin < mark:
        match = _HIDDEN.match(text, begin, mark + _AROUND)
        if match is not None and match.end("local") <= mark and (match.end() > mark):
            found = _hidden(text, match)
            if found is not None:
                return found
        # the next word
        gap = _NEXT_WORD.search(text, begin + 1, mark)
        if gap is None:
            return None
        begin = gap.start()
    return None


_NEXT_WORD = re.compile(r"(?<![\w.+-])[^\W_]")


def _hidden(text: str, match: re.Match[str]) -> Finding | None:
    local = _SPOKEN_DOT.sub(".", match["local"]).lower()
    spoken = list(_SPOKEN_DOT.finditer(match["host"]))
    labels = _SPOKEN_DOT.split(match["host"])
    bare = (match["bare"] or "").lower()
    if bare and not any(character.isalpha() for character in local):
        return None  # 2 @ 10.com
    if bare and not all(_WORD_IN.sub("", dot[0]).lower() in _BARE[bare] for dot in spoken) and bare != "@":
        return None  # "the house at example.com" is a sentence
    while len(labels) > 1:
        end = match.start("host") + _length(match["host"], len(labels))
        last = known_beginning(labels[-1], whole=not goes_on(text, end))
        if last:
            end -= len(labels[-1]) - len(last)
            labels[-1] = last
            break
        labels.pop()
    else:
        return None
    name = ascii_host(".".join(labels))
    return Finding(match.start(), end, KIND, f"{local}@{name}") if name else None


def _length(host: str, labels: int) -> int:
    """Characters of the first labels of a host as written."""
    ends = [m.start() for m in _SPOKEN_DOT.finditer(host)]
    return ends[labels - 1] if labels - 1 < len(ends) else len(host)
