"""Text that a page holds as data, for its scripts to draw: JSON-LD, and the state that frameworks preload.

Only JSON is read; no script runs. Strings that read as text are found in their order, and HTML in them is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

# schema.org: what a page says itself. Descriptions of pages, sites, people and firms are for machines.
_BODIES = frozenset(("articleBody", "text", "recipeInstructions", "step"))
_DESCRIBED = frozenset(("Product", "Course", "Event", "JobPosting", "Recipe", "ItemList", "HowTo"))
_TITLES = frozenset(("headline", "name"))
_TITLED = _DESCRIBED | frozenset(
    ("Article", "BlogPosting", "DiscussionForumPosting", "NewsArticle", "Question", "SocialMediaPosting")
)
_NOT_FREE = (False, "False", "false")  # of isAccessibleForFree: the owner shows it to those who pay

_LINKED = 'script[type*="ld+json" i]'
# Not Drupal's settings, in which its consent banner is.
_STATES = 'script:not([src]):not([type*="ld+json" i]):not([data-drupal-selector])'
# Attributes with state: Discourse, Inertia. Assignments: window.__STATE__ = {…}, of pure JSON.
_ATTRIBUTES = ("data-preloaded", "data-page")
_ASSIGNED = re.compile(r"(?:window|self|globalThis)(?:\.[\w$]{1,60}|\[\"[\w$.-]{1,60}\"\])\s{0,9}=\s{0,9}(?=[{\[])")

# A shorter string of a state is as often a message of its interface. Of 12, 25, 40 and 60 words, 25 gave the best mean
# F1 on half of the domains of pages whose tree was taken away (benchmarks of WCXB).
_LEAST_WORDS = 25
_WORDS = re.compile(r"[^\W\d_]{2,}")
_WIDE = re.compile("[\u2e80-\uffff]")  # scripts without spaces: two characters count as a word
_CODE = re.compile(r"[{}\\|=]|;\s|https?://|\w\(\)")  # as in styles, queries and addresses
_TAG = re.compile(r"<[^<>]*>")
_MARKUP = re.compile(r"</(?:p|li|h[1-6]|div|blockquote|td)>", re.I)

# Bounds of the work on a hostile page. The longest page of WCXB has 5 MB.
_MOST_SCRIPTS, _MOST_CHARS, _MOST_VALUES, _MOST_NESTED = 200, 8_000_000, 200_000, 3
MOST_HELD = 400_000  # characters


def held_text(parser: LexborHTMLParser) -> str:
    """The texts that a page holds as data, each once, as HTML of at most `MOST_HELD` characters."""
    found: dict[str, None] = {}
    left = MOST_HELD
    for text in _texts(parser):
        if text not in found and len(text) <= left:
            found[text] = None
            left -= len(text)
    return "".join(found).replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def insert(parser: LexborHTMLParser, html: str) -> None:
    """Put HTML where the content of a page stands: at the end of its only article, its main element, or its body."""
    articles = parser.css("article")
    place = articles[0] if len(articles) == 1 else parser.css_first("main") or parser.body
    if place is not None:
        place.insert_child(parser.create_node("div"))
        inserted = place.last_child
        if inserted is not None:
            inserted.inner_html = html


def _texts(parser: LexborHTMLParser) -> Iterator[str]:
    budget = [_MOST_VALUES]
    for _, script in _scripts(parser, _LINKED):
        yield from _said(_parsed(script), budget)
    for name in _ATTRIBUTES:
        for node in parser.css(f"[{name}]")[:1]:
            yield from _stated(_parsed((node.attributes.get(name) or "")[:_MOST_CHARS]), budget)
    for kind, script in _scripts(parser, _STATES):
        for value in [_parsed(script)] if "json" in kind else _assigned(script):
            yield from _stated(value, budget)


def _scripts(parser: LexborHTMLParser, selector: str) -> Iterator[tuple[str, str]]:
    """The types and contents of the scripts that a selector finds."""
    left = _MOST_CHARS
    for script in parser.css(selector)[:_MOST_SCRIPTS]:
        text = script.first_child.text_content if script.first_child is not None else None
        if text and len(text) <= left:
            left -= len(text)
            yield (script.attributes.get("type") or "").lower(), text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _assigned(script: str) -> Iterator[Any]:
    """Values that a script assigns as pure JSON, up to the first that is not."""
    decoder = json.JSONDecoder(strict=False)
    at = 0
    while match := _ASSIGNED.search(script, at):
        try:
            value, at = decoder.raw_decode(script, match.end())
        except (ValueError, RecursionError):
            return
        yield value


def _strings(value: Any, budget: list[int]) -> Iterator[tuple[str, str, str]]:
    """The strings of a value in order: the type of the thing around each, its key, the string."""
    waiting = [("", "", value)]
    while waiting and budget[0] > 0:
        budget[0] -= 1
        kind, key, here = waiting.pop()
        if isinstance(here, str):
            yield kind, key, here
        elif isinstance(here, list):
            waiting += [(kind, key, inner) for inner in reversed(here)]
        elif isinstance(here, dict) and here.get("isAccessibleForFree") not in _NOT_FREE:
            types = here.get("@type")
            first = types[0] if isinstance(types, list) and types else types
            kind = first.rpartition("/")[2] if isinstance(first, str) else ""
            waiting += [(kind, name, inner) for name, inner in reversed(here.items())]


def _said(value: Any, budget: list[int]) -> Iterator[str]:
    """The texts of JSON-LD, with the titles of the things that say them."""
    for kind, key, text in _strings(value, budget):
        if key in _TITLES and kind in _TITLED:
            yield f"<h2>{escape(unescape(text), quote=False)}</h2>"
        elif key in _BODIES or (key == "description" and kind in _DESCRIBED):
            yield _as_html(unescape(text) if "&lt;" in text else text)


def _stated(value: Any, budget: list[int], nested: int = 0) -> Iterator[str]:
    """The strings of a state that read as text, also of JSON in its strings."""
    for _, _, text in _strings(value, budget):
        if text[:1] in ("{", "[") and nested < _MOST_NESTED:
            yield from _stated(_parsed(text), budget, nested + 1)
        elif _reads_as_text(text):
            yield _as_html(text)


def _reads_as_text(text: str) -> bool:
    if len(text) < 2 * _LEAST_WORDS:
        return False
    shown = _TAG.sub(" ", text) if "<" in text else text
    words = len(_WORDS.findall(shown)) + len(_WIDE.findall(shown)) // 2
    return words >= _LEAST_WORDS and len(_CODE.findall(shown)) * 10 < words


def _as_html(text: str) -> str:
    if _MARKUP.search(text):
        return f"<div>{text}</div>"
    return "".join(f"<p>{escape(unescape(line), quote=False)}</p>" for line in text.splitlines() if line.strip())
