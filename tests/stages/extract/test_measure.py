"""Measuring must stop at the first drop, and deciding anew must come to what measuring anew would."""

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.filters import registry
from obelics_pipeline.models.language_id import LanguageModel
from obelics_pipeline.stages.extract.measure import Measurer, decision_config, measurement_config, score_names
from obelics_pipeline.stages.extract.stage import write_documents

GOOD = "The old harbour was rebuilt in the nineteenth century, and it is still used by the small boats of the coast."
NAVIGATION = "Home About Contact Blog Shop Login Register Cart"
GERMAN = "Der alte Hafen wurde im neunzehnten Jahrhundert gebaut, und er wird noch von den kleinen Booten benutzt."


def document(*texts: str, images: int = 1, role: str = "paragraph") -> Document:
    nodes: list[Node] = [TextNode(text, role) for text in texts]
    nodes += [ImageNode(f"http://example.org/{i}.jpg", f"{i}.jpg") for i in range(images)]
    return Document("id", "http://example.org/", "a.warc.gz", 0, 1, nodes)


def config(**sections: Any) -> RunConfig:
    return RunConfig.model_validate(sections)


def measured(document: Document, config: RunConfig, everything: bool = False) -> Document:
    Measurer(config.filters, config.language).measure(document, everything)
    return document


def reasons(document: Document) -> list[str | None]:
    return [node.reason for node in document.nodes if isinstance(node, TextNode)]


PARAGRAPH = {"word_count": {"min": 4}, "stopword_ratio": {"min": 0.3}}
FILTERS = {"paragraph": PARAGRAPH, "document": {"image_count": {"min": 1}, "word_count": {"min": 10, "max": 50}}}


def test_a_good_document_is_measured_whole() -> None:
    found = measured(document(GOOD, NAVIGATION, "Too short"), config(filters=FILTERS))
    assert found.language == "en"
    assert found.reason is None
    assert reasons(found) == [None, "stopword_ratio", "word_count"]
    assert found.scores["image_count"] == 1.0
    assert found.scores["word_count"] == 21.0  # of the kept paragraph only
    assert (found.scores["language_score"] or 0) > 0.8
    first = found.nodes[0]
    assert isinstance(first, TextNode)
    assert set(first.scores) == {"word_count", "stopword_ratio"}


def test_measuring_stops_at_the_first_drop() -> None:
    found = measured(document(GOOD, images=0), config(filters=FILTERS))
    assert found.reason == "image_count"
    assert found.scores["image_count"] == 0.0
    assert found.scores["word_count"] is None


def test_a_language_that_is_not_kept_ends_it_before_the_paragraphs() -> None:
    found = measured(document(GERMAN), config(filters=FILTERS, language={"keep": ["en", "fr"]}))
    assert (found.language, found.reason) == ("de", "language")
    assert found.scores["image_count"] is None
    assert reasons(found) == [None]
    unsure = measured(document("Hamburg 1900"), config(language={"min_score": 0.99}))
    assert unsure.reason == "language_score"


def test_a_language_as_sure_as_the_bound_is_kept() -> None:
    score = measured(document(GERMAN), config(language={"min_score": 0})).scores["language_score"] or 0
    assert 0 < score < 1
    for min_score, reason in ((score, None), (math.nextafter(score, 1), "language_score")):
        assert measured(document(GERMAN), config(language={"min_score": min_score})).reason == reason


def test_everything_is_measured_for_a_sample_with_the_same_reasons() -> None:
    settings = config(filters=FILTERS, language={"keep": ["en"]})
    texts = (GERMAN, "Zu kurz")
    found, plain = measured(document(*texts), settings, everything=True), measured(document(*texts), settings)
    assert found.reason == plain.reason == "language"
    assert None not in found.scores.values()
    short = found.nodes[1]
    assert isinstance(short, TextNode)
    assert set(short.scores) == {"word_count", "stopword_ratio"}


def test_empty_paragraphs_are_dropped_and_a_document_without_text_is_told() -> None:
    found = measured(document("\u00a0", GOOD, ""), config())
    assert reasons(found) == ["empty", None, "empty"]
    assert measured(document(" \n", "\u3000"), config()).reason == "no_text"


def test_odd_spaces_are_made_plain_in_what_is_stored() -> None:
    found = measured(document("a\u00a0b\u3000c"), config())
    assert found.text() == "a b c"
    assert measured(document("a\u00a0b"), config(filters={"standardize_whitespace": False})).text() == "a\u00a0b"


