"""How a page becomes nodes."""

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from obelics_pipeline.core.config.section import Section


class ExtractionConfig(Section):
    """The rule set, and the bounds within which a page must be walked."""

    rules: Literal["default", "obelics"] = Field(
        "default", description="default: ours. obelics: the reference, rule by rule (its stage 2)."
    )
    scope: Literal["main", "page"] = Field(
        "main",
        description="What is kept of a page by the default rules. main: its main content (how well it was told is the "
        "score main_content_confidence). page: all but the page's frame. The obelics rules "
        "always keep the page.",
    )
    headline: bool = Field(
        True,
        description="Whether the default rules put the page's headline and standfirst into the text where they stand "
        "outside of its main content. They have these roles.",
    )
    comments: Literal["drop", "mark", "keep"] = Field(
        "drop",
        description="What becomes of comments below the main content (scope main). drop: they go, with their pictures. "
        "mark: what readers wrote stays and has the role comment. keep: they are judged as any text. Posts of a forum "
        "are no comments, reviews on the page of a product are.",
    )
    markup: Literal["plain", "markdown"] = Field(
        "plain",
        description="How headings, lists, tables, code and quotations are written by the default rules. plain: nothing "
        "but the text, as in OBELICS. markdown: light Markdown.",
    )
    max_nodes: PositiveInt = Field(
        300_000, description="DOM nodes of a page; a larger page is dropped (too_many_nodes)."
    )
    max_depth: PositiveInt = Field(5_000, description="Nesting depth of a page; a deeper page is dropped (too_deep).")
    max_seconds: PositiveFloat = Field(
        10.0, description="Seconds one page may take to walk; a slower page is dropped (too_slow)."
    )
    split_words: PositiveInt | None = Field(
        5_000, description="Words in one document; a longer page is split at a heading or paragraph. null: never split."
    )
    split_images: PositiveInt | None = Field(
        30,
        description="Distinct images in one document, icons by their declared size not counted; more split the page "
        "(paper: at most 30). null: never split.",
    )
