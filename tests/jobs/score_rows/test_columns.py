import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from obelics_pipeline import filters
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.text import Text
from obelics_pipeline.filters.word_count import WordCount
from obelics_pipeline.jobs.score_rows import columns as module
from obelics_pipeline.jobs.score_rows.columns import EVERY_IMAGE, ask
from obelics_pipeline.jobs.score_rows.document_of_row import document_of_row
from obelics_pipeline.jobs.score_rows.scorer import Scorer, scorer_of
from obelics_pipeline.models.flamingo.statistics import COLUMNS as FLAMINGO
from obelics_pipeline.models.language_model.columns import COLUMNS as LANGUAGE_MODEL
from obelics_pipeline.models.similarity.columns import COLUMNS as SIMILARITY
from obelics_pipeline.stages.rows.row_error import RowError
from tests.jobs.score_rows.rows import GERMAN, TEXT


def scores(names: Sequence[str], *texts: str, config: RunConfig | None = None) -> list[module.Scores | RowError]:
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
    assert line.startswith("--columns word_cuont: unknown; did you mean word_count?; valid names: language, ")
    assert all(name in line for name in filters.names())


def test_options_are_those_of_the_config_and_bounds_drop_nothing() -> None:
    one = load_config("default", ["filters.document={word_repetition_ratio: {max: 0.1, options: {n: 1}}}"])
    five = load_config("default", ["filters.document={}"])
    text = "so it goes and so it goes and so it went"
    (with_one,) = scores(["word_repetition_ratio", "word_count"], text, config=one)
    (with_default,) = scores(["word_repetition_ratio", "word_count"], text, config=five)
    assert isinstance(with_one, dict) and isinstance(with_default, dict)
    assert with_one["word_repetition_ratio"] != with_default["word_repetition_ratio"]
    assert with_one["word_count"] == 11


def test_a_filter_without_its_list_is_refused_when_it_is_made() -> None:
    with pytest.raises(UserError, match="filter common_word_ratio: option paths is missing"):
        scorer_of(ask(["common_word_ratio"], load_config("default")))


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


def with_models() -> RunConfig:
    similarity = "score.similarity={model: ViT-B-32, weights: w.safetensors, max_images: 5}"
    return load_config("default", ["score.flamingo={model: folder, token_counts: counts.npy}", similarity])


def test_a_model_stands_for_all_its_columns_and_a_column_for_itself() -> None:
    asked = ask(["similarity", "word_count", "flamingo"], with_models())
    assert asked.columns() == [*SIMILARITY, "word_count", *FLAMINGO]
    assert asked.of_models() == [*SIMILARITY, *FLAMINGO]
    assert ask(["similarity_images"], with_models()).columns() == ["similarity_images"]
    assert ask(["flamingo", "flamingo_loss"], with_models()).columns() == list(FLAMINGO)


def test_how_many_images_were_seen_follows_whatever_a_flamingo_measures() -> None:
    names = ["flamingo_loss", "language", "flamingo_tokens", "word_count"]
    expected = ["flamingo_loss", "language", "flamingo_tokens", "images_seen", "word_count"]
    assert ask(names, with_models()).columns() == expected
    assert ask(["images_seen", "flamingo_loss"], with_models()).columns() == ["images_seen", "flamingo_loss"]