def test_what_was_dropped_before_stays_dropped_and_unmeasured() -> None:
    page = document(GOOD, GOOD)
    node = page.nodes[0]
    node.reason = "split_elsewhere"
    found = measured(page, config(filters=FILTERS))
    assert reasons(found) == ["split_elsewhere", None]
    assert found.scores["word_count"] == 21.0


def test_a_filter_without_a_list_for_the_language_has_a_null_score_and_drops_nothing() -> None:
    filters = {"document": {"flagged_word_ratio": {"max": 0.01}, "word_count": {"min": 1}}}
    found = measured(document(GERMAN), config(filters=filters))
    assert found.reason is None
    assert found.scores["flagged_word_ratio"] is None
    assert found.scores["word_count"] == 17.0


def test_bounds_of_a_language_apply_to_its_documents() -> None:
    filters = {"document": {"word_count": {"min": 10, "languages": {"de": {"min": 100}, "fr": None}}}}
    assert measured(document(GERMAN), config(filters=filters)).reason == "word_count"
    assert measured(document(GOOD), config(filters=filters)).reason is None
    french = measured(document("Le vieux port est petit et très beau."), config(filters=filters))
    assert (french.language, french.reason, french.scores["word_count"]) == ("fr", None, 8.0)


BOUNDS = st.fixed_dictionaries(
    {
        "keep": st.sampled_from(["any", ["en"], ["de"], ["fr", "de"]]),
        "min_score": st.sampled_from([0.0, 0.5, 0.999]),
        "order": st.permutations(["word_count", "stopword_ratio", "flagged_word_ratio", "image_count"]),
        "words": st.sampled_from([0, 10, 25, 50]),
        "images": st.sampled_from([0, 1, 2]),
        "stop": st.sampled_from([0.0, 0.4, 0.9]),
        "share": st.sampled_from([0.0, 0.5, 1.0]),
    }
)


def decided_by(choice: dict[str, Any]) -> RunConfig:
    bounds = {
        "word_count": {"min": choice["words"]},
        "stopword_ratio": {"min": choice["stop"]},
        "flagged_word_ratio": {"max": 0.01, "sample": [[0, choice["share"]]]},
        "image_count": {"min": choice["images"]},
    }
    filters = {"paragraph": PARAGRAPH, "document": {name: bounds[name] for name in choice["order"]}}
    return config(filters=filters, language={"keep": choice["keep"], "min_score": choice["min_score"]})


PAGES = [(GOOD,), (GOOD, NAVIGATION, GERMAN), (GERMAN, "kurz"), (NAVIGATION,), ("",), (GOOD, GOOD, GOOD)]


@given(st.sampled_from(PAGES), st.lists(BOUNDS, min_size=2, max_size=4), st.integers(0, 2))
@settings(max_examples=60)
def test_deciding_anew_comes_to_what_measuring_anew_does(
    texts: tuple[str, ...], choices: list[dict[str, Any]], images: int
) -> None:
    stored = measured(document(*texts, images=images), decided_by(choices[0]))
    for choice in choices[1:]:
        fresh = measured(document(*texts, images=images), decided_by(choice))
        Measurer(decided_by(choice).filters, decided_by(choice).language).decide(stored)
        assert stored.reason == fresh.reason
        assert (stored.text(), stored.language) == (fresh.text(), fresh.language) or fresh.reason is not None
        known = {name: score for name, score in fresh.scores.items() if score is not None}
        assert known.items() <= stored.scores.items()


def test_of_documents_with_the_same_score_a_share_is_kept_by_their_ids() -> None:
    settings = config(filters={"document": {"word_count": {"sample": [[0, 1], [40, 0]]}}})
    measurer = Measurer(settings.filters, settings.language)
    kept = []
    for number in range(200):
        page = document(GOOD, GOOD[:40])
        page.doc_id = str(number)
        measurer.measure(page)
        assert page.scores["word_count"] == 29.0
        kept.append(page.reason is None)
    assert kept.count(True) / 200 == pytest.approx(11 / 40, abs=0.1)


def test_deciding_twice_changes_nothing() -> None:
    settings = config(filters=FILTERS, language={"keep": ["en"]})
    measurer = Measurer(settings.filters, settings.language)
    for page in (document(GOOD, NAVIGATION), document(GERMAN), document(GOOD, images=0), document("")):
        measurer.measure(page)
        before = copy.deepcopy(page)
        measurer.decide(page)
        assert page == before


