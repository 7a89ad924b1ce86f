import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.parse_cost import MAX_STEPS, check_parse_cost
from obelics_pipeline.stages.extract.tag_scan import scan_tags
from obelics_pipeline.stages.extract.walk import PageRejected

CONFIG = ExtractionConfig()


@pytest.mark.parametrize(
    "page",
    [
        b"<p>word <b class=x>bold</b> word</p>" * 20_000,  # long, and harmless
        b"<p>x<p>y<li>z" * 20_000,  # unclosed, but they close each other
        b"<script>" + b"if (a<b && c<d) x('<div>');" * 9_000 + b"</script><p>x",  # tags in a script are text
        b"<svg>" + b"<path d='M0 0 1 1'/>" * 30_000 + b"</svg>",
        b"<img src='data:image/png;base64," + b"A/b+" * 200_000 + b"'>",
        b"<script>var x = '" + b"word / word " * 20_000 + b"'</script>",
        b"<!--" + b"<div>" * 30_000 + b"-->",
    ],
)
def test_long_ordinary_pages_pass(page: bytes) -> None:
    check_parse_cost(page, CONFIG)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"<div>" * 50_000, "too_deep"),
        (b"<DIV\n>" * 50_000, "too_deep"),
        (b"<b><div></b>" * 40_000, "too_deep"),
        (b"<svg><title>" + b"<div>" * 50_000, "too_deep"),
        (b"<div>" * 30_000 + b"</p>" * 100_000, "too_deep"),
        (b'<div></b a="</div>">' * 50_000, "too_deep"),  # what looks like tags within an end tag
        (b"<!----!>" + b"<div>" * 50_000, "too_deep"),
        (b"<div><!</div>" * 50_000, "too_deep"),
        (b"<div><?</div>" * 50_000, "too_deep"),
        (b"<div></ </div>" * 50_000, "too_deep"),
        (b"<svg>" + b"<g>" * 30_000 + b"</x>" * 30_000, "too_deep"),
        (b"<svg>" + b"<input>" * 30_000 + b"</x>" * 30_000, "too_deep"),
        (b"<svg><p>" + b"<g/>" * 30_000 + b"</x>" * 30_000, "too_deep"),
        (b"<svg><p>" + b"<div><script></div></script>" * 50_000, "too_deep"),
        (b"<div><script><!--<script></script></div>--></script>" * 40_000, "too_deep"),
        (b'<p a=\v"><!-- -->' + b"<div>" * 50_000 + b'"', "too_deep"),
        (b"<" * 300_001, "too_many_nodes"),
        (b"<p " + b" ".join(b"a%d" % i for i in range(40_000)), "too_many_nodes"),
        (b"<p " + b"/".join(b"a%d" % i for i in range(40_000)) + b">", "too_many_nodes"),
        (b"<p " + b"".join(b"a%d='<b>'" % i for i in range(40_000)) + b">", "too_many_nodes"),
        (b"".join(b"<FONT a%d>" % i for i in range(3_000)) + b"<p>x" * 3_000, "too_many_nodes"),
        (b"<p><b><i><u><tt><em><s>" * 4 + b"<p>x" * 200_000, "too_many_nodes"),
    ],
)
def test_pages_that_would_stall_the_parser_are_refused(page: bytes, reason: str) -> None:
    with pytest.raises(PageRejected) as rejected:
        check_parse_cost(page, CONFIG)
    assert rejected.value.reason == reason


pieces = st.sampled_from(
    "<div> </div> <p> </p> <b> </b> <b\ta> <i> </i> <table> <tr> <td> </table> <a> </a> <ul> <li> </ul> x <svg> </svg> "
    "<title> </title> <select> <option> <button> </button> <h1> </h1> <span> </span> <font/c=1> <br> <form>".split(" ")
)


@given(markup=st.lists(pieces, max_size=60).map("".join))
@settings(max_examples=200, deadline=None)
def test_the_estimate_is_not_far_below_the_tree(markup: str) -> None:
    """Depth times tags of the real tree, allowing for elements that nest only with others between."""
    source = markup.encode() * 20
    root = LexborHTMLParser(source).root
    assert root is not None
    nodes = sum(1 for _ in root.traverse(include_text=True))
    cost = scan_tags(source, MAX_STEPS)
    assert nodes <= 8 * (2 * source.count(b"<") + cost.reopened) + 50
