"""The language that a page names for its code stands at the fence, in Markdown only, and only if it reads as a name."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page

MARKDOWN = ExtractionConfig(rules="default", scope="page", markup="markdown")


def texts(body: str, config: ExtractionConfig = MARKDOWN) -> list[str]:
    page = extract_page(f"<html><body>{body}</body></html>", "https://example.org/", config)
    return [node.text for node in page.nodes if isinstance(node, TextNode)]


@pytest.mark.parametrize(
    "code",
    [
        '<pre><code class="hljs language-c++">a</code></pre>',
        '<pre class="lang-C++ prettyprint"><code>a</code></pre>',
        '<pre class="brush: c++; title: x">a</pre>',
        '<pre class="src src-c++">a</pre>',
        '<pre data-language="c++"><code>a</code></pre>',
        '<pre>\n<code data-lang="c++">a</code></pre>',
        '<div class="highlight highlight-source-c++"><pre>a</pre></div>',
        '<div class="highlight-c++ notranslate"><div class="highlight"><pre><span></span>a</pre></div></div>',
        '<div class="language-c++ highlighter-rouge"><div class="highlight"><pre><code>a</code></pre></div></div>',
    ],
)
def test_a_fence_names_the_language(code: str) -> None:
    assert texts(code) == ["```c++\na\n```"]
    assert texts(code, MARKDOWN.model_copy(update={"markup": "plain"})) == ["a"]


@pytest.mark.parametrize(
    "code",
    [
        "<pre>a</pre>",
        '<pre class="language-none">a</pre>',
        '<pre class="lang-auto">a</pre>',
        '<pre data-language="x y`z">a</pre>',
        f'<pre class="language-{"x" * 21}">a</pre>',
        '<div class="highlight-box"><pre>a</pre></div>',
        '<div class="lang-en"><pre>a</pre></div>',
        '<div data-lang="en"><div><div><div><pre>a</pre></div></div></div></div>',
    ],
)
def test_a_fence_names_nothing_that_is_no_name_of_a_language(code: str) -> None:
    assert texts(code) == ["```\na\n```"]


def test_each_code_has_its_own_language() -> None:
    assert texts('<pre class="language-js">a</pre><pre>b</pre><pre class="language-py"></pre><pre>c</pre>') == [
        "```js\na\n```",
        "```\nb\n```",
        "```\nc\n```",
    ]