@given(st.sampled_from(PAGES), st.lists(BOUNDS, min_size=2, max_size=4), st.integers(0, 2))
@settings(max_examples=40)
def test_of_a_sample_deciding_anew_is_measuring_everything_anew(
    texts: tuple[str, ...], choices: list[dict[str, Any]], images: int
) -> None:
    def everything(choice: dict[str, Any]) -> Document:
        page = document(*texts, images=images)
        Measurer(decided_by(choice).filters, decided_by(choice).language).measure(page, everything=True)
        return page

    stored = everything(choices[0])
    for choice in choices[1:]:
        Measurer(decided_by(choice).filters, decided_by(choice).language).decide(stored, everything=True)
        fresh = everything(choice)
        assert (stored.reason, stored.scores, stored.nodes) == (fresh.reason, fresh.scores, fresh.nodes)


def test_of_a_sample_a_document_that_lost_something_is_measured_beyond_its_drop() -> None:
    page = measured(document(GOOD, GOOD), config(filters=FILTERS))
    page.nodes = page.nodes[1:]
    strict = config(filters={"document": {"word_count": {"min": 1000}, "image_count": {}}})
    Measurer(strict.filters, strict.language).measure_again(page, everything=True)
    assert page.reason == "word_count"
    assert page.scores["image_count"] is not None


def test_a_tightened_threshold_measures_nothing() -> None:
    stored = measured(document(GOOD), config(filters=FILTERS))
    stored.nodes.clear()  # what is not there cannot be measured
    tighter = config(filters=FILTERS | {"document": {"image_count": {"min": 1}, "word_count": {"min": 30}}})
    Measurer(tighter.filters, tighter.language).decide(stored)
    assert stored.reason == "word_count"


def test_a_reason_of_another_step_stays() -> None:
    page = measured(document(GOOD), config(filters=FILTERS))
    page.reason = "noai_header"
    Measurer(config(filters=FILTERS).filters, config().language).decide(page)
    assert page.reason == "noai_header"


def test_columns_come_in_the_order_of_the_config() -> None:
    assert score_names(config(filters=FILTERS)) == ["language_score", "image_count", "word_count"]
    assert score_names(config(filters={"document": {"word_count": {}, "language_score": {}}})) == [
        "language_score", "word_count",
    ]  # fmt: skip


def test_a_threshold_of_documents_is_a_decision_and_the_rest_is_measurement() -> None:
    base = config(filters=FILTERS)
    tighter = config(filters=FILTERS | {"document": {"word_count": {"min": 30}, "image_count": {"min": 2}}})
    assert measurement_config(base) == measurement_config(tighter)
    assert decision_config(base) != decision_config(tighter)
    language = config(filters=FILTERS, language={"keep": ["en"], "min_score": 0.5})
    assert measurement_config(base) == measurement_config(language)
    assert decision_config(base) != decision_config(language)
    for other in (
        config(filters=FILTERS | {"paragraph": {"word_count": {"min": 5}}}),
        config(filters=FILTERS | {"words": "spaces"}),
        config(filters=FILTERS | {"document": {"word_repetition_ratio": {"options": {"n": 3}}}}),
        config(filters=FILTERS, language={"max_characters": 100}),
    ):
        assert measurement_config(base) != measurement_config(other)
    reordered = config(filters=FILTERS | {"paragraph": dict(reversed(PARAGRAPH.items()))})
    assert measurement_config(base) != measurement_config(reordered)


def test_both_are_plain_json() -> None:
    for name in ("default", "obelics"):
        for part in (measurement_config(load_config(name)), decision_config(load_config(name))):
            assert json.loads(json.dumps(part)) == part


def test_a_word_list_counts_by_its_content(tmp_path: Path) -> None:
    def made(folder: str, content: str) -> dict[str, Any]:
        path = tmp_path / folder / "a.txt"
        path.parent.mkdir()
        path.write_text(content)
        threshold = {"options": {"paths": {"en": str(path)}}}
        return measurement_config(config(filters={"document": {"common_word_ratio": threshold}}))

    first, second = made("here", "one\ntwo"), made("there", "one\ntwo\nthree")
    assert first["files"] != second["files"]


def test_where_a_word_list_lies_does_not_count(tmp_path: Path) -> None:
    told = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("one\ntwo")
        threshold = {"options": {"paths": {"en": str(tmp_path / folder / "a.txt")}}}
        told.append(measurement_config(config(filters={"document": {"common_word_ratio": threshold}}))["files"])
    assert told[0] == told[1]


