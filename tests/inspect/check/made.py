"""A made sample: two units whose numbers are easily reckoned."""

from collections import Counter

from obelics_pipeline.inspect.check.estimate import Plan
from obelics_pipeline.inspect.check.meter import Traffic
from obelics_pipeline.inspect.check.sample import Part, Sample
from obelics_pipeline.inspect.check.sampled_engine import DRIVER, REDUCE, SHUFFLE, UNIT, Cost, Step


def cost(seconds: float, puts: int = 0, gets: int = 0, read: int = 0, written: int = 0) -> Cost:
    return Cost(seconds, seconds, 100 * 2**20, Traffic(puts, gets, read, written))


def part(label: str, weight: int, documents: int, kind: str = "warc") -> Part:
    counts = {"records": 3 * documents, "pages": documents, "documents_read": documents, "documents": documents}
    return Part(label, kind, weight, counts)


def sample() -> Sample:
    parts = [part("a", 100, 10), part("b", 100, 30)]
    steps = [
        Step("extract", UNIT, "extract", "a", cost(1, puts=2, gets=1, written=1000)),
        Step("extract", UNIT, "extract", "b", cost(3, puts=2, gets=1, written=3000)),
        Step("extract", DRIVER, "driver", "", cost(0.5, gets=2)),
        Step("dedup", UNIT, "candidates", "a", cost(1, puts=1)),
        Step("dedup", UNIT, "candidates", "b", cost(1, puts=1)),
        Step("dedup", REDUCE, "bucket", "", cost(4, puts=3, gets=3)),
        Step("dedup", SHUFFLE, "bucket", "", cost(2, gets=2, read=400, written=400)),
        Step("dedup", REDUCE, "partition", "", cost(0, puts=1)),
        Step("dedup", REDUCE, "partition", "", cost(0, puts=1)),
        Step("dedup", SHUFFLE, "partition", "", cost(1, gets=1)),
    ]
    whole = Counter(
        {"documents": 40, "pages": 40, "records": 120, "after_dedup": 36, "in_shards": 32, "images_in_shards": 64}
    )
    whole.update({"shard_bytes": 32_000, "candidates_rows": 400, "uses_rows": 800})
    urls = [f"http://host{i % 4}.example/{i}.jpg" for i in range(60)]
    return Sample(parts, steps, whole, urls, Counter({f"host{i}.example": 15 for i in range(4)}), asked=2)


def plan(units: int = 2, weight: int = 200, workers: int = 1, engine: str = "local", store: bool = False) -> Plan:
    return Plan(units, {"warc": weight}, workers, engine, store, remote_input=False)  # type: ignore[arg-type]
