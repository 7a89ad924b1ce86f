"""Which images and documents end in a shard, and what a shard looks like."""

from typing import Literal, get_args

from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from obelics_pipeline.core.config.filtering import Bounds, Threshold, refuse_samples
from obelics_pipeline.core.config.section import Section

Format = Literal["webdataset", "open_flamingo"]  # of the tars of a run

ImageFormat = Literal["jpeg", "png", "webp", "gif", "avif", "bmp", "tiff"]  # what a fetched image can be

ImageMeasure = Literal["one_colour", "qr_codes", "qr_share", "sharpness", "text_share"]


class ImageRulesConfig(Section):
    """The image rules of the paper (A.1.3): by node, then by document."""

    formats: tuple[ImageFormat, ...] = Field(
        ("jpeg", "png", "webp"), min_length=1, description="Formats as Pillow names them, lower case."
    )
    min_side: PositiveInt = Field(150, description="Pixels of the shorter side, inclusive (paper: 150).")
    max_side: PositiveInt = Field(20_000, description="Pixels of the longer side, inclusive (paper: 20,000).")
    min_ratio: PositiveFloat = Field(0.5, description="Width / height, inclusive (paper: 1/2).")
    max_ratio: PositiveFloat = Field(2.0, description="Width / height, inclusive (paper: 2).")
    check_rendered: bool = Field(
        True, description="Apply the side limits to declared widths and heights as well (paper)."
    )
    banned_words: tuple[str, ...] = Field(
        ("logo", "button", "icon", "plugin", "widget", "porn", "sex", "xxx"),
        description="Words of the URL path that drop an image (paper's list).",
    )
    banned_as_substrings: bool = Field(
        False, description="true: match anywhere in the URL, case-sensitively, as the reference does (silicon, essex)."
    )
    min_per_document: int = Field(1, ge=0, description="Images a document must keep (paper: 1).")
    max_per_document: PositiveInt = Field(30, description="Images a document may keep (paper: 30).")
    quality: dict[ImageMeasure, Bounds] = Field(
        default_factory=dict,
        exclude_if=lambda quality: not quality,  # so that configs without it keep their units' ids
        description="What is measured of the pixels of fetched images, by name: a column each. Bounds drop images; {} "
        "measures only. one_colour, qr_share, text_share: shares of the area, 0 to 1; qr_codes: a count; sharpness: "
        "variance of the Laplacian, grey levels squared. docs/image_quality.md.",
    )

    @property
    def measures(self) -> tuple[ImageMeasure, ...]:
        """What is measured of pixels, in an order that does not depend on that of the config."""
        return tuple(name for name in get_args(ImageMeasure) if name in self.quality)

    @field_validator("quality")
    @classmethod
    def _of_images(cls, quality: dict[ImageMeasure, Bounds]) -> dict[ImageMeasure, Bounds]:
        refuse_samples(quality.items())
        return quality


class FinishConfig(Section):
    """The last cleaning of a document: stages 10 and 13 of the reference."""

    drop_repeated_images: bool = Field(True, description="Keep only the first node of an image URL within a document.")
    paragraph: dict[str, Threshold] = Field(
        default_factory=dict, description="Paragraph filters applied last, after document-level scores were taken."
    )
    end_of_document_token: str | None = Field(
        None,
        description="The reference's marker, whose repetitions and trailing copies are removed; null: none is used.",
    )

    @field_validator("paragraph")
    @classmethod
    def by_name(cls, paragraph: dict[str, Threshold]) -> dict[str, Threshold]:
        """Refuse a filter of a user's own: images are assembled by filters' names alone."""
        for name, threshold in paragraph.items():
            if threshold.use is not None:
                raise ValueError(f"{name}.use: only filters by name are applied here; move it to filters.paragraph")
        return paragraph


class ShardConfig(Section):
    """The tars."""

    format: Format = Field(
        "webdataset",
        description="webdataset: image files beside the JSON; open_flamingo: as its trainer's --mmc4_shards reads.",
    )
    target_bytes: PositiveInt = Field(
        256 * 2**20, description="Bytes at which a tar is closed. A document is never cut, so a tar may be larger."
    )
    index_rows: PositiveInt = Field(
        2**20,
        description="Documents up to which the index is one file, index.parquet. Of more, parts of at most as many, "
        "cut between tars: about 100 MB each, made and read by one worker.",
    )
    keep_packs: bool = Field(
        True,
        exclude_if=lambda kept: kept,  # so that the notes of runs without it stay as they were
        description="false: once the tars are read back and current, the packs of images are removed, so that images "
        "are stored once. A later revision copies images from the tars back into packs while it works, and asks the "
        "web again for those in no tar; so does a tar that is damaged. docs/shards.md.",
    )
