"""The fetch stage: which images the kept documents ask for, dealt out by host, and what became of each URL."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.commit import Attempt, Manifest, committed, read_manifests, unit_names
from obelics_pipeline.config import FetchingConfig
from obelics_pipeline.dealt import Dealt
from obelics_pipeline.fetch.bucket import fetch_bucket, host_bucket
from obelics_pipeline.fetch.image_store import ImageStore
from obelics_pipeline.fetch.result import RESULT_SCHEMA, FetchResult, results_from_table, results_to_table
from obelics_pipeline.fetch.robots import Robots
from obelics_pipeline.forgotten import FORGOTTEN, Forgotten
from obelics_pipeline.ledger import Ledger
from obelics_pipeline.storage import Place, open_parquet, read_table, scratch_of
from obelics_pipeline.unit import Unit, digest

STAGE = "fetch"
# These change no result, and so are not in an id.
MANNERS = {"threads", "per_host", "host_delay_seconds", "enabled", "max_bytes_in_flight"}
NEWER = {"ai_txt", "tdm"}  # these are in an id only where they are set, so that earlier results stand

REQUESTS = pa.schema([("bucket", pa.int32()), ("partition", pa.string()), ("url", pa.string())])
HEARD = pa.schema([(name, pa.string()) for name in ("origin", "robots_txt", "ai_txt", "tdm", "day")])
ANSWERS = pa.schema([("partition", pa.string()), *RESULT_SCHEMA])


def request_units(
    documents: Sequence[Manifest], config: FetchingConfig, rules: Any, everything: bool = False
) -> list[Unit]:
    """One unit per unit of documents: which image URLs its kept documents ask for. `rules` is what decides on a URL.

    With `everything` dropped documents ask as well.
    """
    settings = [config.buckets, rules, *(["everything"] if everything else [])]
    return [
        Unit(
            "requests",
            digest(m.unit, m.files["data"]["sha256"], *settings),
            "",
            {"documents": m.unit, "everything": everything},
        )
        for m in documents
    ]


def request_unit(
    unit: Unit,
    *,
    folder: Place,
    document_folder: Place,
    buckets: int,
    url_reason: Callable[[str], str | None],
) -> Manifest:
    """Write the distinct (bucket, partition, url) of one unit of documents; what a rule refuses is not asked."""
    documents = committed(document_folder, unit.payload["documents"])
    images = _images(documents.path(document_folder, "data"), unit.payload["everything"])
    urls = sorted({url for url in images if url_reason(url) is None})
    columns = [[host_bucket(url, buckets) for url in urls], [documents.unit] * len(urls), urls]
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_arrays(columns, schema=REQUESTS), attempt.file("data", ".parquet"))
        return attempt.commit([], {"rows": {"data": len(urls)}})


def _images(path: Place, everything: bool) -> Iterator[str]:
    """The image URLs of kept documents, or of all, read from their two columns alone."""
    with open_parquet(path) as source:
        for group in range(source.num_row_groups):
            table = source.read_row_group(group, columns=["reason", "images"])
            for reason, images in zip(table["reason"].to_pylist(), table["images"].to_pylist(), strict=True):
                if reason is None or everything:
                    yield from (url for url in images if url is not None)


def fetch_units(
    requests: Dealt, folder: Place, config: FetchingConfig, retry: Sequence[str] = (), forgotten: str = ""
) -> list[dict[str, Any]]:
    """One unit (as JSON) per bucket with requests. `retry` names the reasons whose URLs are to be asked once more.

    `forgotten` is the digest of the tombstones of other corpora that are obeyed.
    """
    units = []
    for bucket, names in sorted(requests.files.items(), key=lambda item: int(item[0])):
        rows = _request_rows([requests.folder / name for name in names])
        asked = hashlib.sha256("\n".join(f"{partition} {url}" for partition, url in rows).encode()).hexdigest()
        earlier = list(earlier_results(folder, int(bucket), config))
        generation = max((g for g, _ in earlier), default=0)
        known = [result for _, path in earlier if retry for result in results_from_table(read_table(path))]
        if any(_retried(result, retry) for result in known):
            generation += 1
        units.append(
            {
                "bucket": int(bucket),
                "identity": identity(config),
                "generation": generation,
                "retry": sorted(retry),
                "asked": asked,
                "requests": list(names),
                **({"forgotten": forgotten} if forgotten else {}),
            }
        )
    return units


def identity(config: FetchingConfig) -> str:
    """What a result depends on, beside its URL."""
    newer = {name for name in NEWER if getattr(config, name) == type(config).model_fields[name].default}
    return digest(config.model_dump(mode="json", exclude=MANNERS | newer))


def fetch_unit_of(value: dict[str, Any]) -> Unit:
    """The unit of one bucket from its planned values."""
    known = [{"forgotten": value["forgotten"]}] if "forgotten" in value else []
    id_ = digest(value["identity"], value["asked"], value["generation"], *known)
    return Unit(STAGE, id_, f"bucket-{value['bucket']:04d}", value)


def fetch_unit(
    unit: Unit,
    *,
    folder: Place,
    request_folder: Place,
    images: Place,
    config: FetchingConfig,
    forgotten: Forgotten | None = None,
) -> Manifest:
    """Fetch the URLs of one bucket, each once; what an earlier unit of the bucket found is not asked again."""
    rows = _request_rows([request_folder / name for name in unit.payload["requests"]])
    urls = sorted({url for _, url in rows})
    previous = _previous(folder, unit, config)
    if forgotten is not None:
        previous = {url: _less_forgotten(result, forgotten) for url, result in previous.items()}
    journal = scratch_of(folder) / "journal" / f"{unit.name}.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    heard: dict[str, Robots] = {}
    results = fetch_bucket(urls, config, ImageStore(images), previous, journal, heard, forgotten)
    with Attempt(folder, unit) as attempt:
        pq.write_table(results_to_table(results), attempt.file("data", ".parquet"))
        pq.write_table(_answers(rows, results), attempt.file("answers", ".parquet"))
        if config.ai_txt or config.tdm != "ignore":
            pq.write_table(_heard(heard), attempt.file("heard", ".parquet"))
        notes = {key: unit.payload[key] for key in ("bucket", "identity", "generation")}
        manifest = attempt.commit([ledger_of_results(results)], notes)
    journal.unlink(missing_ok=True)
    return manifest


def _request_rows(paths: Sequence[Place]) -> list[tuple[str, str]]:
    """(partition, url) of a bucket, in a fixed order."""
    rows: list[tuple[str, str]] = []
    for path in paths:
        table = read_table(path, ["partition", "url"])
        rows += zip(table["partition"].to_pylist(), table["url"].to_pylist(), strict=True)
    return sorted(rows)


def earlier_results(folder: Place, bucket: int, config: FetchingConfig) -> Iterator[tuple[int, Place]]:
    """(generation, file) of every committed unit of a bucket that was fetched under the same config, oldest first."""
    found = []
    for manifest in read_manifests(folder, unit_names(folder, f"bucket-{bucket:04d}")).values():
        if manifest.notes["identity"] == identity(config):
            found.append((manifest.notes["generation"], manifest.unit, manifest.path(folder, "data")))
    return ((generation, path) for generation, _, path in sorted(found, key=lambda item: item[:2]))


def _previous(folder: Place, unit: Unit, config: FetchingConfig) -> dict[str, FetchResult]:
    known: dict[str, FetchResult] = {}
    for generation, path in earlier_results(folder, unit.payload["bucket"], config):
        for result in results_from_table(read_table(path)):
            asked_again = generation < unit.payload["generation"] and _retried(result, unit.payload["retry"])
            if not asked_again:
                known[result.url] = result
            elif result.url in known and _retried(known[result.url], unit.payload["retry"]):
                del known[result.url]
    return known


def _less_forgotten(result: FetchResult, forgotten: Forgotten) -> FetchResult:
    """What an earlier unit found, as it is to be taken now."""
    gone = forgotten.url(result.url) or (result.sha256 is not None and forgotten.sha256(result.sha256))
    return FetchResult.without_image(result.url, FORGOTTEN) if gone else result


def _retried(result: FetchResult, reasons: Sequence[str]) -> bool:
    """Whether a result is one that `--retry-failed` names; `retryable` names all that may pass."""
    return result.status == "failed" and (result.reason in reasons or ("retryable" in reasons and result.retryable))


def _answers(rows: Sequence[tuple[str, str]], results: Sequence[FetchResult]) -> pa.Table:
    """The results once per partition that asked."""
    at = {result.url: i for i, result in enumerate(results)}
    answers = results_to_table(results).take(pa.array([at[url] for _, url in rows], pa.int64()))
    partitions = pa.array([partition for partition, _ in rows], pa.string())
    return answers.add_column(0, "partition", partitions).cast(ANSWERS)


def _heard(origins: Mapping[str, Robots]) -> pa.Table:
    """What the origins that were asked now said, with the day (UTC): the one thing here that a clock says."""
    day = datetime.now(UTC).date().isoformat()
    rows = [
        {
            "origin": origin,
            "robots_txt": said.refusal or ("rules" if said.rules is not None else "none"),
            "ai_txt": "rules" if said.ai is not None else "none",
            "tdm": "rules" if said.tdm else "none",
            "day": day,
        }
        for origin, said in sorted(origins.items())
    ]
    return pa.Table.from_pylist(rows, HEARD)


def ledger_of_results(results: Sequence[FetchResult]) -> Ledger:
    """What became of image URLs, counted."""
    ledger = Ledger("urls")
    for result in results:
        if result.status == "ok":
            ledger.keep()
        elif result.status == "dropped":
            ledger.drop(result.reason or "dropped")
        else:
            ledger.fail(result.reason or "failed")
    return ledger
