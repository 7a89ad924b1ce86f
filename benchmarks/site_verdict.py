"""Fits the weights of the verdict of the stage `site`, and shows how it does on families that it was not fitted on.

    python benchmarks/site_verdict.py RUN LABELS.jsonl.gz [--judge RUN LABELS.jsonl.gz]

RUN is a finished run with the stage `site`; LABELS has {"url", "label", "family"} a line (benchmarks/made_sites.py
writes it). A page without a label is honest, of the family `real`. The weights are those of a logistic regression, with
a penalty, on pages weighted so that farms are as frequent as `site.prior` says. A family's row is by weights that were
fitted without it; with --judge the rows are of another run, by the shipped weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.config import SiteConfig
from obelics_pipeline.core.storage import location, read_table
from obelics_pipeline.stages.site.columns import MIN_DOCUMENTS
from obelics_pipeline.stages.site.verdict import MEAN, NOTHING, ODDS, SPEAKS_FROM, WEIGHTS, evidence

BOUND = 0.5
PENALTY = 0.0001  # of the sum of squared weights
STEPS = 200

Numbers = NDArray[np.float64]
COLUMNS = {ODDS: "farm_score_in_site", MEAN: "site_farm_score_mean"}
COLUMNS |= {name: name for share in SPEAKS_FROM if share != MEAN for name in (share, f"site_{share}")}


def main() -> None:
    """Print the weights, then a row for each family."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fitted", nargs=2, metavar=("RUN", "LABELS"))
    parser.add_argument("--judge", nargs=2, metavar=("RUN", "LABELS"))
    arguments = parser.parse_args()
    pages = read_pages(*(arguments.judge or arguments.fitted))
    x, labels, families = features(pages), np.array([p["label"] for p in pages]), [p["family"] for p in pages]
    shipped = np.array([*WEIGHTS.values(), NOTHING])
    if not arguments.judge:
        fitted = fit(x, labels)
        for name, weight, ours in zip([*WEIGHTS, "nothing"], fitted, shipped, strict=True):
            print(f"{name:24} fitted {weight:6.2f}, shipped {ours:6.2f}")
    print(f"{'family':24} {'pages':>6} {'fall':>6} {'highest':>8}")
    for label, family in sorted({(p["label"], p["family"]) for p in pages}):
        of = np.array([name == family for name in families]) & (labels == label)
        weights = shipped if arguments.judge else fit(x[~of], labels[~of])
        p = 1 / (1 + np.exp(-(x[of] @ weights)))
        print(f"{('farm ' if label else 'honest ') + family:24} {of.sum():6} {(p > BOUND).mean():6.3f} {p.max():8.3f}")


def read_pages(run: str, labels: str) -> list[dict[str, Any]]:
    """What the stage wrote of each document, with its label and its family."""
    data = Path(labels).read_bytes()
    lines = (gzip.decompress(data) if labels.endswith(".gz") else data).decode().splitlines()
    known: Mapping[str, Any] = {row["url"]: row for row in map(json.loads, lines)}
    folder, found = location(run) / "site", list[dict[str, Any]]()
    for manifest in read_manifests(folder, unit_names(folder)).values():
        names = ["general_metadata", "site_documents", *COLUMNS.values()]
        for row in read_table(manifest.path(folder, "data"), names).to_pylist():
            of_url = known.get(json.loads(row["general_metadata"])["url"], {})
            label = int(of_url.get("label", 0) in (1, "farm"))
            found.append(row | {"label": label, "family": of_url.get("family", "real")})
    return found


def features(pages: Sequence[Mapping[str, Any]]) -> Numbers:
    """What each evidence says, and 1."""
    values = {
        name: np.array([np.nan if page[column] is None else page[column] for page in pages])
        for name, column in COLUMNS.items()
    }
    few = np.array([page["site_documents"] is None or page["site_documents"] < MIN_DOCUMENTS for page in pages])
    values[MEAN] = np.where(few, np.nan, values[MEAN])
    found = evidence(values, SiteConfig().prior)
    return np.stack([*(found[name] for name in WEIGHTS), np.ones(len(few))], axis=1)


def fit(x: Numbers, labels: NDArray[np.int64]) -> Numbers:
    """Weights of a logistic regression by Newton's method; none of evidence is negative."""
    prior = SiteConfig().prior
    weight = np.where(labels == 1, prior / (labels == 1).sum(), (1 - prior) / (labels == 0).sum())
    penalty = np.diag([*[PENALTY / len(WEIGHTS)] * (x.shape[1] - 1), 0.0])
    found: Numbers = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(x @ found)))
        slope = x.T @ (weight * (p - labels)) + penalty @ found
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + penalty + 1e-9 * np.eye(x.shape[1])
        found = found - np.linalg.solve(curve, slope).clip(-1, 1)
        found[:-1] = found[:-1].clip(0)
    return found


if __name__ == "__main__":
    main()
