"""A bounded number of images fetched as a run would, so that their size and cost are measured and not assumed."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.inspect.check.sampled_engine import Watch
from obelics_pipeline.stages.assumptions import Assumptions
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest


def measure_images(urls: Sequence[str], most: int, run: RunConfig, assumed: Assumptions) -> tuple[Assumptions, str]:
    """Fetch at most `most` of the URLs, evenly spread; what is assumed, with what was measured in its place.

    Also returns a line on what happened.
    """
    config, n = run.fetch, min(most, len(urls))
    chosen = [urls[i * len(urls) // n] for i in range(n)]
    if not chosen:
        return assumed, "no image URL in the sample: nothing was fetched"
    with tempfile.TemporaryDirectory(prefix="obelics-check-") as folder:
        watch = Watch()
        store = ImageStore(Path(folder) / "images")
        ingest = Ingest(config, run.image_safety, store, measures=run.images.measures)
        results = fetch_bucket(chosen, config, store, {}, Path(folder) / "journal", ingest)
        cost = watch.cost()
    sizes = [result.n_bytes or 0 for result in results if result.status == "ok"]
    measured = {
        "image_success": len(sizes) / n,
        "image_seconds": max(cost.wall * min(config.threads, n) / n, 1e-3),
        "image_cpu_seconds": cost.cpu / n,
    }
    if sizes:
        measured["image_bytes"] = sum(sizes) / len(sizes)
    why = Counter(result.reason or result.status for result in results if result.status != "ok")
    lost = ", ".join(f"{reason} {count}" for reason, count in sorted(why.items(), key=lambda item: (-item[1], item[0])))
    told = f"{n} images asked for, {len(sizes)} obtained in {cost.wall:,.0f} s" + (f" ({lost})" if lost else "")
    return assumed.model_copy(update=measured), told
