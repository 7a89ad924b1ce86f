"""The fetch stage: which images the kept documents ask for, dealt out by host, and the result of each URL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import (
    LEFT,
    Attempt,
    Manifest,
    manifest_path,
    read_manifest,
    read_manifests,
    unit_names,
)
from obelics_pipeline.core.config import FetchingConfig, ImageSafetyConfig
from obelics_pipeline.core.config.image_safety import MetadataPolicy
from obelics_pipeline.core.document import CARRIED
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import Location, open_parquet, read_table, remove
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.policy.forgotten import FORGOTTEN, Forgotten
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.carried import RowImages
from obelics_pipeline.stages.fetch.host_times import HostTimes
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.journal import Journal, journal_of
from obelics_pipeline.stages.fetch.left import left_of
from obelics_pipeline.stages.fetch.quality import measure
from obelics_pipeline.stages.fetch.reason import FACES
from obelics_pipeline.stages.fetch.requests import request_rows
from obelics_pipeline.stages.fetch.result import (
    ANSWER_SCHEMA,
    PLACE_SCHEMA,
    FetchResult,
    measure_fields,
    results_from_table,
    results_to_table,
)
from obelics_pipeline.stages.fetch.robots_observations import Observation, observation_table
from obelics_pipeline.stages.fetch.rounds import ROUND_OF, is_round, rounds_of
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.fetch.sources.held import TAKEN, HeldImages, Sources, told_of
from obelics_pipeline.stages.fetch.unit_images import UnitImages, staging_of

STAGE = "fetch"
# These change no result, and so are not in an id.
MANNERS = {"threads", "per_host", "host_delay_seconds", "enabled", "max_bytes_in_flight", "unit_seconds"}
OF_SOURCES = {"sources", "source_images"}  # in an id by what the sources offer to a bucket
NEWER = {"ai_txt", "tdm", "ports"}  # these are in an id only where they are set, so that earlier results stand

POINTER = ("url", "warc_filename", "warc_record_offset", "warc_record_length")  # of a document, in a report
LAYOUT = "packs"  # of what a unit writes: in its id, as answers of units are dealt out together and need equal columns
Treated = dict[str, str]  # see `treated_as`

ANSWERS = pa.schema([("partition", pa.string()), *ANSWER_SCHEMA, *PLACE_SCHEMA])


def fetch_units(
    requests: Partitions,
    folder: Location,
    config: FetchingConfig,
    names: Mapping[str, Sequence[str]],
    retry: Sequence[str] = (),
    treated: Treated | None = None,
    forgotten: str = "",
    sources: Sources | None = None,
) -> list[dict[str, Any]]:
    """One unit (as JSON) per bucket of `deal_requests`. `names` are those of the committed units, by label.

    `retry` names the reasons whose URLs are to be asked once more. `treated` says what is done with images before they
    are stored. Where earlier units did otherwise there is a new generation: what they stored is looked at again, and
    only asked for again where that is not enough. `forgotten` is the digest of the tombstones of other corpora that
    are obeyed. Rounds of a unit that is not done make no new generation: it goes on. `sources` may have images.
    """
    units = []
    for bucket, files in sorted(requests.files.items(), key=lambda item: int(item[0])):
        found = _earlier(folder, names.get(label_of(int(bucket)), ()), config)
        earlier = [manifest for manifest in found if not is_round(manifest)]
        generation = max((m.notes["generation"] for m in earlier), default=0)
        known = [r for m in earlier if retry for r in results_from_table(read_table(m.path(folder, "data")))]
        if any(_retried(result, retry) for result in known) or (earlier and _treated(earlier[-1]) != (treated or {})):
            generation += 1
        units.append(
            {
                "bucket": int(bucket),
                "identity": identity(config),
                "generation": generation,
                "retry": sorted(retry),
                "asked": requests.digest(bucket),
                "requests": list(files),
                **({"treated": treated} if treated else {}),
                **({"forgotten": forgotten} if forgotten else {}),
                **(sources.of_bucket(bucket) if sources is not None else {}),
            }
        )
    return units


def identity(config: FetchingConfig) -> str:
    """A digest of the settings that a result depends on, beside its URL."""
    newer = {name for name in NEWER if getattr(config, name) == type(config).model_fields[name].default}
    return digest(config.model_dump(mode="json", exclude=MANNERS | OF_SOURCES | newer))


def plan_name(
    requests: Mapping[str, str], config: FetchingConfig, treated: Treated, forgotten: str, sources: str = ""
) -> str:
    """The file of a fetch's plan: it begins with `plan_stem`, and ends with what is done with images, if anything."""
    more = [value for value in (treated, forgotten, sources) if value]
    return plan_stem(requests, config) + (f"-{digest(*more)}" if more else "") + ".json"


