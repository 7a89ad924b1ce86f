"""Our transforms in pipelines: what they give does not depend on how Beam cuts, orders or batches."""

import hashlib
import importlib.util
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from obelics_pipeline.beam_jobs.counters import counters_of
from obelics_pipeline.beam_jobs.deduplicate_text import DeduplicateText
from obelics_pipeline.beam_jobs.elements import from_bytes, to_bytes
from obelics_pipeline.beam_jobs.extract_documents import ExtractDocuments
from obelics_pipeline.beam_jobs.fetch_images import FetchImages
from obelics_pipeline.beam_jobs.options import local_options
from obelics_pipeline.beam_jobs.score_documents import ScoreDocuments
from obelics_pipeline.beam_jobs.write_shards import WriteShards
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.demo.run import proxied
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.shard.validate import validate
from tests.beam_jobs.work import CountWords, load_count_words
from tests.stages.shard.runs import SCORES, SIZES, document, picture

EXAMPLE = Path(__file__).parents[2] / "examples" / "beam_pipeline.py"


def through(transform: beam.PTransform[Any, Any], documents: Sequence[Document], folder: Path) -> list[Document]:
    """What a transform gives for documents, sorted by id."""
    folder.mkdir(parents=True, exist_ok=True)
    with beam.Pipeline(options=PipelineOptions(local_options(1))) as pipeline:
        (
            pipeline
            | beam.Create(list(documents))
            | transform
            | beam.Map(lambda d: to_bytes(d).hex())
            | beam.io.WriteToText(str(folder / "found"), shard_name_template="")
        )
    found = [from_bytes(bytes.fromhex(line)) for line in (folder / "found").read_text().splitlines()]
    return sorted(found, key=lambda d: d.doc_id)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    store = ImageStore(tmp_path / "images")
    for format_ in SIZES:
        for number in range(16):
            store.put(picture(format_, number))
    return tmp_path / "images"


