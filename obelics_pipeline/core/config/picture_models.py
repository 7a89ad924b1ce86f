"""Models that look at one image at a time: where they are, what they are shown, and what their outputs mean."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from obelics_pipeline.core.config.section import DataType, Section, Sha256

Channels = tuple[float, float, float]  # red, green, blue; 1 is full


class EmbeddingConfig(Section):
    """A CLIP whose vectors of images (of length one) a model reads instead of pixels: docs/similarity.md."""

    model: str = Field(description="The name of an architecture of open_clip, e.g. ViT-L-14, or a JSON file of one.")
    weights: str = Field(description="A file of weights, or the name by which open_clip knows published ones.")
    sha256: Sha256 | None = Field(None, description="What a file of weights must have; null: not compared.")


class PictureModelConfig(Section):
    """A classifier of images: a file of ONNX, a model of transformers, or a head on a CLIP."""

    model: str = Field(
        description="A file of ONNX, or a folder or the hub's name of an image classifier of transformers."
    )
    sha256: Sha256 | None = Field(
        None, description="What the file, or the model.safetensors of the folder, must have; null: not compared."
    )
    labels: tuple[str, ...] | None = Field(
        None,
        description="Names of the outputs, in order. null: id2label of the config.json beside the model; `unsafe` "
        "where there is one output.",
    )
    output: Literal["auto", "softmax", "sigmoid", "probabilities"] = Field(
        "auto",
        description="What makes probabilities of the outputs. auto: sigmoid of a single output, softmax of several; "
        "probabilities: the model gives them itself.",
    )
    size: PositiveInt | None = Field(
        None, description="Pixels of the square it is shown; null: as the model or its preprocessor_config.json says."
    )
    resize: Literal["squash", "shortest"] | None = Field(
        None,
        description="squash: the whole image pressed into the square; shortest: its middle. null: as "
        "preprocessor_config.json says, else squash, which leaves nothing out.",
    )
    interpolation: Literal["bicubic", "bilinear"] | None = Field(None, description="null: as that file, else bilinear.")
    mean: Channels | None = Field(None, description="Of RGB from 0 to 1; null: as that file, else 0.5.")
    std: Channels | None = Field(None, description="Likewise.")
    channels_last: bool | None = Field(
        None, description="ONNX only: the input is (n, height, width, 3); null: told from the shape of its input."
    )
    embedding: EmbeddingConfig | None = Field(
        None, description="The model is a head on the vectors of a CLIP; null: it reads pixels."
    )
    device: str = Field("auto", description="auto: the first GPU where there is one; else cpu, cuda or cuda:N.")
    dtype: DataType = Field("auto", description="auto: bfloat16 on a GPU, float32 on a CPU. ONNX has its own.")
    batch: PositiveInt = Field(64, description="Images that are classified at a time.")


class PictureClassifierConfig(PictureModelConfig):
    """A classifier of images of which one label counts, such as watermark: docs/image_quality.md."""

    label: str = Field(
        description="The label whose probability is measured, in any case; the model must have it, or `labels`."
    )


class AestheticConfig(Section):
    """How well people would like an image: layers on the vectors of a CLIP, as LAION trains: docs/image_quality.md."""

    head: str = Field(description="A file of the layers' weights: safetensors, or tensors that torch saved.")
    sha256: Sha256 | None = Field(None, description="What this file must have; null: not compared.")
    activation: Literal["none", "relu"] = Field(
        "none", description="What stands between two layers; the file does not say. LAION's linearMSE heads have none."
    )
    embedding: EmbeddingConfig = Field(description="The CLIP that the head was trained on.")
    device: str = Field("auto", description="Of the CLIP. auto: the first GPU where there is one; else as above.")
    dtype: DataType = Field("auto", description="Of the CLIP. auto: bfloat16 on a GPU, float32 on a CPU.")
    batch: PositiveInt = Field(128, description="Images that are encoded at a time.")
