"""The reference's rules as data (HuggingFaceM4/OBELICS, stages 2b and 2c; config_extract_web_documents.yaml)."""

from __future__ import annotations

# Tags whose content is kept while the tag itself goes, as if it had never been there.
UNWRAPPED = frozenset(
    "a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd mark q s samp shadow small span strike strong "
    "sub sup time tt u var wbr".split()
)

# Tags that are kept, and how strongly each separates the texts on its two sides:
# 3 a paragraph break, 2 a line break, 0 nothing. (1 is a space, which only text itself can bring.)
KEPT = {
    **dict.fromkeys("blockquote dl h1 h2 h3 h4 h5 h6 ol p ul".split(), 3),
    **dict.fromkeys(
        "address article aside center dd dt div figcaption hgroup legend main marquee section summary".split(), 2
    ),
    **dict.fromkeys("blink body caption h html title".split(), 0),
}
SEPARATORS = ("", " ", "\n", "\n\n")

# Every other tag goes with all it contains, except these two, which have rules of their own.
LINE_BREAK = "br"
IMAGE = "img"

REMOVED_CLASSES = frozenset({"footer", "site-info"})  # css_rules: any element, whole subtree
END_OF_DOCUMENT_CLASS = "more-link"  # css_rules_replace_with_text: any element, whole subtree
END_OF_DOCUMENT_TOKEN = "END_OF_DOCUMENT_TOKEN_TO_BE_REPLACED"

# A div of which one of these attributes is exactly one of these values goes (strip_special_divs).
SPECIAL_DIV_ATTRIBUTES = ("id", "class", "title")
SPECIAL_DIV_VALUES = frozenset({"footer", "header", "navigation", "nav", "navbar", "menu"})

DATE_IN_CLASS = "date"  # a div whose class contains this loses its own text (remove_dates)

# The first of these attributes that is neither empty nor holds a comma or a space is the image's source.
IMAGE_SOURCE_ATTRIBUTES = (
    "src", "data-src", "data-src-fg", "data-scroll-image", "srcset", "data-lateloadsrc", "data-img-src",
    "data-original", "data-gt-lazy-src", "data-lazy", "data-lazy-src", "src2",
)  # fmt: skip
