"""Planted duplicates of every kind are found and explained, and clean documents are untouched."""

from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.commit import file_sha256
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.corpus import read_corpora
from obelics_pipeline.core.document import interleave
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.shard.validate import problems
from tests.faults.inline import Inline
from tests.stages.dedup.planted import Planted, config_of, plant, run_job, shard_documents, write_units
from tests.stages.dedup.planted_images import fetched


def run(planted: Planted, output: Path, per_unit: int, config: RunConfig) -> Job:
    extracted = write_units(planted.documents, RunFolder(output).extract, per_unit)
    return run_job(Inline(output), output, extracted, config)


def run_in_processes(planted: Planted, output: Path, per_unit: int, config: RunConfig, workers: int) -> Job:
    extracted = write_units(planted.documents, RunFolder(output).extract, per_unit)
    with LocalEngine(workers, output, 600.0, ["obelics_pipeline.jobs.stages"]) as engine:
        return run_job(engine, output, extracted, config)


def run_with_images(planted: Planted, output: Path, per_unit: int) -> Job:
    config = config_of(fetch={})
    extracted = write_units(planted.documents, RunFolder(output).extract, per_unit)
    return run_job(Inline(output), output, extracted, config, fetch=partial(fetched, planted=planted, output=output))


def check_all(planted: Planted, output: Path, job: Job, with_images: bool = False) -> None:
    """Everything that was planted became what it should, and everything else is as it was."""
    duplicates = planted.duplicates | (planted.same_bytes if with_images else {})
    images = planted.images | (planted.same_looks if with_images else {})
    rows = pq.read_table(output / "duplicates.parquet").to_pylist()
    found = {row["doc_id"]: (row["reason"], row["duplicate_of"]) for row in rows}
    assert found == duplicates
    kept = {str(value["doc_id"]): value for value in shard_documents(output)}
    by_id = {document.doc_id: document for document in planted.documents}
    assert kept.keys() == by_id.keys() - duplicates.keys()
    for doc_id, value in kept.items():
        whole = interleave(by_id[doc_id].nodes, by_id[doc_id].url)
        lost_text, lost_image = planted.paragraphs.get(doc_id), images.get(doc_id)
        texts = [t and "\n\n".join(p for p in t.split("\n\n") if p != lost_text) for t in whole.texts]
        at = [i for i, image in enumerate(whole.images) if image is None or image != lost_image]
        assert value["texts"] == [texts[i] for i in at]
        assert value["images"] == [whole.images[i] for i in at]
    documents = job.ledgers["documents"]
    reasons = Counter(reason for reason, _ in duplicates.values())
    assert (documents.entered, documents.kept, documents.dropped) == (len(by_id), len(kept), reasons)


def test_planted_duplicates_are_found_and_explained(tmp_path: Path) -> None:
    planted = plant(500)
    assert {reason for reason, _ in planted.duplicates.values()} == {
        "duplicate_url", "duplicate_text", "duplicate_image_set",
    }  # fmt: skip
    assert planted.paragraphs
    assert planted.images
    job = run(planted, tmp_path, 100, config_of())
    check_all(planted, tmp_path, job)
    assert problems(tmp_path) == []


def test_planted_images_are_told_by_their_bytes_and_their_look(tmp_path: Path) -> None:
    planted = plant(1200)
    assert planted.same_bytes
    assert planted.same_looks
    check_all(planted, tmp_path, run_with_images(planted, tmp_path, 100), with_images=True)
    assert problems(tmp_path) == []


@pytest.mark.slow
def test_verdicts_depend_neither_on_units_nor_on_buckets_nor_on_workers(tmp_path: Path) -> None:
    planted = plant(800, seed=3)
    outputs = []
    for name, per_unit, buckets, workers in (("a", 800, 1, 1), ("b", 37, 5, 2)):
        output = tmp_path / name
        config = config_of(dedup={"buckets": buckets})
        check_all(planted, output, run_in_processes(planted, output, per_unit, config, workers))
        outputs.append({path.name: file_sha256(path) for path in (output / "shards").glob("*.tar")})
    assert outputs[0] == outputs[1]


@pytest.mark.slow
def test_a_repeated_paragraph_names_the_first_document_that_has_it(tmp_path: Path) -> None:
    planted = plant(600, seed=5)
    run(planted, tmp_path, 100, config_of())
    of = {}
    for path in sorted((tmp_path / "dedup").glob("*.parquet")):
        for row in pq.read_table(path, columns=["doc_id", "nodes"]).to_pylist():
            for node in row["nodes"]:
                if node["reason"] == "repeated_paragraph":
                    of[row["doc_id"]] = (node["text"], node["duplicate_of"])
    assert of.keys() == planted.paragraphs.keys()
    for doc_id, (text, first) in of.items():
        assert planted.paragraphs[doc_id] == planted.paragraphs[first] == text


def test_added_to_a_corpus_a_crawl_becomes_what_it_is_in_one_run_over_both(tmp_path: Path) -> None:
    planted = plant(600, seed=11)
    config = config_of(dedup={"keep": "first"})
    half = 300
    both, old, new = tmp_path / "both", tmp_path / "old", tmp_path / "new"
    run(planted, both, 100, config)
    with Inline(tmp_path) as engine:
        run_job(engine, old, write_units(planted.documents[:half], RunFolder(old).extract, 100), config)
        before = tree(old)
        later = write_units(planted.documents[half:], RunFolder(new).extract, 100, label="v")
        run_job(engine, new, later, config, read_corpora([str(old)], config.dedup, {}))
    assert tree(old) == before
    in_both, in_old, in_new = (index(output) for output in (both, old, new))
    listed = set(pq.read_table(new / "against-duplicates.parquet")["doc_id"].to_pylist())
    listed |= set(pq.read_table(new / "against-changed.parquet")["doc_id"].to_pylist())
    assert in_new == {doc: sha for doc, sha in in_both.items() if doc not in in_old}
    assert {doc for doc, sha in in_old.items() if in_both.get(doc) != sha} == listed


@pytest.mark.slow
def test_a_third_crawl_is_compared_with_both_before_it(tmp_path: Path) -> None:
    planted = plant(900, seed=13)
    config = config_of(dedup={"keep": "first"})
    run(planted, tmp_path / "all", 100, config)
    parts = []
    with Inline(tmp_path) as engine:
        for number in range(3):
            output = tmp_path / str(number)
            documents = planted.documents[number * 300 : (number + 1) * 300 if number < 2 else None]
            extracted = write_units(documents, RunFolder(output).extract, 100, label=f"u{number}")
            earlier = read_corpora([str(tmp_path / str(number - 1))] if number else [], config.dedup, {})
            run_job(engine, output, extracted, config, earlier)
            parts.append(index(output))
    in_all = index(tmp_path / "all")
    assert not set(parts[2]) & (set(parts[0]) | set(parts[1]))
    assert parts[2] == {doc: sha for doc, sha in in_all.items() if doc in {d.doc_id for d in planted.documents[600:]}}


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("n", [5_000, pytest.param(100_000, marks=pytest.mark.by_hand)])
def test_planted_duplicates_among_many_documents(n: int, tmp_path: Path) -> None:
    planted = plant(n)
    check_all(planted, tmp_path, run_with_images(planted, tmp_path, n // 20), with_images=True)


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): file_sha256(path) for path in folder.rglob("*") if path.is_file()}


def index(output: Path) -> dict[str, str]:
    table = pq.read_table(output / "index.parquet", columns=["doc_id", "content_sha256"])
    return dict(zip(table["doc_id"].to_pylist(), table["content_sha256"].to_pylist(), strict=True))
