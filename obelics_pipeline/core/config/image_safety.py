"""What must not be among the images of a corpus: unsafe pictures, known abuse material, and where a photo was taken."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, field_validator, model_validator

from obelics_pipeline.core.config.picture_models import PictureModelConfig
from obelics_pipeline.core.config.section import Section, Sha256

Share = Annotated[float, Field(ge=0, le=1)]
HashKind = Literal["sha256", "md5", "pdq"]
MetadataPolicy = Literal["keep", "strip_location", "strip_all_but_orientation"]

_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")  # package.module:function


def _hook(value: str | None) -> str | None:
    if value is not None and not _PLACE.fullmatch(value):
        raise ValueError(f"{value!r} is not package.module:function")
    return value


class ClassifierConfig(PictureModelConfig):
    """A model that tells of an image how likely it is unsafe: docs/image_safety.md."""

    unsafe: tuple[str, ...] = Field(
        ("nsfw", "unsafe", "porn", "hentai"),
        min_length=1,
        description="Labels that are unsafe, in any case; the score of an image is the sum of their probabilities. The "
        "model must have at least one. The default names what published models call theirs.",
    )
    max: Share = Field(0.5, description="Scores above it are unsafe. Moved later, nothing is measured anew.")
    per: Literal["image", "document"] = Field(
        "image",
        description="image: what is unsafe leaves (unsafe_image), then images.min_per_document decides on the "
        "document; document: all of the document leaves (unsafe_images).",
    )
    over: Literal["any", "mean"] | Share = Field(
        "any",
        description="per: document: which of its images must be above max: any, their mean, or more than this share.",
    )


class HashListConfig(Section):
    """A list of hashes of known abuse material. Its content counts, not its path."""

    path: str = Field(description="One hash a line, a CSV with a header, or JSON lines; .gz likewise.")
    kind: HashKind | None = Field(None, description="null: told by the line: its type, or the length of the hash.")
    sha256: Sha256 | None = Field(None, description="What the file must have; null: not compared.")
    max_bytes: PositiveInt = Field(4 * 2**30, description="Bytes of the file, unpacked; a larger one is refused.")


class KnownAbuseConfig(Section):
    """Known abuse material, matched on this machine, before anything of an image is stored."""

    lists: tuple[HashListConfig, ...] = Field((), description="Hash lists; none: nothing is matched.")
    distance: int = Field(
        31, ge=0, le=63, description="Bits of 256 in which a PDQ hash may differ (its authors: up to 31)."
    )
    min_quality: int = Field(
        50, ge=0, le=100, description="PDQ quality below which an image is not compared (its authors: 49 and less)."
    )
    turned: bool = Field(False, description="Compare the seven rotations and mirror images as well; a match costs 8.")
    cache: str | None = Field(
        None,
        description="Folder on each machine where lists are kept in a form that is fast to search, outside of a run's; "
        "null: ~/.cache/obelics/hash-lists.",
    )


class AbuseReportConfig(Section):
    """Where a match is noted, so that the operator can report it. The run's own output does not mention it."""

    file: str | None = Field(None, description="JSON lines are added to it, mode 0600; outside of the run's folder.")
    hook: str | None = Field(None, description="package.module:function, called with the same as a dict.")

    _is_place = field_validator("hook")(_hook)


class ImageSafetyConfig(Section):
    """Nothing is looked at, and nothing changed, unless it is asked for here."""

    classifier: ClassifierConfig | None = Field(
        None, description="A model that scores each image from 0 (safe) to 1; null: none runs."
    )
    known_abuse: KnownAbuseConfig = Field(
        default_factory=KnownAbuseConfig,
        description="Hash lists of known abuse material, compared with each image as it arrives.",
    )
    report: AbuseReportConfig = Field(
        default_factory=AbuseReportConfig, description="Where a match with a hash list is reported."
    )
    metadata: MetadataPolicy = Field(
        "keep",
        description="What stays of EXIF, XMP and IPTC in image files; pixels are not re-encoded. strip_location: "
        "everything but where it was taken; strip_all_but_orientation: also no serial numbers, names, dates.",
    )
    faces: str | None = Field(
        None,
        description="package.module:function, called with the decoded image (PIL, RGB): boxes (left, top, right, "
        "bottom) in pixels that are blurred, or True to drop the image (faces).",
    )

    _is_place = field_validator("faces")(_hook)

    @model_validator(mode="after")
    def _report_has_a_list(self) -> ImageSafetyConfig:
        if (self.report.file or self.report.hook) and not self.known_abuse.lists:
            raise ValueError("image_safety.report is told of matches, and image_safety.known_abuse.lists is empty")
        return self
