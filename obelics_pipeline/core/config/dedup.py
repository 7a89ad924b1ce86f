"""What counts as a duplicate, over the whole corpus."""

from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from obelics_pipeline.core.config.roles import Roles
from obelics_pipeline.core.config.section import Section


class PageUrlConfig(Section):
    """Captures of one page."""

    enabled: bool = Field(True, description="Keep one capture of each page URL.")
    normalise: bool = Field(
        True,
        description="Compare addresses without scheme, www., default port, fragment, trailing slash and tracking "
        "parameters. false: as they stand, as the reference does.",
    )


class TextConfig(Section):
    """Near-duplicate text: MinHash signatures, locality-sensitive hashing, candidates verified."""

    enabled: bool = Field(True, description="Keep one document of each group with nearly the same text.")
    threshold: float = Field(
        0.8, gt=0, le=1, description="Estimated Jaccard similarity of two texts' shingles from which on they are one."
    )
    shingle_words: PositiveInt = Field(5, description="Words of one shingle (paper A.1.1: 5-grams).")
    permutations: PositiveInt = Field(
        512, multiple_of=8, description="Hash functions of a signature; one bit of each is the sketch that verifies."
    )
    bands: PositiveInt = Field(16, description="Bands of the signature that are compared. Each is one shuffled row.")
    rows: PositiveInt = Field(
        8, description="Hash functions of a band. Two texts of similarity s meet in a band with s^rows."
    )
    min_characters: PositiveInt = Field(
        50, description="Characters from which on a text is compared: very short ones are alike by chance."
    )

    @model_validator(mode="after")
    def bands_fit(self) -> "TextConfig":
        """Refuse more band rows than there are hash functions."""
        if self.bands * self.rows > self.permutations:
            raise ValueError(f"bands x rows is {self.bands * self.rows}, more than {self.permutations} permutations")
        return self


class ParagraphsConfig(Section):
    """Paragraphs that a site repeats: cookie notices, teasers, boilerplate."""

    min_count: PositiveInt | None = Field(
        3,
        description="Pages of a host with the same paragraph from which on it is removed from all of them (paper, 3.2: "
        "3). null: never.",
    )
    count: Literal["pages", "occurrences"] = Field(
        "pages", description="occurrences: every time it stands in a page counts, as in the reference (stage 9)."
    )
    roles: Roles | None = Field(
        ("paragraph", "list", "quote", "caption"),
        description="The roles it applies to; null: all. Headings such as Ingredients are the form of a site's pages.",
    )


class ImageUseConfig(Section):
    """Images that stand in too many documents: buttons, banners, logos."""

    url_max: PositiveInt | None = Field(
        10, description="Documents that may use one image URL; from more it is removed (paper A.1.4: 10). null: any."
    )
    url_count: Literal["documents", "occurrences"] = Field(
        "documents",
        description="occurrences: every time it stands in a document counts, as in the reference (stage 6).",
    )
    phash_max: PositiveInt | None = Field(
        10,
        description="Documents that may use images that look the same (equal perceptual hash); from more they are "
        "removed. The paper has no such rule; OmniCorpus uses 10. null: any.",
    )


class ImageSetConfig(Section):
    """Documents with the same images."""

    enabled: bool = Field(True, description="Keep one of the documents that have the same set of images.")
    same: Literal["content", "url"] = Field(
        "content",
        description="content: by the bytes that were fetched. url: by their addresses, as the reference does.",
    )
    min_images: PositiveInt = Field(
        2, description="Images from which on a set says something: two articles may share one stock photo (paper: 1)."
    )


class DedupConfig(Section):
    """The steps that see the whole corpus."""

    enabled: bool = Field(True, description="false: no global step; nothing is compared.")
    keep: Literal["newest", "first"] = Field(
        "newest",
        description="Which of several duplicates is kept, if it passes everything else: the newest capture, or the "
        "first in the order of the input.",
    )
    buckets: PositiveInt = Field(
        16,
        description="Parts that a shuffle is cut into; no verdict depends on it. One part must fit into the memory of "
        "a worker: 2 million shuffled rows fit, at about 20 rows a document, or 160 where the section site is on.",
    )
    page_url: PageUrlConfig = Field(default_factory=PageUrlConfig, description="Captures of one page address.")
    text: TextConfig = Field(default_factory=TextConfig, description="Documents with nearly the same text.")
    paragraphs: ParagraphsConfig = Field(
        default_factory=ParagraphsConfig, description="Paragraphs that several pages of a host repeat."
    )
    images: ImageUseConfig = Field(
        default_factory=ImageUseConfig,
        description="Images that too many documents use, by address and by perceptual hash.",
    )
    image_set: ImageSetConfig = Field(
        default_factory=ImageSetConfig, description="Documents that show the same set of images."
    )
    measure_again: bool = Field(
        True,
        description="Measure and decide a document anew that lost paragraphs or images here. false: as the reference, "
        "only documents without text or without an image go.",
    )