def plan_stem(requests: Mapping[str, str], config: FetchingConfig) -> str:
    """The prefix of the names of all plans for the same requests. `requests` are the digests of the groups."""
    return digest(requests, identity(config))


def treated_as(safety: ImageSafetyConfig, lists: str, measures: Sequence[str] = ()) -> Treated:
    """What is done with images before they are stored, empty where nothing is; `lists` is the hash lists' identity.

    `measures` are those of their pixels. Their code counts: other code measures again what is stored.
    """
    named = {"lists": lists, "metadata": "" if safety.metadata == "keep" else safety.metadata, "faces": safety.faces}
    if measures:
        named["measures"] = f"{' '.join(measures)} {code_of(measure.__name__)}"
    return {name: value for name, value in named.items() if value}


def _treated(manifest: Manifest) -> Treated:
    found: Treated = manifest.notes.get("treated", {})
    return found


def fetch_unit_of(value: dict[str, Any], names: Mapping[str, Sequence[str]]) -> Unit:
    """The unit of one bucket from its planned values. `names` are those of the committed units, by label."""
    label = label_of(value["bucket"])
    known = [{"forgotten": value["forgotten"]}] if "forgotten" in value else []
    treated = [value["treated"]] if value.get("treated") else []
    offered = [{"offered": value["offered"]}] if "offered" in value else []
    id_ = digest(value["identity"], value["asked"], value["generation"], LAYOUT, *treated, *known, *offered)
    return Unit(STAGE, id_, label, value | {"earlier": list(names.get(label, ()))})


def label_of(bucket: int) -> str:
    """The label of the units of a bucket."""
    return f"bucket-{bucket:04d}"


def fetch_unit(
    unit: Unit,
    *,
    folder: Location,
    request_folder: Location,
    images: Location,
    config: FetchingConfig,
    safety: ImageSafetyConfig | None = None,
    document_folders: Sequence[Location] = (),
    forgotten: Forgotten | None = None,
    measures: Sequence[str] = (),
    rows_with_images: RowImages | None = None,
    sources: Sources | None = None,
) -> Manifest:
    """Fetch the URLs of one bucket, each once; what an earlier unit or round of the bucket found is not asked again.

    Returns the manifest of the unit, or that of a round of it where `config.unit_seconds` are over before all URLs have
    a result: the next call goes on from there. `document_folders` are those of the units that ask: a match of a hash
    list is reported with its documents. `measures` are taken of the pixels, a column each. What `sources` have is taken
    from there.
    """
    until = Deadline(config.unit_seconds)
    rows = request_rows([request_folder / name for name in unit.payload["requests"]])
    urls = sorted({url for _, url in rows})
    treated: Treated = unit.payload.get("treated", {})
    store = UnitImages(images, staging_of(folder) / unit.name)
    known = _earlier(folder, unit.payload["earlier"], config)
    rounds = rounds_of(folder, unit, known)
    own = {m.unit for m in rounds.committed}
    earlier = [m for m in known if m.unit not in own]
    offered = unit.payload.get("files", ())
    held = sources.held(offered, urls) if sources is not None and offered else None
    previous, again = _previous(folder, unit, [*earlier, *rounds.committed], treated, held)
    settled = {url: result for url, result in previous.items() if url not in again}
    left = left_of(folder, [unit, *rounds.free], RunImages(images))
    previous, again = previous | left.results, again - left.results.keys()
    if forgotten is not None:
        previous = {url: _less_forgotten(result, forgotten) for url, result in previous.items()}
        again -= {url for url, result in previous.items() if result.sha256 is None}
    store.know(previous.values())
    documents = partial(documents_with, rows=rows, folders=document_folders)
    lists = treated.get("lists", "")
    ingest = Ingest(config, safety or ImageSafetyConfig(), store, lists, documents, forgotten, measures)
    journal = journal_of(folder, unit.name)
    carried = None if rows_with_images is None else partial(rows_with_images.read, rows)
    times, take = HostTimes(), None if held is None else held.take
    fetched = fetch_bucket(urls, config, store, previous, journal, ingest, again, carried, take, until, times)
    results = store.pack(fetched, unit.label, left.lost)
    noted, refused = Journal(journal).observations(), Journal(journal).refused()
    said = [*(row for row in left.observations if row not in noted), *noted]
    replaced: list[Manifest] = []
    notes = {key: unit.payload[key] for key in ("bucket", "identity", "generation")}
    notes |= {"treated": treated} if treated else {}
    if len(results) < len(urls):
        notes |= {ROUND_OF: unit.name, LEFT: len(urls) - len(results)}
        new = [result for result in results if result != settled.get(result.url)]
        notes |= {TAKEN: told_of(new, refused)} if held is not None else {}
        manifest = _commit(folder, rounds.next, new, measures, said, notes)
    else:
        superseded = [m for m in earlier if m.unit != unit.name]
        if all(_treated(m) == treated for m in superseded):
            superseded = []
        notes |= {"superseded": len(superseded)} if superseded else {}
        before = [m.notes[TAKEN] for m in rounds.committed if TAKEN in m.notes]
        notes |= {TAKEN: told_of(results, refused, before)} if held is not None else {}
        replaced = [*superseded, *rounds.committed]
        said = [*_observed_before(folder, replaced), *said]
        manifest = _commit(folder, unit, results, measures, said, notes, rows)
    journal.unlink(missing_ok=True)
    store.clear()
    left.clear(manifest, folder)
    _supersede(folder, replaced)
    return replace(manifest, told=times.told())


