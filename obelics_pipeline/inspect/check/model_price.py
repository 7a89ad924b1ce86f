"""What the models of the score stage would cost on GPUs: arithmetic from their size and from what a sample holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.config import FlamingoConfig, JudgeConfig, LanguageModelConfig, ModelsConfig
from obelics_pipeline.core.interval import Interval, rounded
from obelics_pipeline.inspect.check.finding import gigabytes
from obelics_pipeline.inspect.check.model_size import ModelSize, size_of
from obelics_pipeline.stages.assumptions import Assumptions

OPERATIONS = 2  # of a parameter for a token: a product and a sum. Attention adds some 5 % at 2,000 tokens
LATENTS = 64  # of an image in OpenFlamingo: what its resampler makes, whatever the image
BYTES = {"auto": 2, "bfloat16": 2, "float16": 2, "float32": 4}  # of a number; auto: bfloat16 on a GPU
WIDE, INNER = 6, 3  # numbers of a token held in a block: residual, norm, query, key, value, output; gate, up, product
SLICE = (1 << 26) * 4  # bytes of logits in float32: models/language_model/head.py holds three, five for two models
NOTHING = Interval.exactly(0.0)


@dataclass(frozen=True)
class ModelPrice:
    """One model over the whole input. Tokens include those of images; GPU memory in bytes is that of one process."""

    section: str
    name: str
    size: ModelSize | None  # None: unknown, and then nothing else is told
    tokens: Interval = NOTHING
    gpu_hours: Interval = NOTHING
    dollars: Interval = NOTHING
    memory: float = 0.0

    def line(self) -> str:
        """For a person."""
        if self.size is None:
            return f"{self.section}: nothing here says how large {self.name} is: --price parameters=2.2e9"
        weights = f"{rounded(self.size.parameters)} parameters ({self.size.source}) x {self.tokens} tokens"
        memory = f"{gigabytes(self.memory)} of GPU memory{'' if self.size.width else ' without activations'}"
        return f"{self.section}: {weights}: {self.gpu_hours} GPU hours, {memory}, {self.dollars} dollars"

    def to_json(self) -> Mapping[str, Any]:
        """Every number with its spread; without a size, its names alone."""
        names = {"section": self.section, "model": self.name}
        if self.size is None:
            return names
        numbers = {name: getattr(self, name).to_json() for name in ("tokens", "gpu_hours", "dollars")}
        about = {"parameters": self.size.parameters, "parameters_from": self.size.source, "memory_bytes": self.memory}
        return names | about | numbers


def model_prices(config: ModelsConfig, counts: Mapping[str, Interval], assumed: Assumptions) -> list[ModelPrice]:
    """The price of each model that reads text; `counts` are those of an `Estimate`, upper bounds as these are."""
    text = counts["text_bytes"] * (1 / assumed.bytes_per_token)
    images = counts["images_in_shards"] * (assumed.image_success if counts["images"].high else 0.0)
    return list(_prices(config, text, images, assumed))


def _prices(config: ModelsConfig, text: Interval, images: Interval, assumed: Assumptions) -> Iterator[ModelPrice]:
    for name, of in (("language_model", _of_language_model), ("flamingo", _of_flamingo), ("judge", _of_judge)):
        model = getattr(config, name)
        if model is not None:
            size = _size(model.model, assumed)
            unknown = ModelPrice(f"score.{name}", model.model, None)
            yield unknown if size is None else of(model, size, text, images, assumed)


def _of_language_model(
    model: LanguageModelConfig, size: ModelSize, text: Interval, images: Interval, assumed: Assumptions
) -> ModelPrice:
    seen = images * size.image_tokens(model.image_pixels)
    looks = bool(seen.high)
    passes = 1 + (looks and model.image_gain) + (looks and model.second_model is not None)
    operations = _operations(size, text * passes + seen, images, model.image_pixels)
    weights = size.parameters
    if model.second_model is not None:
        second = _size(model.second_model, assumed) or size
        operations += text * (OPERATIONS * second.parameters)
        weights += second.parameters
    slices = 3 if model.second_model is None else 5
    memory = _memory(size, weights, model.batch_tokens, BYTES[model.dtype]) + slices * SLICE
    return _priced("score.language_model", model.model, size, text * passes + seen, operations, memory, assumed)


def _of_flamingo(
    model: FlamingoConfig, size: ModelSize, text: Interval, images: Interval, assumed: Assumptions
) -> ModelPrice:
    tokens = text * (2 if images.high and model.image_gain else 1) + images * LATENTS
    each = BYTES[model.dtype]
    memory = _memory(size, size.parameters, model.batch_tokens, each) + model.batch_tokens * size.vocabulary * each
    operations = tokens * (OPERATIONS * size.parameters)
    return _priced("score.flamingo", model.model, size, tokens, operations, memory, assumed)


def _of_judge(
    model: JudgeConfig, size: ModelSize, text: Interval, images: Interval, assumed: Assumptions
) -> ModelPrice:
    """As if it judged every document: how many `only` leaves, a run knows."""
    tokens = text + images * size.image_tokens(model.image_pixels)
    operations = _operations(size, tokens, images, model.image_pixels)
    memory = _memory(size, size.parameters, model.batch_tokens, BYTES[model.dtype])
    return _priced("score.judge, of every document", model.model, size, tokens, operations, memory, assumed)


def _size(name: str, assumed: Assumptions) -> ModelSize | None:
    given = ModelSize(assumed.parameters, "as given") if assumed.parameters else None
    return size_of(name) or given


def _operations(size: ModelSize, tokens: Interval, images: Interval, pixels: int) -> Interval:
    """Of tokens that the language model reads, and of images that its tower sees."""
    of_tokens = tokens * (OPERATIONS * (size.parameters - size.tower))
    return of_tokens + images * (OPERATIONS * size.tower * size.patches(pixels))


def _memory(size: ModelSize, weights: float, tokens: int, each: int) -> float:
    """Bytes of weights, and of one block's numbers for a batch of tokens."""
    return each * (weights + tokens * (WIDE * size.width + INNER * size.inner))


def _priced(
    section: str,
    name: str,
    size: ModelSize,
    tokens: Interval,
    operations: Interval,
    memory: float,
    assumed: Assumptions,
) -> ModelPrice:
    hours = operations * (1 / (assumed.gpu_flops * assumed.gpu_share * 3600))
    return ModelPrice(section, name, size, tokens, hours, hours * assumed.gpu_hour, memory)
