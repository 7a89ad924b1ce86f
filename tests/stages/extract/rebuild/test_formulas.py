"""Formulas as engines write them: the TeX stands in the text, once, and nothing of what was drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import ImageNode, TextNode
from obelics_pipeline.stages.extract.page import extract_page

WHOLE = ExtractionConfig(rules="default", scope="page")
X2 = "<msup><mi>x</mi><mn>2</mn></msup>"
ANNOTATED = (
    f"<math{{}}><semantics><mrow>{X2}</mrow>"
    '<annotation encoding="application/x-tex">{}</annotation></semantics></math>'
)


def nodes(body: str) -> list[TextNode | ImageNode]:
    return extract_page(f"<html><body>{body}</body></html>", "https://example.org/", WHOLE).nodes


def texts(body: str) -> list[str]:
    return [node.text for node in nodes(body) if isinstance(node, TextNode)]


KATEX = (
    f'<span class="katex"><span class="katex-mathml">{ANNOTATED.format("", "x^2")}</span>'
    '<span class="katex-html" aria-hidden="true"><span class="base"><span class="mord">x2</span></span></span></span>'
)
MEDIAWIKI = (
    '<span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;">'
    + ANNOTATED.format("", r"{\displaystyle x^2}")
    + '</span><img src="https://example.org/svg/0a" class="mwe-math-fallback-image-inline" '
    r'alt="{\displaystyle x^2}"></span>'
)
MATHJAX_2 = (
    '<span class="MathJax_Preview"></span><span class="MathJax" id="MathJax-Element-1-Frame"><nobr>x2</nobr>'
    f'<span class="MJX_Assistive_MathML"><math>{X2}</math></span></span><script type="math/tex">x^2</script>'
)
MATHJAX_3 = (
    '<mjx-container class="MathJax" jax="CHTML"><mjx-math aria-hidden="true"><mjx-c></mjx-c></mjx-math>'
    f"<mjx-assistive-mml><math>{X2}</math></mjx-assistive-mml></mjx-container>"
)


@pytest.mark.parametrize(
    "drawn",
    [
        KATEX,
        MEDIAWIKI,
        MATHJAX_2,
        ANNOTATED.format("", "x^2"),
        ANNOTATED.format("", "x%\n  ^2"),
        f'<math alttext="x^2">{X2}</math>',
        '<span class="MathJax_Preview">x2</span><script type="math/tex">x^2</script>',
        '<img class="mwe-math-fallback-image-inline" src="/f.svg" alt="{\\displaystyle x^2}">',
        '<img class="tex" src="/math/f.png" alt="x^2">',
        '<IMG CLASS=tex SRC="/math/f.png" ALT="x^2">',
        '<img class="latex" src="https://s0.wp.com/latex.php?latex=x%5E2&bg=fff" alt="x^2">',
        '<img src="https://s0.wp.com/latex.php?latex=x%5E2&bg=fff">',
        '<img src="https://latex.codecogs.com/gif.latex?x%5E2">',
        '<img class="ql-img-inline-formula quicklatex-auto-format" src="/f.png" alt="\\(x^2\\)">',
    ],
)
def test_a_formula_in_a_line_is_its_tex_once(drawn: str) -> None:
    found = nodes(f"<p>Let {drawn}, where x is real.</p>")
    assert [node.text for node in found if isinstance(node, TextNode)] == ["Let $x^2$, where x is real."]
    assert not [node for node in found if isinstance(node, ImageNode)]


@pytest.mark.parametrize(
    "drawn",
    [
        f'<span class="katex-display">{KATEX}</span>',
        MEDIAWIKI.replace("mwe-math-element", "mwe-math-element mwe-math-element-block"),
        MATHJAX_2.replace("math/tex", "math/tex; mode=display"),
        ANNOTATED.format(' display="block"', "x^2"),
        '<img class="ql-img-displayed-equation quicklatex-auto-format" src="/f.png" alt="\\[x^2\\]">',
    ],
)
def test_a_displayed_formula_has_a_line_of_its_own(drawn: str) -> None:
    assert texts(f"<p>Let {drawn} where x is real.</p>") == ["Let\n$$x^2$$\nwhere x is real."]


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>", r"\frac{a}{b + 1}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>10</mn></msubsup>", "x_{i}^{10}"),
        ("<msqrt><mi>a</mi><mi>b</mi></msqrt><mroot><mi>c</mi><mn>3</mn></mroot>", r"\sqrt{ab}\sqrt[3]{c}"),
        ("<munderover><mo>∑</mo><mn>0</mn><mi>n</mi></munderover><mi>k</mi>", "∑_{0}^{n}k"),
        ("<mover><mi>x</mi><mo>→</mo></mover><mo>⁢</mo><mi>sin</mi><mi>y</mi>", r"\vec{x}\operatorname{sin}y"),
        ("<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd></mtr></mtable>",
         r"\begin{matrix} a & b \\ c \end{matrix}"),
        ("<mo>{</mo><mi>a</mi><mo>}</mo><mtext>5 % off</mtext>", r"\{a\}\text{5 \% off}"),
    ],
)  # fmt: skip
def test_mathml_without_tex_is_written_as_tex(mathml: str, tex: str) -> None:
    assert texts(f"<p>So <math>{mathml}</math> holds.</p>") == [f"So ${tex}$ holds."]


@pytest.mark.parametrize("drawn", [MATHJAX_3, f"<math>{X2}</math>", f"<math><mrow>{X2}</mrow></math>"])
def test_mathml_that_an_engine_wrote_stands_once(drawn: str) -> None:
    assert texts(f"<p>Let {drawn}, where x is real.</p>") == ["Let $x^{2}$, where x is real."]


@pytest.mark.parametrize(
    "body",
    [
        '<p>Before. <span style="display:none">' + KATEX + "</span></p>",
        f"<p>Before.</p><math hidden>{X2}</math>",
        '<p>Before.</p><script type="text/x-template"><math><mi>x</mi></math></script>',
    ],
)
def test_a_hidden_formula_stays_hidden(body: str) -> None:
    assert texts(body) == ["Before."]


def test_a_picture_whose_alt_is_no_tex_stays_a_picture() -> None:
    found = nodes('<p>Our paint:</p><img class="latex" src="/paint.jpg" width="600" alt="A bucket of latex paint">')
    assert [type(node) for node in found] == [TextNode, ImageNode]


def test_a_formula_alone_has_the_role_that_no_paragraph_filter_drops() -> None:
    found = nodes(f"<p>Then</p><div>{ANNOTATED.format(' display=block', 'x^2')}.</div><p>From $5 to $</p>")
    assert [(node.text, node.role) for node in found if isinstance(node, TextNode)] == [
        ("Then", "paragraph"),
        ("$$x^2$$.", "formula"),
        ("From $5 to $", "paragraph"),
    ]


def test_formulas_without_end_cost_no_more_than_the_page() -> None:
    deep = "<math><mrow>" * 2_000
    assert texts(f"<p>Before.</p>{deep}<mi>x</mi>") != []
    assert texts("<p>Before. " + f"<math>{X2}</math> " * 25_000 + "</p>") != []


PIECES = st.sampled_from(
    ["<math>", "</math>", "<semantics>", '<annotation encoding="tex">', "</annotation>", "<mi>x</mi>", "<msup>", "<p>",
     "</span>", '<span class="katex">', '<span class="MathJax">', '<script type="math/tex">y</script>',
     "<mjx-container>", '<img class="tex" alt="z">', "$", "\\", "{\\displaystyle ", "</div>", "<table>",
     "<annotation-xml>", "<svg>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_any_page_with_formulas_is_extracted(pieces: list[str]) -> None:
    nodes("".join(pieces) + "<p>After.</p>")
