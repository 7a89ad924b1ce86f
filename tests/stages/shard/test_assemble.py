from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.filters.rule import paragraph_score
from obelics_pipeline.stages.shard.assemble import assemble

CONFIG = RunConfig()
OFFLINE = RunConfig.model_validate({"fetch": {"enabled": False}})


@dataclass(frozen=True)
class Answer:
    status: str
    reason: str | None = None
    sha256: str | None = None
    n_bytes: int | None = None
    format: str | None = None
    width: int | None = None
    height: int | None = None
    phash: str | None = None
    duplicate_of: str | None = None
    quality: dict[str, float] | None = None
    pack: str | None = None
    offset: int | None = None


OK = Answer("ok", None, "0" * 64, 1234, "jpeg", 640, 480)


def page(*urls: str, text: str = "Some words.") -> Document:
    nodes: list[Node] = [TextNode(text)]
    nodes += [ImageNode(url, url) for url in urls]
    return Document("d", "http://a.example", "w", 0, 0, nodes)


def images(document: Document) -> list[ImageNode]:
    return [node for node in document.nodes if isinstance(node, ImageNode)]


def test_a_fetched_image_gets_its_facts() -> None:
    document = page("http://a.example/1.jpg")
    ledger = assemble(document, {"http://a.example/1.jpg": OK}, CONFIG, paragraph_score)
    (image,) = images(document)
    assert (image.reason, image.sha256, image.n_bytes, image.format) == (None, "0" * 64, 1234, "jpeg")
    assert (image.original_width, image.original_height) == (640, 480)
    assert document.reason is None
    assert ledger == Ledger("images", 1, 1)


def test_what_was_measured_of_pixels_decides_by_its_bounds_and_stays() -> None:
    config = RunConfig.model_validate({"images": {"quality": {"sharpness": {"min": 100}, "one_colour": {}}}})
    urls = [f"http://a.example/{name}.jpg" for name in ("sharp", "blurred", "unmeasured")]
    document = page(*urls)
    answers = dict(
        zip(urls, (replace(OK, quality=q) for q in ({"sharpness": 100.0}, {"sharpness": 99.0}, None)), strict=True)
    )
    ledger = assemble(document, answers, config, paragraph_score)
    assert [image.reason for image in images(document)] == [None, "image_sharpness", None]
    assert [image.scores for image in images(document)] == [{"sharpness": 100.0}, {"sharpness": 99.0}, {}]
    assert ledger.dropped == {"image_sharpness": 1} and ledger.kept == 2


def test_a_declared_percentage_becomes_pixels_once_the_size_is_known() -> None:
    document = page("http://a.example/1.jpg")
    images(document)[0].rendered_width = "50%"
    images(document)[0].rendered_height = "auto"
    assemble(document, {"http://a.example/1.jpg": OK}, CONFIG, paragraph_score)
    assert (images(document)[0].rendered_width, images(document)[0].rendered_height) == (320, None)


def test_failures_opt_outs_rules_and_what_was_never_answered_are_told_apart() -> None:
    urls = [f"http://a.example/{name}.jpg" for name in ("good", "dead", "optout", "small", "lost", "logo", "early")]
    good, dead, optout, small, _lost, logo, _early = urls
    answers = {
        good: OK,
        dead: Answer("failed", "timeout"),
        optout: Answer("dropped", "opt_out"),
        small: Answer("ok", None, "1" * 64, 5, "png", 10, 10),
        logo: OK,
    }
    document = page(*urls)
    images(document)[-1].reason = "noimageai_meta"
    ledger = assemble(document, answers, CONFIG, paragraph_score)
    assert [(image.reason, image.failed) for image in images(document)] == [
        (None, False),
        ("timeout", True),
        ("opt_out", False),
        ("image_side", False),
        ("not_fetched", True),
        ("image_banned_word", False),
        ("noimageai_meta", False),
    ]
    assert ledger.kept == 1
    assert ledger.failed == {"timeout": 1, "not_fetched": 1}
    assert ledger.dropped == {"opt_out": 1, "image_side": 1, "image_banned_word": 1, "noimageai_meta": 1}
    assert document.reason is None