def _commit(
    folder: Location,
    unit: Unit,
    results: Sequence[FetchResult],
    measures: Sequence[str],
    said: Sequence[Observation],
    notes: dict[str, Any],
    rows: Sequence[tuple[str, str]] | None = None,
) -> Manifest:
    """Commit results and what origins said, the newest last; and answers, where the `rows` that ask are given."""
    with Attempt(folder, unit) as attempt:
        pq.write_table(results_to_table(results, measures), attempt.file("data", ".parquet"))
        if rows is not None:
            pq.write_table(_answers(rows, results, measures), attempt.file("answers", ".parquet"))
        pq.write_table(observation_table(said), attempt.file("robots", ".parquet"))
        return attempt.commit([ledger_of_results(results)], notes)


def documents_with(url: str, *, rows: Sequence[tuple[str, str]], folders: Sequence[Location]) -> list[dict[str, Any]]:
    """Which documents have the image of a URL: id, page and WARC record of each; `rows` say which units ask for it."""
    found = []
    for unit in sorted({partition for partition, asked in rows if asked == url}):
        for folder in folders:
            manifest = read_manifest(folder, unit)
            if manifest is not None:
                for row in _owners(manifest.path(folder, "data")):
                    if url in row["images"] or any(url == f"{CARRIED}{node['sha256']}" for node in row["nodes"]):
                        about = json.loads(row["general_metadata"])
                        found.append({"doc_id": row["doc_id"], **{name: about.get(name) for name in POINTER}})
                break
    return found


def _owners(path: Location) -> Iterator[dict[str, Any]]:
    """What tells of each document of a file which images it has, and which one it is."""
    names = ["doc_id", "images", "general_metadata", "nodes.list.element.sha256"]
    with open_parquet(path) as source:
        for group in range(source.num_row_groups):
            yield from source.read_row_group(group, columns=names).to_pylist()


def _supersede(folder: Location, earlier: Sequence[Manifest]) -> None:
    """Remove earlier units of a bucket: they name images that are, or must be, removed from the store."""
    for manifest in earlier:
        remove([manifest_path(folder, manifest.unit)])
        remove(folder / file["name"] for file in manifest.files.values())


def earlier_results(folder: Location, bucket: int, config: FetchingConfig) -> Iterator[tuple[int, Location]]:
    """(generation, file) of every committed unit of a bucket that was fetched under the same config, oldest first."""
    earlier = _earlier(folder, unit_names(folder, label_of(bucket)), config)
    return ((m.notes["generation"], m.path(folder, "data")) for m in earlier)