def test_only_the_models_that_are_asked_for_are_loaded_and_only_the_passes_that_are_needed() -> None:
    one = ask(["word_count", "flamingo_loss"], with_models()).models()
    assert one.similarity is None and one.flamingo is not None and not one.flamingo.image_gain
    gain = ask(["flamingo_image_gain"], with_models()).models().flamingo
    assert gain is not None and gain.image_gain
    other = ask(["image_text_similarity"], with_models())
    assert other.models().flamingo is None and other.models().similarity is not None
    none = ask(["word_count"], with_models())
    assert none.models().flamingo is None and none.models().similarity is None


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that the config of `with_language_model` names, in the working directory."""
    for name in ("folder", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)


def with_language_model(**values: object) -> RunConfig:
    settings = ", ".join(f"{name}: {value}" for name, value in ({"model": "folder"} | values).items())
    return load_config("default", [f"score.language_model={{{settings}}}"])


@pytest.mark.usefixtures("folders")
def test_a_language_model_is_asked_for_by_its_section_or_a_column_and_makes_no_pass_that_is_not_needed() -> None:
    config = with_language_model(second_model="other", max_images=7)
    assert ask(["language_model"], config).columns() == list(LANGUAGE_MODEL)
    loss = ask(["lm_loss", "word_count"], config)
    assert loss.columns() == ["lm_loss", "lm_images_seen", "word_count"]
    assert loss.images_of_document() == 7
    model = loss.models().language_model
    assert model is not None and not model.image_gain and model.second_model is None
    model = ask(["lm_binoculars", "lm_image_gain"], config).models().language_model
    assert model is not None and model.image_gain and Path(model.second_model or "").name == "other"
    assert ask(["word_count"], config).models().language_model is None
    with pytest.raises(UserError, match=r"--columns lm_loss: .*--set 'score\.language_model={model: FOLDER}'"):
        ask(["lm_loss"], load_config("default"))


@pytest.mark.usefixtures("folders")
def test_columns_of_a_language_model_that_its_settings_leave_null_are_named() -> None:
    config = with_language_model(image_gain="false")
    assert ask(["lm_binoculars", "lm_image_gain", "lm_loss"], config).notices() == [
        "lm_binoculars is null: score.language_model.second_model names no model",
        "lm_image_gain is null: score.language_model.image_gain is false",
    ]


def test_as_many_images_are_wanted_as_some_model_looks_at() -> None:
    assert ask(["similarity"], with_models()).images_of_document() == 5
    assert ask(["similarity", "flamingo_loss"], with_models()).images_of_document() == 64
    assert ask(["word_count"], with_models()).images_of_document() == 0


@pytest.mark.parametrize("name", ["flamingo", "flamingo_loss", "images_seen", "similarity", "image_text_similarity"])
def test_a_column_of_a_model_needs_its_section(name: str) -> None:
    section = "flamingo" if "flamingo" in name or name == "images_seen" else "similarity"
    with pytest.raises(UserError) as caught:
        ask([name], load_config("default"))
    said = str(caught.value)
    assert said.startswith(
        f"--columns {name}: the config names no model for it; give it one, e.g. --set 'score.{section}={{"
    )
    load_config("default", [said.partition("--set '")[2].removesuffix("'")])


class Raising:
    """Models that fail at certain documents, and say how many they were given at a time."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        self.given.append(len(documents))
        if any("poison" in document.text() for document in documents):
            raise RuntimeError("bad\ntokens")
        return [{"flamingo_loss": float(len(d.text())), "flamingo_tokens": 1.0, "images_seen": 0.0} for d in documents]


def test_models_are_given_the_documents_of_a_batch_at_once_and_one_they_fail_at_costs_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = Raising()
    monkeypatch.setattr(Scorer, "_models", models)
    broken = RowError("not_json", "")
    documents = [broken, *(document_of_row({"text": t}) for t in ("one", " ", "a poison", "three", "four"))]
    found = Scorer(ask(["language", "flamingo_loss"], with_models())).score(documents)
    assert found[0] is broken
    assert isinstance(found[2], RowError) and found[2].reason == "no_text"
    assert str(found[3]) == "score_failed (RuntimeError: bad tokens)"
    losses = [x["flamingo_loss"] for x in found if isinstance(x, dict)]
    assert losses == [3.0, 5.0, 4.0]
    assert list(found[1]) == ["language", "flamingo_loss", "images_seen"]  # type: ignore[arg-type]
    assert models.given[0] == 4


def test_a_classifier_is_asked_for_by_name_and_looks_at_every_image() -> None:
    config = load_config("default", ["image_safety.classifier={model: m.onnx}", "score.threads=2"])
    asked = ask(["classifier", "word_count"], config)
    assert asked.columns() == ["unsafe_images_measured", "unsafe_image_max", "unsafe_image_mean", "word_count"]
    models = asked.models()
    assert models.classifier is not None and models.classifier.model == "m.onnx" and models.threads == 2
    assert asked.images_of_document() == EVERY_IMAGE
    assert ask(["word_count"], config).models().classifier is None
    with pytest.raises(UserError, match=r"image_safety\.classifier={model: FILE\.onnx}"):
        ask(["unsafe_image_max"], load_config("default"))


def test_models_of_pictures_are_asked_for_by_section_or_column_and_only_what_is_needed_is_loaded() -> None:
    named = {name: {"model": f"{name}.onnx", "label": name} for name in ("meme", "watermark")}
    liked = {"head": "h.pth", "embedding": {"model": "ViT-L-14", "weights": "openai"}}
    config = RunConfig.model_validate({"score": {"picture_classifiers": named, "aesthetic": liked}})
    asked = ask(["picture_watermark_max", "word_count"], config, "fetch")
    assert asked.of_models() == ["picture_watermark_max"] and asked.images_of_document() == EVERY_IMAGE
    assert list(asked.models().picture_classifiers) == ["watermark"] and asked.models().aesthetic is None
    every = [f"picture_{name}_{what}" for name in ("meme", "watermark") for what in ("images", "mean", "min", "max")]
    assert ask(["picture_classifiers"], config).columns() == every
    assert ask(["aesthetic"], config).columns()[0] == "picture_aesthetic_images"
    with pytest.raises(
        UserError, match=r"no model for it; give it one, e\.g\. --set 'score\.picture_classifiers\.water"
    ):
        ask(["picture_classifiers"], load_config("default"))