def test_an_image_banned_by_its_url_needs_no_answer() -> None:
    document = page("http://a.example/logo.jpg")
    ledger = assemble(document, {}, CONFIG, paragraph_score)
    assert ledger.dropped == {"image_banned_word": 1}
    assert not ledger.failed


def test_a_document_without_a_usable_image_is_dropped() -> None:
    document = page("http://a.example/1.jpg")
    ledger = assemble(document, {"http://a.example/1.jpg": Answer("failed", "http_404")}, CONFIG, paragraph_score)
    assert document.reason == "image_count"
    assert ledger.failed == {"http_404": 1}


def test_images_of_a_dropped_document_are_counted_as_dropped_with_it() -> None:
    urls = [f"http://a.example/{i}.jpg" for i in range(31)]
    document = page(*urls)
    ledger = assemble(document, dict.fromkeys(urls, OK), CONFIG, paragraph_score)
    assert document.reason == "image_count"
    assert ledger.dropped == {"document_dropped": 31}
    assert all(image.reason is None for image in images(document))


def test_thirty_images_are_kept_and_repeats_are_not_counted_as_images() -> None:
    urls = [f"http://a.example/{i}.jpg" for i in range(30)]
    document = page(*urls, urls[0])
    ledger = assemble(document, dict.fromkeys(urls, OK), CONFIG, paragraph_score)
    assert document.reason is None
    assert (ledger.kept, dict(ledger.dropped)) == (30, {"repeated_image": 1})


def test_without_fetching_images_are_kept_unfetched_and_rules_of_the_page_still_hold() -> None:
    document = page("http://a.example/1.jpg", "http://a.example/icon.jpg", "http://a.example/2.jpg")
    images(document)[2].rendered_width = 10
    ledger = assemble(document, {}, OFFLINE, paragraph_score)
    assert [image.reason for image in images(document)] == [None, "image_banned_word", "image_rendered_side"]
    assert images(document)[0].sha256 is None
    assert document.reason is None
    assert ledger.kept == 1


def test_a_document_without_text_is_dropped_whatever_its_images() -> None:
    document = page("http://a.example/1.jpg", text="")
    assemble(document, {"http://a.example/1.jpg": OK}, CONFIG, paragraph_score)
    assert document.reason == "no_text"


def test_a_document_that_was_dropped_before_keeps_its_reason() -> None:
    document = page("http://a.example/1.jpg")
    document.reason = "perplexity"
    ledger = assemble(document, {"http://a.example/1.jpg": OK}, CONFIG, paragraph_score)
    assert document.reason == "perplexity"
    assert ledger.dropped == {"document_dropped": 1}


answers = st.builds(
    Answer,
    st.sampled_from(["ok", "dropped", "failed"]),
    st.sampled_from([None, "timeout", "opt_out"]),
    st.just("a" * 64),
    st.integers(1, 10**6),
    st.sampled_from(["jpeg", "png", "gif"]),
    st.integers(1, 30_000),
    st.integers(1, 30_000),
)


@given(st.lists(st.integers(0, 5)), st.dictionaries(st.integers(0, 5), answers), st.sampled_from(["", "text"]))
def test_every_image_is_counted_once_whatever_happens(urls: list[int], known: dict[int, Answer], text: str) -> None:
    document = page(*(f"http://a.example/{i}.jpg" for i in urls), text=text)
    answers = {f"http://a.example/{i}.jpg": answer for i, answer in known.items()}
    ledger = assemble(document, answers, CONFIG, paragraph_score)
    assert ledger.balanced()
    assert ledger.entered == len(urls)
    assert (ledger.kept > 0) == (document.reason is None)
    assert ledger.kept == (0 if document.reason else len(document.images()))
