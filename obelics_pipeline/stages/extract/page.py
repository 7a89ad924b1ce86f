"""From the decoded HTML of a page to its nodes: the one entrance to extraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import Node
from obelics_pipeline.models.page_type import PageType
from obelics_pipeline.stages.extract.default_extraction import Kept, choose, nodes_of
from obelics_pipeline.stages.extract.find import encode
from obelics_pipeline.stages.extract.head import Head, read_head
from obelics_pipeline.stages.extract.licence.page_licence import NO_LICENCE, PageLicence, read_licence
from obelics_pipeline.stages.extract.links import LinkCounts, count_links
from obelics_pipeline.stages.extract.main_features import main_features
from obelics_pipeline.stages.extract.obelics_listener import ObelicsListener
from obelics_pipeline.stages.extract.page_numbers import Numbers, page_numbers
from obelics_pipeline.stages.extract.parse_cost import check_parse_cost
from obelics_pipeline.stages.extract.publication import published
from obelics_pipeline.stages.extract.rebuild.anchors import SIGN, hide_signs
from obelics_pipeline.stages.extract.rebuild.code_languages import name_languages
from obelics_pipeline.stages.extract.rebuild.formulas import FORMULA, show_formulas
from obelics_pipeline.stages.extract.rebuild.held import held_text, insert
from obelics_pipeline.stages.extract.rebuild.left_open import close_iframes, unwrap_frames
from obelics_pipeline.stages.extract.rebuild.panels import show_panels
from obelics_pipeline.stages.extract.rebuild.splash import (
    HIDDEN_MORE,
    NOTICE,
    SPLASH,
    UNSEEN_MORE,
    is_page,
    opened,
    show_hidden,
)
from obelics_pipeline.stages.extract.rebuild.streamed import is_streamed, show_parts
from obelics_pipeline.stages.extract.rebuild.survey import (
    CODE,
    FORMULAS,
    FRAMES,
    PANELS,
    SIGNS,
    STREAMED,
    hide_calls,
    survey,
)
from obelics_pipeline.stages.extract.simplify import simplify
from obelics_pipeline.stages.extract.tree import CHARS, SimplifiedTree
from obelics_pipeline.stages.extract.walk import PageRejected, walk

__all__ = ["ExtractedPage", "PageRejected", "SimplifiedPage", "extract_page", "numbers_of", "simplify_page"]


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """What a page says: its nodes in document order, and what its head declares.

    `title` and `html_lang` are as written, white space squeezed; `robots` holds the directives of its robots metas
    in lower case, such as noai and noimageai, which the caller obeys. `main_content_confidence` is in 0 … 1 (see
    `MainContent`), None where no main content was looked for; `published` the day that the page gives itself; `links`
    what its links are, None by the reference's rules, which do not look; `licence` what it is under, where that was
    asked for; `tdm` what its metas say of text and data mining; `page_type` its kind, None without main content.
    """

    nodes: list[Node]
    title: str | None
    html_lang: str | None
    robots: frozenset[str]
    main_content_confidence: float | None = None
    published: date | None = None
    links: LinkCounts | None = None
    licence: PageLicence = NO_LICENCE
    tdm: Mapping[str, str] = field(default_factory=dict)
    page_type: PageType | None = None


@dataclass(frozen=True, slots=True)
class SimplifiedPage:
    """A page on its way through the default rules: its simplified tree, what its head says, and what stays of it."""

    tree: SimplifiedTree
    head: Head
    kept: Kept
    links: LinkCounts
    licence: PageLicence = NO_LICENCE


_Simplified = tuple[LexborHTMLParser, SimplifiedTree, Head]


def extract_page(html: str, url: str, config: ExtractionConfig, licence: bool = False) -> ExtractedPage:
    """Extract a page by the configured rule set. `url` is the page's own URL, against which images are resolved.

    `licence` says whether to look for what it is under.
    Any string terminates within the config's bounds. Raises `PageRejected` and nothing else.
    """
    if config.rules == "obelics":
        return _extract_by_reference(_source(html, config), url, config, licence)
    source = _whole_source(html, config)
    page = _simplified(source, url, config, licence)
    head = page.head
    return ExtractedPage(
        nodes_of(page.tree, page.kept, config),
        head.title,
        head.html_lang,
        frozenset(head.robots),
        page.kept.confidence,
        published(head.dates, source),
        page.links,
        page.licence,
        head.tdm,
        page.kept.page_type,
    )


def simplify_page(html: str, url: str, config: ExtractionConfig) -> SimplifiedPage:
    """The simplified tree of a page by the default rules, and what stays of it. Raises `PageRejected`."""
    return _simplified(_whole_source(html, config), url, config)


def _simplified(source: bytes, url: str, config: ExtractionConfig, licence: bool = False) -> SimplifiedPage:
    parser, tree, head = _rebuilt(source, config)
    under = read_licence(parser, source, head.licences, url) if licence else NO_LICENCE
    links = count_links(tree.links, url)
    return SimplifiedPage(tree, head, choose(tree, url, source, head, links, config), links, under)


def numbers_of(html: str, url: str) -> Numbers | None:
    """What tells the kind of a page by the default rules (see `page_numbers`), None where it has no text to judge.

    No model is asked. Raises `PageRejected`.
    """
    config = ExtractionConfig()
    source = _whole_source(html, config)
    _, tree, head = _rebuilt(source, config)
    texts, features = main_features(tree)
    return page_numbers(tree, features, url, head, count_links(tree.links, url), source) if len(texts) else None


def _rebuilt(source: bytes, config: ExtractionConfig) -> _Simplified:
    """A page as its scripts would show it, as far as its source tells."""
    page = _simplify(source, config)
    shown = _chars(page)
    if shown >= SPLASH:
        return page
    best = page
    text = held_text(page[0]) if shown < NOTICE else ""
    unseen = opened(source)
    others = [(_unhidden(page, config), HIDDEN_MORE)]
    others += [(_simplify(unseen, config), UNSEEN_MORE)] if unseen != source else []
    for held, more in others:
        if _chars(held) > _chars(best) and is_page(_chars(held), shown, more):
            best = held
    if best is page and text:
        held = _with(text, _simplify(source, config), config)
        best = held if is_page(_chars(held), shown, UNSEEN_MORE) else page
    return best


def _unhidden(page: _Simplified, config: ExtractionConfig) -> _Simplified:
    parser, _, head = page
    show_hidden(parser)
    return parser, simplify(_root(parser), config), head


def _chars(page: _Simplified) -> int:
    return int(page[1].rows[:, CHARS].sum())


def _with(html: str, page: _Simplified, config: ExtractionConfig) -> _Simplified:
    """A page with HTML where its content stands; without it, where it would exceed the bounds of the config."""
    parser, _, head = page
    try:
        check_parse_cost(html.encode(), config)
        insert(parser, html)
        return parser, simplify(_root(parser), config), head
    except PageRejected:
        return page


def _source(html: str, config: ExtractionConfig) -> bytes:
    """The text that the parser gets. Raises `PageRejected` for a page that would take too long to parse."""
    source = encode(html)
    check_parse_cost(source, config)
    return source


def _whole_source(html: str, config: ExtractionConfig) -> bytes:
    """The text for the default rules: nothing of it is swallowed by an element that is left open."""
    return close_iframes(encode(html))


def _parse(source: bytes) -> tuple[LexborHTMLParser, LexborNode, Head]:
    try:
        parser = LexborHTMLParser(source)
    except SelectolaxError:
        raise PageRejected("parser_error") from None
    return parser, _root(parser), read_head(parser)


def _root(parser: LexborHTMLParser) -> LexborNode:
    if parser.root is None:
        raise PageRejected("parser_error")
    return parser.root


def _simplify(source: bytes, config: ExtractionConfig) -> _Simplified:
    check_parse_cost(source, config)
    parser, root, head = _parse(source)
    found = survey(root)
    if found.may_have(FRAMES | STREAMED):
        unwrap_frames(parser)
        if is_streamed(source):
            show_parts(parser)
        found = survey(root)
    if found.may_have(PANELS):
        show_panels(parser)
    if found.may_have(CODE) and config.markup == "markdown":
        name_languages(parser)
    if found.may_have(FORMULAS):
        show_formulas(parser.css(FORMULA))
    if found.may_have(SIGNS):
        hide_signs(parser.css(SIGN))
    hide_calls(parser, found)
    tree = simplify(root, config)
    head.note_body(tree.declarations)
    return parser, tree, head


def _extract_by_reference(source: bytes, url: str, config: ExtractionConfig, licence: bool) -> ExtractedPage:
    parser, root, head = _parse(source)
    under = read_licence(parser, source, head.licences, url) if licence else NO_LICENCE
    listener = ObelicsListener(url)
    walk(root, listener, config)
    return ExtractedPage(
        listener.finish(),
        head.title,
        head.html_lang,
        frozenset(head.robots),
        published=published(head.dates, source),
        licence=under,
        tdm=head.tdm,
    )