def shards(folder: Path) -> dict[str, str]:
    files = [*folder.glob("shards/*.tar"), folder / "index.parquet", folder / "manifest.json"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write(documents: Sequence[Document], output: Path, images: Path, config: RunConfig) -> None:
    with beam.Pipeline(options=PipelineOptions(local_options(1))) as pipeline:
        pipeline | beam.Create(list(documents)) | WriteShards(output, config, images, SCORES)


CONFIG = RunConfig.model_validate({"shard": {"target_bytes": 40_000}, "filters": {"document": {}}})


def test_shards_do_not_depend_on_the_order_of_arrival_and_are_valid(images: Path, tmp_path: Path) -> None:
    documents = [document(number) for number in range(40)]
    documents += [replace(document(number), reason="shouting") for number in range(40, 45)]
    write(documents, tmp_path / "one", images, CONFIG)
    random.Random(5).shuffle(documents)
    write(documents, tmp_path / "two", images, CONFIG)
    assert shards(tmp_path / "one") == shards(tmp_path / "two")
    manifest = read_manifest(tmp_path / "one")
    assert len(manifest.shards) > 5
    assert manifest.ledgers["documents"].to_json() == {"in": 45, "kept": 40, "dropped": {"shouting": 5}, "failed": {}}
    assert validate(tmp_path / "one").problems == ()
    assert not (tmp_path / "one" / "index-parts").exists()


def test_an_index_in_parts_has_the_rows_of_one_file(images: Path, tmp_path: Path) -> None:
    cut = CONFIG.model_copy(update={"shard": CONFIG.shard.model_copy(update={"index_rows": 8})})
    documents = [document(number) for number in range(20)]
    for config, name in ((CONFIG, "one"), (cut, "parts"), (CONFIG, "parts"), (cut, "parts")):
        write(documents, tmp_path / name, images, config)
        assert validate(tmp_path / name).problems == ()
        names = [part.name for part in read_manifest(tmp_path / name).index]
        assert sorted(path.name for path in (tmp_path / name).glob("index*.parquet")) == names
    parts = sorted((tmp_path / "parts").glob("index-*.parquet"))
    assert len(parts) > 2
    assert pa.concat_tables(map(pq.read_table, parts)).equals(pq.read_table(tmp_path / "one" / "index.parquet"))


def test_shards_in_open_flamingos_form_are_valid(images: Path, tmp_path: Path) -> None:
    form = CONFIG.shard.model_copy(update={"format": "open_flamingo"})
    write([document(number) for number in range(9)], tmp_path, images, CONFIG.model_copy(update={"shard": form}))
    assert read_manifest(tmp_path).promises.format == "open_flamingo"
    assert validate(tmp_path).problems == ()


def test_shards_written_anew_leave_nothing_of_the_old(images: Path, tmp_path: Path) -> None:
    write([document(number) for number in range(20)], tmp_path / "out", images, CONFIG)
    write([document(number) for number in range(3)], tmp_path / "out", images, CONFIG)
    write([document(number) for number in range(3)], tmp_path / "new", images, CONFIG)
    assert shards(tmp_path / "out") == shards(tmp_path / "new")


def test_no_document_makes_a_finished_run_without_shards(images: Path, tmp_path: Path) -> None:
    write([replace(document(1), reason="shouting")], tmp_path / "out", images, CONFIG)
    assert read_manifest(tmp_path / "out").counts()["documents"] == 0
    assert validate(tmp_path / "out").problems == ()


def test_a_document_that_comes_twice_is_refused(images: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="came 2 times"):
        write([document(1), document(1)], tmp_path / "out", images, CONFIG)


def words(seed: int, n: int = 80) -> list[str]:
    chance = random.Random(seed)
    return [f"w{chance.randrange(5000)}" for _ in range(n)]


def page(number: int, text: Sequence[str], date: str = "2026-01-01T00:00:00Z") -> Document:
    return replace(document(number, [TextNode(" ".join(text))]), general={"warc_date": date})


def test_of_near_duplicates_the_first_is_kept_and_the_others_say_so(tmp_path: Path) -> None:
    same = words(1, 300)
    nearly = [*same[:299], "other"]
    documents = [page(number, words(100 + number)) for number in range(20)]
    documents += [page(50, same), page(51, nearly, "2026-02-02T00:00:00Z"), page(52, same)]
    documents += [replace(page(49, same), reason="word_count")]
    for keep, kept in (("first", 50), ("newest", 51)):
        config = RunConfig.model_validate({"dedup": {"keep": keep}})
        random.Random(3).shuffle(documents)
        found = {d.warc_record_offset: d for d in through(DeduplicateText(config), documents, tmp_path / keep)}
        assert len(found) == len(documents)
        dropped = {n: d for n, d in found.items() if d.reason == "duplicate_text"}
        assert sorted(dropped) == sorted({50, 51, 52} - {kept})
        assert {d.general["duplicate_of"] for d in dropped.values()} == {found[kept].doc_id}
        assert found[49].reason == "word_count"


def test_scores_do_not_depend_on_beams_batches(tmp_path: Path) -> None:
    documents = [document(number) for number in range(30)] + [replace(document(99), reason="shouting")]
    found = through(ScoreDocuments(load_count_words, RunConfig()), documents, tmp_path)
    kept = [d for d in documents if d.reason is None]
    expected = {d.doc_id: s for d, s in zip(kept, CountWords().score(kept), strict=True)}
    assert len(found) == 31
    for scored in found:
        for name, value in expected.get(scored.doc_id, {}).items():
            assert scored.scores[name] == value
    assert "together" not in next(d for d in found if d.reason).scores


def example() -> Callable[[Sequence[str]], None]:
    spec = importlib.util.spec_from_file_location("beam_pipeline", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    main: Callable[[Sequence[str]], None] = module.main
    return main


@pytest.mark.slow
def test_the_example_gives_valid_shards_and_the_same_ones_however_it_is_cut(
    warcs: list[Path], proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_grpc_proxy", "localhost")
    sets = ["fetch.retries=0", "fetch.timeout_seconds=20", "shard.target_bytes=400000"]
    common = ["--input", *map(str, warcs), *(x for s in sets for x in ("--set", s))]
    cuts: Mapping[str, list[str]] = {
        "memory": ["--set", "reading.unit_bytes=30000", *local_options(1)],
        "processes": ["--set", "reading.unit_bytes=50000", "--set", "fetch.buckets=3", *local_options(2)],
    }
    with proxied(proxy):
        for name, options in cuts.items():
            example()([*common, "--output", str(tmp_path / name), *options])
    assert validate(tmp_path / "memory").problems == ()
    assert read_manifest(tmp_path / "memory").counts()["documents"] > 50
    assert shards(tmp_path / "memory") == shards(tmp_path / "processes")


@pytest.mark.slow
def test_three_transforms_count_what_the_main_job_counts(warcs: list[Path], proxy: str, tmp_path: Path) -> None:
    from obelics_pipeline.jobs.main_job import run

    sets = ["fetch.retries=0", "dedup.enabled=false", "site.document={}"]  # no transform looks at whole sites
    with proxied(proxy):
        assert run("default", [str(path) for path in warcs], tmp_path / "run", 2, sets) == 0
        config = load_config("default", sets)
        pipeline = beam.Pipeline(options=PipelineOptions(local_options(1)))
        (
            pipeline
            | beam.Create([str(path) for path in warcs])
            | ExtractDocuments(config)
            | FetchImages(config, tmp_path / "images")
            | WriteShards(tmp_path / "beam", config, tmp_path / "images")
        )
        result = pipeline.run()
        result.wait_until_finish()
    job, beams = read_manifest(tmp_path / "run"), read_manifest(tmp_path / "beam")
    assert beams.ledgers["documents"] == job.ledgers["documents"]
    assert beams.counts() == job.counts()
    assert shards(tmp_path / "beam")["index.parquet"] == shards(tmp_path / "run")["index.parquet"]
    counters = counters_of(result)
    records = job.ledgers["records"]
    assert counters["records_kept"] == records.kept
    assert sum(n for name, n in counters.items() if name.startswith("records_")) == records.entered
