import pickle
from collections.abc import Callable, Mapping, Sequence

import pytest

import filters
from filters.text import Text
from filters.word_count import WordCount
from obelics_pipeline.config import RunConfig, load_config
from obelics_pipeline.document import Document, TextNode
from obelics_pipeline.errors import UserError
from obelics_pipeline.score import columns as room
from obelics_pipeline.score.columns import MODEL_SCORES, ModelScore, Scorer, ask
from obelics_pipeline.score.document_of_row import document_of_row
from obelics_pipeline.score.row_error import RowError
from tests.score.rows import GERMAN, TEXT, published


def scores(names: Sequence[str], *texts: str, config: RunConfig | None = None) -> list[room.Scores | RowError]:
    scorer = Scorer(ask(names, config or load_config("default")))
    return scorer.score([document_of_row({"text": text}) for text in texts])


def test_the_columns_are_those_asked_for_in_their_order() -> None:
    (english, german) = scores(["word_count", "language", "stopword_ratio"], TEXT, GERMAN)
    assert isinstance(english, dict) and isinstance(german, dict)
    assert list(english) == ["word_count", "language", "stopword_ratio"]
    assert (english["language"], german["language"]) == ("en", "de")
    assert english["word_count"] == len(TEXT.split())


def test_without_names_it_is_every_document_filter_of_the_config() -> None:
    config = load_config("default")
    assert ask([], config).columns() == list(config.filters.document)
    with pytest.raises(
        UserError, match=r"has no filters.document, so name the scores; valid names: language, word_count"
    ):
        ask([], RunConfig())


def test_an_unknown_name_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UserError) as caught:
        ask(["word_cuont"], load_config("default"))
    line = str(caught.value)
    assert line.startswith("--columns word_cuont: unknown; valid names: language, word_count, ")
    assert all(name in line for name in filters.names())
    assert line.endswith("did you mean word_count?")


def test_options_are_those_of_the_config_and_bounds_drop_nothing() -> None:
    one = load_config("default", ["filters.document={word_repetition_ratio: {max: 0.1, options: {n: 1}}}"])
    five = load_config("default", ["filters.document={}"])
    text = "so it goes and so it goes and so it went"
    (with_one,) = scores(["word_repetition_ratio", "word_count"], text, config=one)
    (with_default,) = scores(["word_repetition_ratio", "word_count"], text, config=five)
    assert isinstance(with_one, dict) and isinstance(with_default, dict)
    assert with_one["word_repetition_ratio"] != with_default["word_repetition_ratio"]
    assert with_one["word_count"] == 11


def test_a_filter_without_its_model_is_refused_when_it_is_made() -> None:
    with pytest.raises(UserError, match="filter perplexity: option folder is missing"):
        ask(["perplexity"], load_config("default")).scorer()


def test_what_was_asked_for_travels_to_workers() -> None:
    asked = ask(["word_count"], load_config("default"))
    assert pickle.loads(pickle.dumps(asked)) == asked


def test_a_text_without_a_visible_character_has_no_scores() -> None:
    for found in scores(["word_count"], "", " \n\t\u00a0 "):
        assert isinstance(found, RowError) and found.reason == "no_text"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "many"])
def test_a_score_that_is_no_finite_number_fails_its_row(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    monkeypatch.setattr(WordCount, "score", lambda _self, text: value if "river" in text.text else 1.0)
    failed, fine = scores(["word_count"], TEXT, GERMAN)
    assert isinstance(failed, RowError) and failed.reason == "score_failed"
    assert fine == {"word_count": 1.0}


def test_a_filter_that_raises_fails_its_row_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_self: WordCount, text: Text) -> float:
        raise ZeroDivisionError("of\nzero") if "river" in text.text else ValueError

    monkeypatch.setattr(WordCount, "score", fail)
    first, second = scores(["word_count"], TEXT, GERMAN)
    assert str(first) == "score_failed (ZeroDivisionError: of zero)"
    assert str(second) == "score_failed (ValueError: )"


def test_images_are_refused_where_no_column_looks_at_them() -> None:
    with pytest.raises(UserError, match=r"--images fetch: none of the columns looks at images \(word_count\)"):
        ask(["word_count"], load_config("default"), "fetch")


def test_a_model_of_documents_with_images_gives_its_columns_for_the_rows_that_are_fine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[Document]] = []

    def make(_config: RunConfig, images: str) -> Callable[[Sequence[Document]], Sequence[Mapping[str, float | None]]]:
        def measure(documents: Sequence[Document]) -> list[Mapping[str, float | None]]:
            seen.append(list(documents))
            return [{"loss": float(len(d.text())), "images_seen": float(images == "DIR")} for d in documents]

        return measure

    monkeypatch.setitem(MODEL_SCORES, "loss", ModelScore(("loss", "images_seen"), make))
    asked = ask(["language", "loss"], load_config("default"), "DIR")
    assert asked.columns() == ["language", "loss", "images_seen"]
    empty = Document("", "", "", 0, 0, [TextNode(" ")])
    broken = RowError("not_json", "")
    fine = document_of_row(published(1))
    found = Scorer(asked).score([broken, empty, fine])
    assert found[0] is broken
    assert isinstance(found[1], RowError)
    assert found[2] == {"language": "en", "loss": float(len(fine.text())), "images_seen": 1.0}
    assert seen == [[fine]]
