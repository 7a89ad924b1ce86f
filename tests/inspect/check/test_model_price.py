"""GPU hours and memory follow from tokens, parameters and the settings, and grow with each pass that is asked for."""

from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import ModelsConfig
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.inspect.check.model_price import SLICE, ModelPrice, model_prices
from obelics_pipeline.stages.assumptions import Assumptions, assumptions_of
from tests.inspect.check.test_model_size import QWEN_TOWER, TEXT, model

COUNTS = {
    "text_bytes": Interval(3e9, 4e9, 5e9),
    "images": Interval.exactly(2e6),
    "images_in_shards": Interval.exactly(1e6),
}
ASSUMED = Assumptions(gpu_flops=1e12, gpu_share=0.5, gpu_hour=2.0, bytes_per_token=4.0, image_success=0.5)


def price(
    counts: Any = COUNTS, assumed: Assumptions = ASSUMED, section: str = "language_model", **of: Any
) -> ModelPrice:
    [found] = model_prices(ModelsConfig.model_validate({section: of}), counts, assumed)
    return found


def test_a_text_model_costs_two_operations_a_parameter_and_token(tmp_path: Path) -> None:
    found = price(model=model(tmp_path, TEXT, a=[1000, 1000]))
    assert found.tokens == Interval(0.75e9, 1e9, 1.25e9)
    assert found.gpu_hours.point == pytest.approx(2 * 1e6 * 1e9 / (0.5e12 * 3600))
    assert found.dollars.high == pytest.approx(2.0 * 1.25 * found.gpu_hours.point)
    assert found.memory == 2 * (1e6 + 16384 * (6 * 576 + 3 * 1536)) + 3 * SLICE
    assert "1M parameters (its files)" in found.line() and "GPU hours" in found.line()


def test_images_cost_their_tokens_their_tower_and_a_second_pass_of_the_text(tmp_path: Path) -> None:
    name = model(tmp_path, TEXT | {"vision_config": QWEN_TOWER})
    with_gain, without = price(model=name), price(model=name, image_gain=False)
    tokens, images = 1e9, 0.5e6
    own, tower, patches = with_gain.size.parameters - with_gain.size.tower, 32 * 12 * 1280**2, 147456 / 14**2  # type: ignore[union-attr]
    expected = 2 * own * (tokens + images * patches / 4) + 2 * tower * images * patches
    assert without.gpu_hours.point == pytest.approx(expected / (0.5e12 * 3600))
    assert with_gain.gpu_hours.point - without.gpu_hours.point == pytest.approx(2 * own * tokens / (0.5e12 * 3600))
    no_fetch = price(COUNTS | {"images": Interval.exactly(0)}, model=name)
    assert no_fetch.gpu_hours.point == pytest.approx(2 * own * tokens / (0.5e12 * 3600))


def test_a_second_model_and_float32_take_their_memory(tmp_path: Path) -> None:
    one = model(tmp_path, TEXT, a=[1000, 1000])
    alone, both = price(model=one), price(model=one, second_model=one)
    assert both.gpu_hours.point == pytest.approx(2 * alone.gpu_hours.point)
    assert both.memory == alone.memory + 2e6 + 2 * SLICE
    assert price(model=one, dtype="float32").memory - 3 * SLICE == 2 * (alone.memory - 3 * SLICE)


def test_a_flamingo_is_priced_by_its_name_and_a_size_that_nothing_tells_is_asked_for() -> None:
    flamingo = price(section="flamingo", model="openflamingo/OpenFlamingo-3B-vitl-mpt1b", image_gain=False)
    assert flamingo.gpu_hours.point == pytest.approx(2 * 3e9 * (1e9 + 0.5e6 * 64) / (0.5e12 * 3600))
    assert "without activations" in flamingo.line()
    unknown = price(model="someone/a-model")
    assert unknown.line().endswith("--price parameters=2.2e9")
    assert unknown.to_json() == {"section": "score.language_model", "model": "someone/a-model"}
    given = price(model="someone/a-model", assumed=assumptions_of(["parameters=2.2e9"]))
    assert given.to_json()["parameters_from"] == "as given"
    assert model_prices(ModelsConfig(), COUNTS, ASSUMED) == []


def test_a_judge_reads_each_text_once_and_is_priced_as_if_it_judged_all(tmp_path: Path) -> None:
    name = model(tmp_path, TEXT, a=[1000, 1000])
    judge = price(section="judge", model=name, prompt="{document}")
    assert judge.gpu_hours == price(model=name).gpu_hours
    assert judge.line().startswith("score.judge, of every document: ")
