"""The global steps in their order: what they remember is what they depend on, and nothing of another config stays."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.corpus import Corpus
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import total
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.engines.shuffle import ShuffleInput
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.stages.dedup import deduplication
from obelics_pipeline.stages.dedup.apply import lack
from obelics_pipeline.stages.dedup.components import edges_by_bucket
from obelics_pipeline.stages.dedup.deduplication import Deduplication, compares
from tests.faults.inline import Inline
from tests.faults.runs import events
from tests.stages.dedup.planted import CAPTURES, Maker, config_of, write_units
from tests.stages.dedup.tables import doc, edge_table

TEXT = {"permutations": 64, "bands": 8, "rows": 8}
BASE: dict[str, object] = {"buckets": 2, "text": TEXT}


@contextmanager
def deduplication_in(output: Path, earlier: Sequence[Corpus] = (), **sections: object) -> Iterator[Deduplication]:
    log = EventLog(output / "events.jsonl")
    runner = StageRunner(Inline(output), log, Display(Console(quiet=True)), ["dedup", "dedup-images", "shard"])
    config = DedupConfig.model_validate(BASE | sections)
    yield Deduplication(RunFolder(output), config, runner, earlier)
    log.close()


def planted_units(output: Path) -> list[Manifest]:
    """Two extracted units with every kind of duplicate across them."""
    maker = Maker(3)
    maker.captures(CAPTURES)
    maker.near_copies(3, changed=1)
    maker.near_copies(3, changed=0)
    maker.boilerplate(4)
    maker.banner(11)
    maker.same_images(3)
    documents = maker.planted.documents
    return write_units(documents[::2] + documents[1::2], RunFolder(output).extract, len(documents) // 2)


def judge(output: Path, **sections: object) -> list[Manifest]:
    """All steps; what was dropped from documents is committed as it is, nothing is fetched."""
    extracted, folder = planted_units(output), RunFolder(output)
    with deduplication_in(output, **sections) as dedup:
        dedup.compare(extracted)
        return dedup.settle(dedup.drop_repeated(extracted, lack), folder.dedup)


def tree(output: Path) -> dict[str, bytes]:
    """All files of the steps and what they say; only the log has times."""
    found = [path for name in ("shuffled", "dedup") for path in (output / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(output)): path.read_bytes() for path in [*found, output / "duplicates.parquet"]}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("judged")
    judge(output)
    return output


def test_all_that_is_planted_is_in_the_ledger_and_the_list(judged: Path, tmp_path: Path) -> None:
    listed = pq.read_table(judged / "duplicates.parquet")["reason"].to_pylist()
    assert {name: listed.count(name) for name in sorted(set(listed))} == {
        "duplicate_image_set": 2, "duplicate_text": 4, "duplicate_url": 2,
    }  # fmt: skip
    shutil.copytree(judged, tmp_path / "copy")
    documents = total("documents", (m.ledgers["documents"] for m in judge(tmp_path / "copy")))
    assert (documents.entered, dict(documents.dropped)) == (27, {name: listed.count(name) for name in set(listed)})


def test_a_second_time_nothing_is_done(judged: Path, tmp_path: Path) -> None:
    output = tmp_path / "copy"
    shutil.copytree(judged, output)
    before = len(events(output))
    judge(output)
    assert not {"unit_done", "shuffle_started"} & {str(event["event"]) for event in events(output)[before:]}
    assert tree(output) == tree(judged)


@pytest.mark.parametrize(
    "sections",
    [
        pytest.param({"text": {**TEXT, "threshold": 0.99}}, marks=pytest.mark.slow),
        pytest.param({"page_url": {"enabled": False}}, marks=pytest.mark.slow),
        {"paragraphs": {"min_count": 5}},
        {"image_set": {"min_images": 3}},
    ],
    ids=["text", "page_url", "paragraphs", "image_set"],
)
def test_another_rule_leaves_what_it_leaves_in_a_new_folder(
    judged: Path, tmp_path: Path, sections: dict[str, object]
) -> None:
    shutil.copytree(judged, tmp_path / "changed")
    judge(tmp_path / "changed", **sections)
    judge(tmp_path / "new", **sections)
    assert tree(tmp_path / "changed") == tree(tmp_path / "new")
    verdicts = ("duplicates.parquet", "dedup/")
    of_base = {content for name, content in tree(judged).items() if name.startswith(verdicts)}
    assert {c for name, c in tree(tmp_path / "new").items() if name.startswith(verdicts)} != of_base


def chain(n: int) -> pa.Table:
    """Edges between texts, each a duplicate of the next."""
    return edge_table([("text", (0, i, f"p{i}", i), (0, i + 1, f"p{i + 1}", i + 1)) for i in range(n)])


def test_groups_that_do_not_settle_in_their_turns_are_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def groups(turns: int) -> dict[int, bytes]:
        monkeypatch.setattr(deduplication, "TURNS", turns)
        with deduplication_in(tmp_path / str(turns)) as dedup:
            tables = [pq.read_table(source.path, partitioning=None) for source in dedup._contract(edges)]
        return {row["row"]: row["group"] for table in tables for row in table.to_pylist()}

    path = tmp_path / "edges.parquet"
    pq.write_table(edges_by_bucket(chain(9), 2), path)
    edges = [ShuffleInput(path, file_sha256(path))]
    with pytest.raises(RuntimeError, match="did not settle in 1 turns"):
        groups(1)
    assert groups(20) == dict.fromkeys(range(10), doc((0, 0, "p0", 0)))


def test_of_no_edges_there_are_no_members_and_no_turn(tmp_path: Path) -> None:
    with deduplication_in(tmp_path) as dedup:
        assert dedup._contract([]) == []
    assert events(tmp_path) == []


@pytest.mark.parametrize(("earlier", "generation"), [((), 0), ((0,), 1), ((0, 3, 1), 4)])
def test_a_run_is_of_the_generation_after_all_that_it_is_added_to(
    tmp_path: Path, earlier: tuple[int, ...], generation: int
) -> None:
    corpora = [Corpus(RunFolder(tmp_path / str(n)), n, {}, tmp_path) for n in earlier]
    extracted = planted_units(tmp_path)
    with deduplication_in(tmp_path, corpora) as dedup:
        dedup.compare(extracted)
        end = f"@{generation}" if generation else ""
        for m in extracted:
            assert dedup.unit_on(m.unit + end, "any", [], {}).payload["generation"] == generation


def test_lists_about_runs_that_it_is_no_longer_added_to_are_removed(judged: Path, tmp_path: Path) -> None:
    output = tmp_path / "copy"
    shutil.copytree(judged, output)
    stale = [output / f"against-{name}.parquet" for name in ("duplicates", "changed")]
    for path in stale:
        path.write_bytes(b"")
    judge(output)
    assert not [path for path in stale if path.exists()]


def test_looks_are_not_counted_where_nobody_asks_or_no_image_was_fetched(tmp_path: Path) -> None:
    def refuse(*_: object) -> object:
        raise AssertionError

    for name, images, files in (("none", {"phash_max": None}, {"u": ["x"]}), ("unfetched", {}, {})):
        with deduplication_in(tmp_path / name, images=images) as dedup:
            found = dedup.phashes([], tmp_path, Partitions(tmp_path, files), refuse)  # type: ignore[arg-type]
        assert not found.files
        assert events(tmp_path / name) == []


def test_documents_are_compared_where_the_config_says_so() -> None:
    assert compares(config_of())
    assert not compares(config_of(dedup={"enabled": False}))


def test_the_list_of_duplicates_has_no_group_for_each_unit(tmp_path: Path) -> None:
    """Of a crawl these would be a million, and a footer that no reader takes."""
    judge(tmp_path)
    listed = pq.ParquetFile(tmp_path / "duplicates.parquet")
    units = [pq.read_metadata(path).num_rows for path in (tmp_path / "shuffled" / "settled").glob("*.parquet")]
    assert sum(units) == listed.metadata.num_rows
    assert min(units) > 0 and len(units) > 1
    assert listed.num_row_groups == 1
