"""Lists of what to remove: text files with one entry a line. Every line is untrusted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from obelics_pipeline.core.storage import pieces
from obelics_pipeline.net.page_url import normalise
from obelics_pipeline.net.registered_domain import is_public_suffix
from obelics_pipeline.policy.lists.lines import read_lines
from obelics_pipeline.policy.tombstones.keyed import HOST, ID, SHA256, URL, Keyed

MAX_LINE = 16_384  # bytes; a longer line is no URL that a server would take
MAX_BYTES = 64 * 2**30  # of a list
NAMED = 20  # bad lines that are named; more are counted

_HEX = re.compile(r"[0-9a-fA-F]{32}(?:[0-9a-fA-F]{32})?")
_END = re.compile(r"[/?#]")  # of the host and port of an address
_BEFORE_DOMAIN = re.compile(r"(?:\*?\.)?")  # *.example.com and .example.com, as other lists write it

Parse = Callable[[str], tuple[bytes, str]]  # a line to what is hashed: kind and value; ValueError says what it lacks


@dataclass
class TombstoneCounts:
    """The counts of lists: entries by kind, and bad lines."""

    entries: Counter[str] = field(default_factory=Counter)
    bad: int = 0
    named: list[str] = field(default_factory=list)


def hashes_of(
    kind: str, path: Path, keyed: Keyed, counts: TombstoneCounts, stored: Callable[[str], str | None] | None = None
) -> Iterator[bytes]:
    """The keyed hashes of a list of `urls`, `domains` or `hashes`; empty lines and those that begin with # are none.

    `stored` says how a run keeps an address, where it keeps none as it was: then both are hashed.
    What is wrong is noted in `counts`, with the line's number and never its content. Raises UserError for a file that
    cannot be read.
    """
    parse = PARSERS[kind]
    for number, line in enumerate(read_lines(pieces(path), f"--{kind} {path}", MAX_BYTES, MAX_LINE), 1):
        try:
            if line is None:
                raise ValueError(f"longer than {MAX_LINE} bytes")
            text = line.decode().strip()
            if not text or text.startswith("#"):
                continue
            of_kind, value = parse(text)
        except ValueError as error:
            why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            counts.bad += 1
            if len(counts.named) < NAMED:
                counts.named.append(f"{path}:{number}: {why}")
            continue
        counts.entries[kind] += 1
        yield keyed.of(of_kind, value)
        kept = stored(text) if stored is not None and of_kind == URL else None
        if kept is not None and kept != text:
            yield keyed.of(URL, normalise(kept))


def url_of(line: str) -> tuple[bytes, str]:
    """The URL of a page or an image in its normal form. Raises ValueError if it is not a URL of the web."""
    normal = normalise(line)
    if host_in(normal) is None or not _whole(normal):
        raise ValueError("not an http(s) URL with a host")
    return URL, normal


def domain_of(line: str) -> tuple[bytes, str]:
    """A domain or host. Raises ValueError for other text, and for a suffix that millions of strangers share."""
    name = line[_BEFORE_DOMAIN.match(line).end() :]  # type: ignore[union-attr]
    if any(c in name for c in "/\\?#@% \t"):
        raise ValueError("not a domain: only a name such as example.com; addresses go into --urls")
    host = host_in(normalise(f"http://{name}/"))
    if host is None or not _whole(f"http://{host}/"):
        raise ValueError("not a domain, such as example.com")
    if not host.startswith("[") and is_public_suffix(host):
        raise ValueError("a public suffix, below which strangers have their sites: name the domains")
    return HOST, host


def hash_of(line: str) -> tuple[bytes, str]:
    """A doc_id, of 32 digits, or a sha256, of 64. Raises ValueError for anything else."""
    if not _HEX.fullmatch(line):
        raise ValueError("not a hash: 64 hexadecimal digits of a sha256, or 32 of a doc_id")
    return (ID if len(line) == 32 else SHA256), line.lower()


PARSERS: dict[str, Parse] = {"urls": url_of, "domains": domain_of, "hashes": hash_of}


def host_in(normal: str) -> str | None:
    """The host of an address in its normal form, without a port; None where it is no web address in that form."""
    if not normal.startswith("http://"):
        return None
    rest = normal[7:]
    authority = _END.split(rest, maxsplit=1)[0]
    host = authority[: authority.find("]") + 1] if authority.startswith("[") else authority.partition(":")[0]
    plain = host and (host[0] == "[" or (host.isascii() and host == host.lower() and "@" not in authority))
    return host if plain and not any(c.isspace() for c in host) else None


def _whole(normal: str) -> bool:
    try:
        return urlsplit(normal).hostname is not None
    except ValueError:
        return False