def test_a_shipped_model_counts_by_its_content_too() -> None:
    pytest.importorskip("kenlm")
    for name, files in (("quality_score", {"en.ftz"}), ("perplexity", {"en.arpa.bin", "en.sp.model"})):
        told = measurement_config(config(filters={"document": {name: {}}}))
        assert {name for name, _ in told["files"]} >= files


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"filters": {"document": {"word_cuont": {}}}}, "did you mean word_count"),
        ({"filters": {"paragraph": {"image_count": {}}}}, "measures documents only"),
        ({"filters": {"document": {"perplexity": {"max": 1500, "options": {"folder": "/no"}}}}}, "edugp/kenlm"),
        ({"language": {"model": "/no/such/model.bin"}}, "no such file"),
    ],
)
def test_a_wrong_config_stops_before_anything_is_read(sections: dict[str, Any], said: str) -> None:
    broken = config(**sections)
    with pytest.raises(UserError, match=said):
        Measurer(broken.filters, broken.language)
    with pytest.raises(UserError, match=said):
        measurement_config(broken)


def test_what_is_named_but_not_applied_is_said() -> None:
    obelics = load_config("obelics")
    said = Measurer(obelics.filters, obelics.language).notices()
    assert said == [
        "filters.paragraph.common_word_ratio is not applied: no word list is given (options.paths)",
        "filters.document.common_word_ratio is not applied: no word list is given (options.paths)",
        "filters.document.perplexity is not applied: no model is given (options.folder)",
    ]


TABLE = {  # the paper's table of cut-offs (A.1.3): paragraph, document; min, max
    "word_count": ((4, 1000), (10, 2000)),
    "character_repetition_ratio": ((None, 0.1), (None, 0.1)),
    "word_repetition_ratio": ((None, 0.1), (None, 0.2)),
    "special_character_ratio": ((None, 0.3), (None, 0.275)),
    "stopword_ratio": ((0.3, None), (0.35, None)),
    "flagged_word_ratio": ((None, 0.01), (None, 0.01)),
    "punctuation_ratio": ((0.001, None), (0.03, None)),
    "common_word_ratio": ((0.8, None), (0.9, None)),
}


def test_the_obelics_config_has_every_threshold_of_the_paper() -> None:
    obelics = load_config("obelics")
    filters = obelics.filters
    for name, bounds in TABLE.items():
        found = [(t.min, t.max) for t in (filters.paragraph[name], filters.document[name])]
        assert found == list(bounds), name
    assert list(filters.paragraph) == list(TABLE)
    assert list(filters.document) == ["image_count", *TABLE, "perplexity"]
    assert filters.document["perplexity"].max == 1500
    assert (obelics.language.keep, obelics.language.min_score) == (["en"], 0.8)
    assert obelics.finish.paragraph["spam_word_ratio"].below == 0.12
    images = obelics.images
    assert (images.min_side, images.max_side, images.min_ratio, images.max_ratio) == (150, 20_000, 0.5, 2.0)
    assert (images.min_per_document, images.max_per_document) == (1, 30)
    assert filters.paragraph["punctuation_ratio"].options == {"min_words": 12}


def test_the_obelics_config_keeps_the_reference_order_of_drops() -> None:
    obelics = load_config("obelics")
    page = document(GOOD, NAVIGATION, "xxx " + GOOD, GOOD.replace(",", "").replace(".", ""), "Read more")
    assert reasons(measured(page, obelics)) == [
        None, "stopword_ratio", "flagged_word_ratio", "punctuation_ratio", "word_count",
    ]  # fmt: skip
    assert page.reason is None


class Fixed:
    """A filter that always gives the same number."""

    name = "quality_score"

    def __init__(self, number: float) -> None:
        self.number = number

    def score(self, _: object) -> float:
        return self.number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("bounds", [{}, {"min": 0}, {"max": 0}])
def test_a_filter_that_gives_no_finite_number_fails_its_document(
    number: float, bounds: dict[str, float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(registry.BUILT_IN, "quality_score", lambda: Fixed(number))
    strict = config(filters={"document": {"quality_score": bounds, "word_count": {}}})
    found = measured(document(GOOD), strict)
    assert found.reason == "not_finite" and found.scores["word_count"] is None  # nothing dearer is measured
    ledger = Ledger("documents")
    write_documents([found], tmp_path / "data.parquet", strict, ledger)
    assert ledger.to_json() == {"in": 1, "kept": 0, "dropped": {}, "failed": {"not_finite": 1}}
    [stored] = read_documents(tmp_path / "data.parquet")
    assert stored.scores["quality_score"] is None
    Measurer(strict.filters, strict.language).decide(stored)
    assert stored.reason == "not_finite"  # a threshold that changed does not bring it back


def test_a_language_model_that_gives_no_finite_number_fails_its_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LanguageModel, "predict", lambda *_: ("en", math.nan))
    assert measured(document(GOOD), config(language={"min_score": 0.9})).reason == "not_finite"
