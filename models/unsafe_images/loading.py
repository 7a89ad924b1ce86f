"""A classifier by what the config says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from obelics_pipeline.core.config.image_safety import ClassifierConfig
from obelics_pipeline.core.config.picture_models import PictureModelConfig
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.unsafe_images import beside, onnx_file
from obelics_pipeline.models.unsafe_images.classifier import (
    UNSAFE,
    Asked,
    Classifier,
    Network,
    Outputs,
    Rule,
    View,
    summed_labels,
)
from obelics_pipeline.models.unsafe_images.scorer import UnsafeImageScorer

SIDE = 224  # pixels, where nothing says another
HALF = (0.5, 0.5, 0.5)
ONE_OUTPUT = ("unsafe",)


@dataclass(frozen=True, slots=True)
class LoadUnsafeImages:
    """Makes an `UnsafeImageScorer`. Two that are equal make the same; `images` must be equal likewise."""

    config: str  # a ClassifierConfig as JSON, which can be hashed
    images: ImageSource = no_images
    threads: int = 4

    def __call__(self) -> UnsafeImageScorer:
        """Load the model. Raises `UserError` as `load` does."""
        return UnsafeImageScorer(load(ClassifierConfig.model_validate_json(self.config), self.threads), self.images)


def load(config: ClassifierConfig, threads: int = 4) -> Classifier:
    """A classifier of unsafe images that is ready: see `load_classifier`."""
    return load_classifier(config, Asked(config.unsafe, UNSAFE, "unsafe"), threads)


def load_classifier(config: PictureModelConfig, asked: Asked, threads: int = 4) -> Classifier:
    """A classifier that is ready; `threads` are those of ONNX Runtime on a CPU.

    Raises `UserError` for anything that is wrong with the config, and where a package, a file or the device is missing.
    """
    path = Path(config.model).expanduser()
    if config.embedding is not None:
        return _on_embedding(config, asked, path, threads)
    if is_onnx(path):
        return _of_onnx(config, asked, path, threads)
    return _of_transformers(config, asked)


def is_onnx(path: Path) -> bool:
    """Whether a model is a file of ONNX: all others are transformers'."""
    return path.suffix.lower() == ".onnx"


def files_beside(path: Path) -> Path:
    """The folder of the JSON files of an ONNX model: beside it, or above the folder `onnx`, as on the hub."""
    return path.parent.parent if path.parent.name == "onnx" else path.parent


def _of_onnx(config: PictureModelConfig, asked: Asked, path: Path, threads: int) -> Classifier:
    file = onnx_file.OnnxFile(path, config.sha256, config.device, threads, asked.setting)
    prepared = beside.preparation(files_beside(path))
    mean, std = prepared.colours()
    channels_last = file.input.channels_last if config.channels_last is None else config.channels_last
    network = onnx_file.OnnxPixels(file, config.mean or mean or HALF, config.std or std or HALF, channels_last)
    labels = _labels(config, beside.labels(files_beside(path), asked.setting), file.outputs)
    return _classifier(config, asked, network, _view(config, prepared, file.input.side), labels)


def _of_transformers(config: PictureModelConfig, asked: Asked) -> Classifier:
    from obelics_pipeline.models.unsafe_images import transformers_model

    model = transformers_model.load(config.model, config.sha256, config.device, config.dtype, asked.setting)
    prepared = beside.preparation(model.folder)
    mean, std = prepared.colours()
    network = partial(model.run, mean=config.mean or mean or HALF, std=config.std or std or HALF)
    labels = _labels(config, beside.ordered(model.id2label, asked.setting), None)
    return _classifier(config, asked, network, _view(config, prepared, model.side), labels)


def _on_embedding(config: PictureModelConfig, asked: Asked, path: Path, threads: int) -> Classifier:
    from obelics_pipeline.models.similarity.clip import Clip
    from obelics_pipeline.models.similarity.loading import load as load_clip

    assert config.embedding is not None
    head = onnx_file.OnnxFile(path, config.sha256, config.device, threads, asked.setting)
    of = config.embedding
    clip = load_clip(of.model, of.weights, of.sha256, config.device, config.dtype)
    prepared = clip.preprocessing
    view = View(clip.image_side, prepared.resize_mode, prepared.interpolation)
    labels = _labels(config, beside.labels(files_beside(path), asked.setting), head.outputs)

    @dataclass(frozen=True)
    class Head:
        clip: Clip

        def __call__(self, pictures: Sequence[Picture]) -> Outputs:
            vectors = self.clip.image_vectors(pictures, config.batch)
            return head.run(vectors.astype(head.input.kind))

    return _classifier(config, asked, Head(clip), view, labels)


def _labels(config: PictureModelConfig, told: tuple[str, ...] | None, outputs: int | None) -> tuple[str, ...]:
    """The config's, else those beside the model, if they are as many as its outputs."""
    if config.labels is not None:
        return config.labels
    if told is not None and outputs in (None, len(told)):
        return told
    return ONE_OUTPUT if outputs in (None, 1) else tuple(f"output {i}" for i in range(outputs))


def _view(config: PictureModelConfig, prepared: beside.Preparation, of_model: int | None) -> View:
    return View(
        side=config.size or prepared.side() or of_model or SIDE,
        fit=config.resize or prepared.fit() or "squash",
        interpolation=config.interpolation or prepared.interpolation() or "bilinear",
    )


def _classifier(
    config: PictureModelConfig, asked: Asked, network: Network, view: View, labels: tuple[str, ...]
) -> Classifier:
    rule: Rule = ("sigmoid" if len(labels) == 1 else "softmax") if config.output == "auto" else config.output
    return Classifier(network, view, labels, summed_labels(labels, asked), rule, config.batch, asked.setting)
