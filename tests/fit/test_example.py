import numpy as np

from obelics_pipeline.fit.example import UNKNOWN, Example, make_example
from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.stages.extract.main_features import NAMES
from tests.fit.site import html, links, page, paragraphs, url

FRAMED = "<body><header>Top</header><p>One two three.<p>Four five.<ul><li>Menu</ul><aside>Advertisement</aside>"


def made(truth: Truth | None, body: str = FRAMED) -> Example:
    found = make_example(page(body), truth)
    assert found is not None
    return found


def test_texts_of_the_article_are_content_and_the_others_are_not() -> None:
    truth = Truth("\n".join(paragraphs(0)))
    found = make_example(page(html(0), url(0)), truth)
    assert found is not None
    assert found.domain == "site0.example"
    assert [text for text, label in zip(found.texts, found.labels, strict=True) if label == 1] == paragraphs(0)
    assert [text for text, label in zip(found.texts, found.labels, strict=True) if label == 0] == links(0)


def test_arrays_are_by_text_outside_the_frame() -> None:
    found = made(Truth("One two three."))
    assert found.texts == ("Top", "One two three.", "Four five.", "Menu")
    assert found.features.shape == (4, len(NAMES))
    assert found.characters.tolist() == [3, 12, 9, 4]
    assert found.labels.tolist() == [0, 1, 0, 0]
    assert np.all(found.weights > 0)


def test_the_whole_page_is_what_extraction_keeps_of_it() -> None:
    assert made(Truth("One two three.")).whole == "One two three.\n\nFour five.\n\nMenu"


def test_what_is_mostly_of_the_article_is_content() -> None:
    assert made(Truth("One two and then. Five.")).labels.tolist() == [0, 1, 0, 0]


def test_long_texts_weigh_more_but_not_without_bound() -> None:
    weights = made(Truth("a"), "<p>a<p>" + "b " * 30 + "<p>" + "c " * 10_000).weights
    assert weights[0] < weights[1] < weights[2] <= 15.1


def test_a_wanted_snippet_labels_the_one_text_it_is_in_and_an_unwanted_one_all() -> None:
    body = "<p>Apples and pears<p>Apples and plums<p>Buy pears now<p>Buy plums now<p>Nothing"
    truth = Truth(None, ("Apples and pears", "Apples"), ("plums now", "pears now"))
    assert made(truth, body).labels.tolist() == [1, UNKNOWN, 0, 0, UNKNOWN]
    assert made(Truth(None, (), ("Apples",)), body).labels.tolist() == [0, 0, UNKNOWN, UNKNOWN, UNKNOWN]


def test_a_snippet_that_the_page_does_not_have_is_forgotten() -> None:
    body = "<p>Apples and pears<nav>Buy pears</nav><script>var snippet = 'in no text'</script>"
    truth = made(Truth(None, ("Apples", "Cherries"), ("Buy pears", "in no text")), body).truth
    assert truth == Truth(None, ("Apples",), ("Buy pears",))


def test_a_page_without_texts_is_an_example_of_nothing() -> None:
    found = made(Truth("One two"), "<body><footer>Imprint</footer>")
    assert (len(found.labels), found.features.shape, found.whole) == (0, (0, len(NAMES)), "")


def test_a_page_that_extraction_refuses_is_none() -> None:
    assert make_example(page("<div>" * 6000 + "text"), None) is None
