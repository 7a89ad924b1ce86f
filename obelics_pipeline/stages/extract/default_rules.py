"""The default rule set as data: what each tag does to the text around it, and what goes unseen."""

from __future__ import annotations

# Codes of the actions. Those above INLINE are passed to the listener's `leave`.
DROP = 0
INLINE = 1
BLOCK = 2
LINK = 3
HEADING = 4
LIST = 5
ITEM = 6
DETAIL = 7  # dd: an item, one step further in
PREFORMATTED = 8
QUOTE = 9
CAPTION = 10
FIGURE = 11
CONTENT = 12  # article, main: what lies in it is not the page's frame
NOSCRIPT = 13
FRAME = -1  # page-level boilerplate: goes, unless it belongs to an article
BREAK = -2
IMAGE = -3
PICTURE = -4
TABLE = -5
BUTTON = -6
META = -7
BASE = -8
HEADER = -9
DIALOG = -10

TAGS: dict[int, tuple[str, ...]] = {
    DROP: tuple(
        "head script style template nav svg iframe frame frameset noframes noembed object embed applet video audio "
        "canvas map area param track source link input select textarea datalist optgroup option meter progress col "
        "colgroup rt rp annotation annotation-xml title keygen search amp-iframe amp-ad amp-analytics amp-video "
        "amp-youtube amp-sidebar amp-social-share amp-consent".split()
    ),
    INLINE: tuple(
        "abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd label mark nobr output q rb rtc "
        "ruby s samp shadow slot small span strike strong sub sup time tt u var wbr "
        "math semantics mrow mi mo mn ms mtext mfrac msup msub msubsup msqrt mroot mover munder munderover mstyle "
        "mspace mpadded menclose mtable mtr mtd merror mphantom mmultiscripts mprescripts none".split()
    ),
    LINK: ("a",),
    BLOCK: tuple(
        "html body div p section center address fieldset legend form details summary hgroup hr marquee "
        "tr td th tbody thead tfoot".split()
    ),
    HEADING: tuple("h1 h2 h3 h4 h5 h6".split()),
    LIST: tuple("ul ol dl menu dir".split()),
    ITEM: ("li", "dt"),
    DETAIL: ("dd",),
    PREFORMATTED: tuple("pre listing xmp plaintext".split()),
    QUOTE: ("blockquote",),
    CAPTION: ("figcaption", "caption"),
    FIGURE: ("figure",),
    CONTENT: ("article", "main"),
    NOSCRIPT: ("noscript",),
    FRAME: ("aside", "footer"),
    HEADER: ("header",),
    BREAK: ("br",),
    IMAGE: ("img", "amp-img", "amp-anim"),
    PICTURE: ("picture",),
    TABLE: ("table",),
    BUTTON: ("button",),
    META: ("meta",),
    BASE: ("base",),
    DIALOG: ("dialog",),
}
# Every other tag, such as a custom element, is a block that is walked through. One that the page names itself, that
# touches text and holds no block, is part of its line, as HTML shows it.
HTML_SPACE = " \t\n\r\f"  # ASCII white space of the HTML standard

# ARIA roles that make any element boilerplate (WAI-ARIA 1.2, landmark and window roles).
FRAME_ROLES = frozenset({"contentinfo", "complementary"})  # as footer and aside
HEADER_ROLES = frozenset({"banner"})  # as header
LAYOUT_ROLES = frozenset({"presentation", "none"})  # a table with one is laid out with, not told in
DROPPED_ROLES = frozenset(
    {"navigation", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog", "tooltip", "progressbar"}
)

ATTACHED_TAGS = ("sub", "sup")  # what stands in one belongs to the word before it

CELL_TAGS = ("td", "th")  # an empty one keeps the columns of its table in place

# Attributes that may take an element out of sight; an element without any of them is not looked at further.
TELLING_ATTRIBUTES = frozenset({"hidden", "style", "aria-hidden", "role"})
SHOWN_TAGS = ("html", "body", "main", "article")  # whatever they say: a script shows them once it has loaded
DECORATIVE_TAGS = tuple("i span b em small img label".split())  # aria-hidden takes these away, not a whole block

# A table with one of these or a custom element in it is laid out with, not told in: it is walked like nested blocks.
LAYOUT_SIGNS = tuple(
    "table img picture figure p h1 h2 h3 h4 h5 h6 ul ol dl pre blockquote form article section iframe video "
    "input select textarea".split()
)
CELL_TEXT = ("p", "ul", "ol", "dl")  # of these, those that cells of a table with head cells may hold
MAX_CELL = 1_000  # characters; a longer cell is a column of a layout
LONG_ITEMS = 300  # characters; a list whose items are longer on average is a sequence of texts, such as posts
