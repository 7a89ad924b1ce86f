"""The images of documents that met theirs: sizes, formats, failures by host, and what sites did not allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.config.sharding import ImageRulesConfig
from obelics_pipeline.core.document import DOCUMENT_DROPPED, IMAGE_MEASURES, PICTURE
from obelics_pipeline.inspect.report.histogram import Histogram, Mark, histogram_of
from obelics_pipeline.inspect.report.human import count
from obelics_pipeline.inspect.report.scores import most
from obelics_pipeline.inspect.report.tally import DROPPED, ELSEWHERE, KEPT, Ints, ReasonTally
from obelics_pipeline.inspect.run_tables.images import picture_measures
from obelics_pipeline.stages.fetch.image_rules import quality_reason
from obelics_pipeline.stages.fetch.reason import OPT_OUT_SUFFIX

HOSTS = 20
OPT_OUTS = ("robots_txt", "noimageai_meta", "noai_meta", "robots_unavailable", "crawl_delay_too_long")
BY_A_NUMBER = {  # what is measured -> the reasons that a rule about it gives
    "width": ("image_side", "image_ratio"),
    "height": ("image_side", "image_ratio"),
    "n_bytes": ("too_large",),
    "similarity": ("similarity",),
    "unsafe": ("unsafe_image",),
    **{name: (quality_reason(name),) for name in IMAGE_MEASURES},
}


@dataclass(frozen=True)
class Host:
    """Failures of one host, the most frequent reason first."""

    name: str
    failed: int
    images: int
    reasons: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Measured:
    """A number that was measured of images that were fetched."""

    title: str
    note: str
    histogram: Histogram | None
    median: float | None
    measured: int
    in_bytes: bool


@dataclass(frozen=True)
class Pictures:
    """Counts are of images in documents: one URL may stand in several."""

    total: int
    measured: Sequence[Measured]
    formats: Sequence[tuple[str, int]]
    opt_outs: Sequence[tuple[str, int]]
    hosts: Sequence[Host]
    failing_hosts: int


class PictureCounts:
    """Counts a run table of images at a time. Only documents that met their images are to be in it."""

    def __init__(self, rules: ImageRulesConfig) -> None:
        self._rules = rules
        self._total = 0
        self._tallies = {name: ReasonTally() for name in BY_A_NUMBER}
        self._formats, self._opt_outs = Counter[str](), Counter[str]()
        self._failures: dict[str, Counter[str]] = {}
        self._images: Counter[str] = Counter()

    def add(self, images: pa.Table) -> None:
        """Count a table."""
        self._total += images.num_rows
        kept = pc.or_kleene(images["reason"].is_null(), pc.equal(images["reason"], DOCUMENT_DROPPED))
        for name in picture_measures(images.column_names):
            self._tallies.setdefault(name, ReasonTally())
        for name, tally in self._tallies.items():
            if name not in images.column_names:
                continue
            there = images[name].is_valid()
            codes = _outcomes(kept, images["reason"], BY_A_NUMBER.get(name, (name,))).astype(np.int64)
            tally.add(images[name].filter(there).to_numpy().astype(np.float64), codes[there.to_numpy()])
        self._formats.update(_counts(images["format"]))
        reasons = images["reason"]
        refused = pc.or_kleene(pc.is_in(reasons, pa.array(OPT_OUTS)), pc.ends_with(reasons, OPT_OUT_SUFFIX))
        self._opt_outs.update(_counts(reasons.filter(refused)))
        self._images.update(_counts(images["host"]))
        failed = images.filter(images["failed"]).group_by(["host", "reason"]).aggregate([([], "count_all")])
        for host, reason, n in zip(*(failed[c].to_pylist() for c in ("host", "reason", "count_all")), strict=True):
            self._failures.setdefault(host or "", Counter())[reason or "failed"] += n

    def pictures(self) -> Pictures:
        """The counts of pictures."""
        hosts = [Host(h, sum(c.values()), self._images[h], most(c.items())) for h, c in self._failures.items()]
        hosts.sort(key=lambda host: (-host.failed, host.name))
        return Pictures(
            total=self._total,
            measured=[m for m in self._measured() if m.measured],
            formats=most(self._formats.items()),
            opt_outs=most(self._opt_outs.items()),
            hosts=hosts[:HOSTS],
            failing_hosts=len(hosts),
        )

    def _measured(self) -> list[Measured]:
        rules = self._rules
        smallest = Mark(rules.min_side, f"≥ {count(rules.min_side)}")
        told = {
            "width": ("Width, pixels", f"each side must be {count(rules.min_side)} to {count(rules.max_side)} pixels"),
            "height": ("Height, pixels", f"width by height must be {rules.min_ratio:g} to {rules.max_ratio:g}"),
            "n_bytes": ("Size of the file, bytes", ""),
            "similarity": ("Similarity to the text next to it", "a cosine from -1 to 1"),
            "unsafe": ("How likely it is unsafe", "as the classifier of image_safety says"),
            "one_colour": ("Share of the commonest colour", "nearly 1 where it is blank"),
            "qr_codes": ("QR codes", ""),
            "qr_share": ("Share of QR codes", "of its area"),
            "sharpness": ("Sharpness", "variance of the Laplacian where it is sharpest"),
            "text_share": ("Share of text", "of its area, on a plain ground"),
        }
        found = []
        for name, tally in self._tallies.items():
            title, note = told.get(
                name, (name.removeprefix(PICTURE).replace("_", " ").capitalize(), "as the model of score says")
            )
            marks = [smallest] if name in ("width", "height") else []
            drawing, median = histogram_of(tally, marks), tally.quantile(0.5)
            found.append(Measured(title, note, drawing, median, tally.total, in_bytes=name == "n_bytes"))
        return found


def _outcomes(kept: pa.ChunkedArray, reasons: pa.ChunkedArray, by_this: Sequence[str]) -> Ints:
    dropped = pc.fill_null(pc.is_in(reasons, pa.array(by_this)), False).to_numpy()
    codes: Ints = np.where(pc.fill_null(kept, False).to_numpy(), KEPT, np.where(dropped, DROPPED, ELSEWHERE))
    return codes


def _counts(values: pa.ChunkedArray) -> dict[str, int]:
    rows = pc.value_counts(values.drop_null()).to_pylist()
    return {row["values"]: row["counts"] for row in rows}
