"""Tag soup with marks in it (see claims.py), from one source of chance: Hypothesis's or the fuzzer's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

T = TypeVar("T")

TAGS = (
    "a b br div p span h1 h2 h3 ul ol li dl dt dd table caption tbody tr td th pre code blockquote figure figcaption "
    "picture source img noscript header footer nav aside main article section details summary script style template "
    "svg math mi form input select option textarea button title meta base head body html my-card center font i hr "
    "ruby rt iframe object video frameset plaintext amp-img dialog legend time label"
).split()
CLASSES = (
    "footer", "nav", "menu", "post-content", "article-body", "sidebar", "related", "comments", "avatar", "caption",
    "share", "card", "postMeta", "jJpQhK", "ad-slot", "forum post", "gallery", "lead", "comment-reply", "author",
)  # fmt: skip
ATTRIBUTES = (
    " hidden", " style='display: none'", " aria-hidden=true", " role=navigation", " role=banner", " role=presentation",
    " href=/x", " href='//[bad'", " width=1 height=1", " width=600 height=400", " width=40", " alt='a b'", " alt=''",
    " src='data:image/gif;base64,R0'", " src", " content=noai name=robots", " lang=ja",
)  # fmt: skip
LONG = "One sentence, which is long enough to be told from a label. " * 3
WORDS = (
    "alpha", "beta, gamma.", " ", "\n", "&nbsp;", "&shy;", "日本語。", "&amp;", "<", "\0", "&#0;", "\u200b",
    "x<!--c-->y", "|", "```", "# ", "- ", LONG,
)  # fmt: skip
IMAGE_ATTRIBUTES = ("src", "data-src", "srcset", "data-srcset", "data-original")

Choose = Callable[[Sequence[T]], T]


def soup(choose: Choose, length: int) -> str:
    """A page of so many pieces; each word `q1z` and each address `/q1z.jpg` is there once."""
    numbers = count(1)
    return "".join(_piece(choose, numbers) for _ in range(length))


def _piece(choose: Choose, numbers: count[int]) -> str:
    kind = choose(("word", "word", "word", "open", "open", "close", "image", "filler", "paragraph", "cell"))
    if kind == "word":
        return choose((" ", "")) + f"q{next(numbers)}z" + choose((" ", ""))
    if kind == "filler":
        return choose(WORDS)
    if kind == "close":
        return f"</{choose(TAGS)}>"
    if kind == "paragraph":
        return f"<p>q{next(numbers)}z {LONG}</p>"
    if kind == "cell":
        return choose(("<tr>", "")) + f"<td>q{next(numbers)}z"
    if kind == "image":
        address = choose(("{}.jpg", "{}.jpg", "{}.gif", "{}-300x200.jpg 1x", "{}")).format(f"/q{next(numbers)}z")
        image = f"<{choose(('img', 'img', 'source', 'amp-img'))} {choose(IMAGE_ATTRIBUTES)}='{address}'"
        return image + choose(("", "", *ATTRIBUTES)) + ">"
    return f"<{choose(TAGS)}" + choose(("", "", f" class='{choose(CLASSES)}'", choose(ATTRIBUTES))) + ">"
