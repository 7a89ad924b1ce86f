"""From the sums of sites to the columns of their documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.site import SCORE
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.extract.measure import score_names
from obelics_pipeline.stages.site.evidence import POINT_NAMES, POINTS, SCALE, WEIGHT
from obelics_pipeline.stages.site.prior import score_in_site
from obelics_pipeline.stages.site.verdict import MEAN, ODDS, probability

MIN_DOCUMENTS = 5  # of a site, of which it can be told what repeats
MIN_SITES = 10  # of a run, of which it can be told what stands on several
MIN_SKELETONS, MIN_SENTENCES = 20, 5  # of a document that has a share: of 20 its standard error is 0.11 at most

# Column, its counts (see shares.Shares), the least count of a document that has it, and what must be large.
SHARES = (
    ("borrowed_share", "borrowed", "sentences", MIN_SENTENCES, "many"),
    ("skeleton_share", "repeated", "skeletons", MIN_SKELETONS, "large"),
    ("skeleton_share_elsewhere", "elsewhere", "skeletons", MIN_SKELETONS, "many"),
)
DIGITS = 6  # of what is written: below them processors differ
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def measured_score(config: RunConfig) -> str | None:
    """The score that the evidence is about, if the config names one and its filters measure it."""
    return config.site.score if config.site.score in score_names(config) else None


def require_score(config: RunConfig) -> None:
    """Raises UserError where a config names a score that is not measured."""
    site, measured = config.site, score_names(config)
    if site.active and site.score not in (None, SCORE, *measured):
        raise UserError(
            f"site.score: {site.score} is not measured; add it to filters.document, or name one of "
            f"{', '.join(measured)}, or null"
        )


def site_columns(
    totals: pa.Table, own: pa.Table, scores: pa.ChunkedArray | None, sites: int, config: RunConfig
) -> pa.Table:
    """The columns of `config.site.columns`, a row per document, null where nothing is known.

    `totals` are rows of TOTALS, `own` rows of OWN, `scores` the documents' own, None where the config names none.
    `sites` is how many sites there are in the run.
    """
    places = {site: place for place, site in enumerate(totals["site"].to_pylist())}
    at = np.array([places.get(site, -1) for site in own["site"].to_pylist()], np.int64)
    found = dict(_columns(totals, at, own, scores, sites, config))
    return pa.table({name: pa.array(_rounded(found[name], at), pa.float64()) for name in config.site.columns})


def _columns(
    totals: pa.Table,
    at: NDArray[np.int64],
    own: pa.Table,
    scores: pa.ChunkedArray | None,
    sites: int,
    config: RunConfig,
) -> Iterator[tuple[str, Numbers]]:
    """Values by column; NaN for a missing value, and any value for a document without a site."""
    rows = np.maximum(at, 0)

    def of(name: str) -> Numbers:
        found: Numbers = np.zeros(len(rows))
        if totals.num_rows:
            found[:] = totals[name].to_numpy()[rows]
        return found

    documents, dedup = of("documents"), config.dedup
    yield "site_documents", _known(documents, documents)
    near = _share(of("near_duplicates"), documents)
    yield "site_near_duplicate_share", near if dedup.enabled and dedup.text.enabled else _nothing(near)
    templates = _share(of("templates"), of("paragraphs"))
    counted = dedup.enabled and dedup.paragraphs.min_count is not None
    yield "site_template_share", templates if counted else _nothing(templates)
    yield "site_outbound_link_share", _share(of("outbound_links"), of("links"))
    yield "site_affiliate_link_share", _share(of("affiliate_links"), of("links"))
    days = of("last_day") - of("first_day") + 1
    yield "site_documents_per_day", _share(of("dated"), np.where(of("dated") > 1, days, 0))
    yield "site_language_mixture", _known(of("language_mixture"), documents)
    shares = _shares(own, of, documents >= MIN_DOCUMENTS, sites >= MIN_SITES)
    yield from shares.items()
    values = shares | {ODDS: _nothing(documents), MEAN: _nothing(documents)}
    yield from dict.fromkeys(config.site.score_columns, _nothing(documents)).items()
    if scores is not None:
        weights = np.stack([of(name) for name in POINT_NAMES], axis=1).astype(np.int64)
        n = weights.sum(axis=1) / WEIGHT
        mean = _share((weights @ np.arange(POINTS)).astype(np.float64), n)
        spread = np.sqrt(np.maximum(_share(of("score_squares"), n) - mean**2, 0))
        others = np.maximum(weights - np.stack([own[name].to_numpy() for name in POINT_NAMES], axis=1), 0)
        mean_name, spread_name, in_site = config.site.score_columns
        yield mean_name, mean / SCALE
        yield spread_name, spread / SCALE
        of_scores = score_in_site(_floats(scores), others, config.site)
        yield in_site, of_scores
        values |= {ODDS: of_scores, MEAN: np.where(n >= MIN_DOCUMENTS, mean / SCALE, np.nan)}
    yield "site_farm_probability", probability(values, config.site.prior)


def _shares(own: pa.Table, of: Callable[[str], Numbers], large: Flags, many: bool) -> dict[str, Numbers]:
    """Shares of each document and of its site. `large` are sites with enough documents; `many`: the run has enough."""
    found = {}
    for name, some, all_, least, known in SHARES:
        can_tell = large if known == "large" else np.full(len(large), many)
        mine = own[all_].to_numpy().astype(np.float64)
        share = _share(own[some].to_numpy().astype(np.float64), np.where(mine >= least, mine, 0))
        found[name] = np.where(can_tell, share, np.nan)
        found[f"site_{name}"] = np.where(can_tell & large, _share(of(some), of(all_)), np.nan)
    return found


def _share(some: Numbers, of: Numbers) -> Numbers:
    found: Numbers = np.full(len(of), np.nan)
    np.divide(some, of, out=found, where=of > 0)
    return found


def _known(values: Numbers, where: Numbers) -> Numbers:
    return np.where(where > 0, values, np.nan)


def _nothing(values: Numbers) -> Numbers:
    return np.full(len(values), np.nan)


def _floats(scores: pa.ChunkedArray) -> Numbers:
    return np.array([np.nan if score is None else score for score in scores.to_pylist()], np.float64)


def _rounded(values: Numbers, at: NDArray[np.int64]) -> list[float | None]:
    known = ~np.isnan(values) & (at >= 0)
    return [round(value, DIGITS) if known_ else None for value, known_ in zip(values.tolist(), known, strict=True)]