def _earlier(folder: Location, names: Sequence[str], config: FetchingConfig) -> list[Manifest]:
    """The committed units of one bucket, which `names` names, that were fetched under the same config, oldest first."""
    found = read_manifests(folder, names).values()
    same = [manifest for manifest in found if manifest.notes["identity"] == identity(config)]
    return sorted(same, key=lambda manifest: (manifest.notes["generation"], manifest.unit))


def _previous(
    folder: Location, unit: Unit, earlier: Sequence[Manifest], treated: Treated, held: HeldImages | None
) -> tuple[dict[str, FetchResult], set[str]]:
    """The results of earlier units, and the URLs whose images were stored under other rules."""
    known: dict[str, tuple[FetchResult, Treated]] = {}
    for manifest in earlier:
        own = manifest.notes.get(ROUND_OF) == unit.name  # it knew the same sources
        for result in results_from_table(read_table(manifest.path(folder, "data"))):
            if not (own or _still_holds(result, held)):
                continue
            older = manifest.notes["generation"] < unit.payload["generation"]
            if not (older and _retried(result, unit.payload["retry"])):
                known[result.url] = result, _treated(manifest)
            elif result.url in known and _retried(known[result.url][0], unit.payload["retry"]):
                del known[result.url]
    usable = {url: result for url, (result, how) in known.items() if _is_enough(result, how, treated)}
    return usable, {url for url, result in usable.items() if result.sha256 is not None and known[url][1] != treated}


def _is_enough(result: FetchResult, how: Treated, wanted: Treated) -> bool:
    """Whether what was stored, or was refused, can be made what is wanted: what was taken out is gone."""
    if result.status != "ok":
        return result.reason not in (FACES, "faces_failed") or how.get("faces") == wanted.get("faces")
    if how.get("faces") != wanted.get("faces"):
        return False
    order = ["", *get_args(MetadataPolicy)[1:]]
    less = order.index(how.get("metadata", "")) <= order.index(wanted.get("metadata", ""))
    return less or result.received_sha256 is None


def _less_forgotten(result: FetchResult, forgotten: Forgotten) -> FetchResult:
    """The result of an earlier unit, less what was forgotten since."""
    hashes = (result.sha256, result.received_sha256)
    gone = forgotten.url(result.url) or any(forgotten.sha256(sha256) for sha256 in hashes if sha256 is not None)
    return FetchResult.without_image(result.url, FORGOTTEN) if gone else result


def _still_holds(result: FetchResult, held: HeldImages | None) -> bool:
    """Whether the result of an earlier unit is one of this unit's sources, or fetched and not held by these."""
    return result.source is None if held is None else held.stands(result)


def _retried(result: FetchResult, reasons: Sequence[str]) -> bool:
    """Whether a result is one that `--retry-failed` names; `retryable` names all that may pass."""
    return result.status == "failed" and (result.reason in reasons or ("retryable" in reasons and result.retryable))


def _answers(rows: Sequence[tuple[str, str]], results: Sequence[FetchResult], measures: Sequence[str]) -> pa.Table:
    """The results once per partition that asked."""
    at = {result.url: i for i, result in enumerate(results)}
    schema = pa.schema([*ANSWERS, *measure_fields(measures)])
    answers = results_to_table(results, measures).take(pa.array([at[url] for _, url in rows], pa.int64()))
    partitions = pa.array([partition for partition, _ in rows], pa.string())
    return answers.add_column(0, "partition", partitions).select(schema.names).cast(schema)


def _observed_before(folder: Location, earlier: Sequence[Manifest]) -> list[Observation]:
    """Observations of units that are about to be removed, the newest last. They are kept as a record."""
    files = [manifest.path(folder, "robots") for manifest in earlier if "robots" in manifest.files]
    return [row for file in files for row in read_table(file).to_pylist()]


def ledger_of_results(results: Sequence[FetchResult]) -> Ledger:
    """A ledger of image URLs, from their results."""
    ledger = Ledger("urls")
    for result in results:
        if result.status == "ok":
            ledger.keep()
        elif result.status == "dropped":
            ledger.drop(result.reason or "dropped")
        else:
            ledger.fail(result.reason or "failed")
    return ledger
