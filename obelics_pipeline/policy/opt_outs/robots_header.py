"""X-Robots-Tag: which directives speak to us."""

from __future__ import annotations

VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")  # directives with a colon


def directives_for(values: list[str], token: str) -> set[str]:
    """The directives, lower case, that hold for every crawler or for the one named `token`.

    A header value is a comma-separated list; "name:" before a directive scopes it and those after it in the same
    value to the crawler of that name (Google's description of X-Robots-Tag).
    """
    found: set[str] = set()
    for value in values:
        ours = True
        for part in value.lower().split(","):
            name, colon, rest = part.strip().partition(":")
            if colon and name.strip() not in VALUED:
                ours = name.strip() in ("*", token.lower())
                name = rest
            if ours and name.strip():
                found.add(name.strip())
    return found
