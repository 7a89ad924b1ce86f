"""Perplexity must follow from the model's probabilities by the reference's formula: here they are known."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.perplexity import SHIPPED, PerplexityModel
from tests.models.arpa import BIGRAMS, write_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def model(folder: Path) -> PerplexityModel:
    return PerplexityModel.load_folder(str(folder), "perplexity")["en"]


@pytest.mark.parametrize(
    ("text", "log10_probability", "tokens"),
    [
        ("a b a b", -0.2 - 0.4 - 0.9 - 0.4 - 0.1, 5),  # all bigrams are known; the end is a token
        ("b b", (-0.5 - 0.8) + (-0.2 - 0.8) - 0.1, 3),  # backoff and unigram where one is not
        ("z", (-0.5 - 1.0) - 0.7, 2),  # a word that nobody has seen, and nothing is known of what follows it
        ("", -0.5 - 0.7, 1),
    ],
)
def test_perplexity_is_ten_to_the_mean_cost_of_a_token(
    model: PerplexityModel, text: str, log10_probability: float, tokens: int
) -> None:
    assert model.perplexity(text) == round(10 ** (-log10_probability / tokens), 1)


@pytest.mark.parametrize(
    ("text", "worse"),
    [
        ("a b a b", 1 / 4),  # a after b: -0.9 against -0.6 for a anywhere
        ("b b", 1.0),  # backoff costs -0.5 and -0.2
        ("a", 0.0),
        ("a z", 1 / 2),  # an unknown word after a: -0.3 - 1.0 against -1.0
        ("", 0.0),
    ],
)
def test_a_piece_is_worse_where_its_context_makes_it_less_likely(
    model: PerplexityModel, text: str, worse: float
) -> None:
    assert model.worse_than_unigram_ratio(text) == worse


def test_texts_measured_in_turn_do_not_mix(model: PerplexityModel) -> None:
    alone = [(model.perplexity(text), model.worse_than_unigram_ratio(text)) for text in ("a b", "b b", "a b")]
    assert alone[0] == alone[2] != alone[1]


@given(st.text(st.characters(exclude_categories=())))
@example("a \ud800 b")
def test_any_string_is_answered(model: PerplexityModel, text: str) -> None:
    assert model.perplexity(text) >= 1.0
    assert 0.0 <= model.worse_than_unigram_ratio(text) <= 1.0


@given(st.text(st.sampled_from("ab …—Ⅷ℡½ﬁ１日é"), max_size=30).map(str.strip))
def test_every_piece_is_placed_in_order_and_nothing_is_between_them(text: str) -> None:
    pytest.importorskip("kenlm")
    shipped = PerplexityModel.load_folder(SHIPPED, "perplexity")["en"]
    pieces = shipped._read(text)[0]
    places = list(shipped._places(text, range(len(pieces))))
    assert len(places) == len(pieces)
    assert all(begin < end for begin, end in places)
    assert places == sorted(places)
    assert {i for begin, end in places for i in range(begin, end)} == set(range(len(text)))


def test_another_file_under_the_same_path_is_another_model(tmp_path: Path) -> None:
    folder = str(write_models(tmp_path))
    assert PerplexityModel.load_folder(folder, "perplexity")["en"].perplexity("") == 15.8
    (tmp_path / "en.arpa.bin").unlink()
    (tmp_path / "en.arpa.bin").write_text(BIGRAMS.replace("-0.7\t</s>", "-0.5\t</s>"), "utf-8")
    assert PerplexityModel.load_folder(folder, "perplexity")["en"].perplexity("") == 10.0


def test_a_model_without_its_pieces_is_refused_in_one_line(tmp_path: Path) -> None:
    write_models(tmp_path)
    (tmp_path / "en.sp.model").unlink()
    with pytest.raises(UserError, match=r"filter perplexity: .*en\.sp\.model cannot be read") as error:
        PerplexityModel.load_folder(str(tmp_path), "perplexity")
    assert "\n" not in str(error.value)
