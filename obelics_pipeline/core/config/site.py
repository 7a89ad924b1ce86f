"""Evidence of the site: what the pages of one registered domain say together of each of them."""

from __future__ import annotations

from pydantic import Field, PositiveFloat, model_validator

from obelics_pipeline.core.config.filtering import LanguageBounds
from obelics_pipeline.core.config.section import Section

SCORE = "farm_score"  # by default; the only one whose columns are null, and no mistake, where no filter measures it
MEASURED = (
    "site_documents",
    "site_near_duplicate_share",
    "site_template_share",
    "site_outbound_link_share",
    "site_affiliate_link_share",
    "site_documents_per_day",
    "site_language_mixture",
    "borrowed_share",
    "site_borrowed_share",
    "skeleton_share",
    "site_skeleton_share",
    "skeleton_share_elsewhere",
    "site_skeleton_share_elsewhere",
    "site_farm_probability",
)


class SiteConfig(Section):
    """Columns about the site of each document, and bounds of them: docs/site_evidence.md."""

    enabled: bool = Field(False, description="Measure the columns; bounds in `document` do so as well.")
    score: str | None = Field(
        SCORE,
        description="A score of filters.document from 0 to 1, the probability of a bad page were half of all pages "
        "bad; its mean, its spread and the score in its site are columns. null: none of these.",
    )
    prior: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="Share of bad pages on a site of which nothing is known. Assumed, not measured: no public count of "
        "content farms in a crawl exists.",
    )
    strength: PositiveFloat = Field(
        2.0,
        description="How many pages the prior counts as. 2: a Beta prior that leaves most sites all good or all bad "
        "(Beta(0.1, 1.9) at a prior of 0.05). Assumed.",
    )
    correlation: float = Field(
        0.2,
        ge=0,
        le=1,
        description="How alike a score's errors are on pages of one site (intraclass correlation): n other pages count "
        "as n / (1 + (n - 1) x correlation), Kish's design effect, so never as more than 1 / correlation. Assumed.",
    )
    document: dict[str, LanguageBounds] = Field(
        default_factory=dict, description="Bounds of the columns, in order; what drops a document is their reason."
    )

    @model_validator(mode="after")
    def columns_exist(self) -> SiteConfig:
        """Refuse bounds of a column that is not measured, and bounds by genre."""
        unknown = [name for name in self.document if name not in self.columns]
        if unknown:
            raise ValueError(f"document.{unknown[0]} is no column of the site; valid: {', '.join(self.columns)}")
        by_genre = [name for name, bounds in self.document.items() if bounds.genres]
        if by_genre:
            raise ValueError(
                f"document.{by_genre[0]}.genres: a site has no genre; it is for filters.document and score"
            )
        return self

    @property
    def active(self) -> bool:
        """Whether there is anything to do."""
        return self.enabled or bool(self.document)

    @property
    def score_columns(self) -> tuple[str, ...]:
        """The columns that follow from the score: its mean on the site, its spread, the score in its site."""
        score = self.score
        return () if score is None else (f"site_{score}_mean", f"site_{score}_spread", f"{score}_in_site")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a run measures, in order."""
        return MEASURED[:1] + self.score_columns + MEASURED[1:]
