"""A run for open_flamingo's trainer: whole, in enough tars, the same bytes each time, and nothing overwritten."""

import json
import shutil
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, Node, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.manifest import RunManifest, promises_of
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.stages.shard import pairs
from obelics_pipeline.stages.shard.export_flamingo import Deal, export_flamingo
from obelics_pipeline.stages.shard.validate import problems

from .open_flamingo_reader import read
from .runs import SCORES, document, image, make_run, read_image, without_page_type

DOCUMENTS = [document(i) for i in range(9)]


@pytest.fixture(autouse=True)
def _tiny_pictures_make_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MIN_BYTES", 100)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    make_run(tmp_path / "run", DOCUMENTS, per_shard=4)
    return tmp_path / "run"


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_run_of_before_the_kind_of_page_was_a_column_is_exported_without_it(run: Path, tmp_path: Path) -> None:
    without_page_type(run)
    export_flamingo(run, tmp_path / "out")
    assert pq.read_schema(tmp_path / "out/index.parquet").equals(pq.read_schema(run / "index.parquet"))
    assert problems(tmp_path / "out") == []


def samples(folder: Path) -> dict[str, bytes]:
    """The JSON of every document of the tars, by its key."""
    out = {}
    for path in sorted((folder / "shards").glob("*.tar")):
        with tarfile.open(path) as tar:
            for info in tar:
                out[info.name.removesuffix(".json")] = tar.extractfile(info).read()  # type: ignore[union-attr]
    return out


def expected(item: Document) -> list[str | bytes]:
    record = make_record(item, SCORES)
    value = json.loads(record.json)
    images = {file.name: read_image(file.sha256) for file in record.files}
    return [images[file] if file else text for text, file in zip(value["texts"], value["files"], strict=True)]


def test_every_document_is_read_back_in_its_order(run: Path, tmp_path: Path) -> None:
    export_flamingo(run, tmp_path / "out", shards=3)
    found = samples(tmp_path / "out")
    assert list(found) == [item.doc_id for item in DOCUMENTS]
    for item in DOCUMENTS:
        assert read(found[item.doc_id]) == expected(item)


def test_the_export_is_a_run_that_validate_accepts_and_provenance_holds(run: Path, tmp_path: Path) -> None:
    export_flamingo(run, tmp_path / "out", shards=3)
    assert problems(tmp_path / "out") == []
    before, after = (pq.read_table(folder / "index.parquet").to_pylist() for folder in (run, tmp_path / "out"))
    moved = ("shard", "offset", "length")
    assert [{k: v for k, v in row.items() if k not in moved} for row in after] == [
        {k: v for k, v in row.items() if k not in moved} for row in before
    ]
    assert len({row["shard"] for row in after}) == 3


def test_equal_runs_give_equal_bytes_and_again_into_the_same_folder(run: Path, tmp_path: Path) -> None:
    export_flamingo(run, tmp_path / "one", shards=2)
    export_flamingo(run, tmp_path / "two", shards=2)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    export_flamingo(run, tmp_path / "one", shards=2)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_an_export_of_an_export_is_the_same(run: Path, tmp_path: Path) -> None:
    export_flamingo(run, tmp_path / "one", shards=2)
    export_flamingo(tmp_path / "one", tmp_path / "two", shards=2)
    assert samples(tmp_path / "one") == samples(tmp_path / "two")
    assert problems(tmp_path / "two") == []


def test_a_document_without_an_image_file_is_not_written_and_counted(tmp_path: Path) -> None:
    unfetched = image(1, sha256=None, n_bytes=None, format=None, original_width=None, original_height=None)
    config = RunConfig.model_validate({"fetch": {"enabled": False}})
    items = [document(0, [unfetched, TextNode("a")]), document(1, [image(2), TextNode("b")])]
    make_run(tmp_path / "run", items, config=config)
    manifest = export_flamingo(tmp_path / "run", tmp_path / "out").manifest
    assert isinstance(manifest, RunManifest)
    assert manifest.ledgers["documents"].to_json()["dropped"] == {"no_image_file": 1}
    assert manifest.ledgers["images"].to_json() == {
        "in": 2, "kept": 1, "dropped": {"document_dropped": 1}, "failed": {},
    }  # fmt: skip
    assert list(samples(tmp_path / "out")) == [items[1].doc_id]
    assert problems(tmp_path / "out") == []


def test_what_the_loader_will_leave_out_is_in_the_manifest_and_told(tmp_path: Path) -> None:
    many: list[Node] = [node for i in range(8) for node in (image(i), TextNode(f"text {i}"))]
    late: list[Node] = [TextNode("word " * 400), image(1)]
    make_run(tmp_path / "run", [document(0, many), document(1, late)])
    exported = export_flamingo(tmp_path / "run", tmp_path / "out")
    assert exported.manifest is not None
    ledgers = exported.manifest.ledgers
    assert ledgers["documents_read"].to_json()["dropped"] == {"beyond_256_tokens": 1}
    assert ledgers["images_read"].to_json()["dropped"] == {"beyond_256_tokens": 1, "over_6_images": 3}
    assert "read about 1 of these documents (not: 1 beyond_256_tokens)" in exported.lines()[2]


def test_pairs_are_written_as_img2dataset_does_and_counted(tmp_path: Path) -> None:
    from obelics_pipeline.stages.shard.readback import webdataset_samples

    nodes: list[Node] = [
        image(1, alt_text="An old boat"), TextNode("The boat in May.", role="caption"), TextNode("More."),
        image(2, alt_text="An old oar"), TextNode("Text."), image(3, "webp", alt_text="A rope"), image(4),
    ]  # fmt: skip
    make_run(tmp_path / "run", [document(0, nodes)])
    exported = export_flamingo(tmp_path / "run", tmp_path / "out")
    found = dict(webdataset_samples(tmp_path / "out/laion/laion-000000.tar"))
    id_ = document(0).doc_id
    assert {key: (members["txt"].decode(), members["jpg"]) for key, members in found.items()} == {
        f"{id_}-000": ("The boat in May.", read_image(str(image(1).sha256))),
        f"{id_}-002": ("An old oar", read_image(str(image(2).sha256))),
    }
    assert json.loads(found[f"{id_}-000"]["json"])["doc_id"] == id_
    value = json.loads((tmp_path / "out/laion.json").read_text())
    assert value["pairs"] == {"in": 4, "kept": 2, "dropped": {"format": 1, "no_text": 1}, "failed": {}}
    assert value["sources"] == {"alt_text": 1, "caption": 1}
    rows = pq.read_table(tmp_path / "out/laion.parquet").to_pylist()
    assert [(row["shard"], row["key"], row["source"]) for row in rows] == [
        ("laion-000000.tar", f"{id_}-000", "caption"),
        ("laion-000000.tar", f"{id_}-002", "alt_text"),
    ]
    assert exported.pairs.balanced()


def test_no_tar_of_pairs_is_empty_and_too_few_are_told(tmp_path: Path) -> None:
    items = [document(i, [image(i, alt_text="A boat" if i % 2 else None), TextNode("a")]) for i in range(4)]
    make_run(tmp_path / "run", items)
    exported = export_flamingo(tmp_path / "run", tmp_path / "out", shards=4)
    assert sorted(p.name for p in (tmp_path / "out/laion").iterdir()) == ["laion-000000.tar", "laion-000001.tar"]
    assert any("only 2 tars of pairs, 4 were asked for" in line for line in exported.lines())


def test_without_any_pair_no_tar_is_named_that_is_not_there(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [document(0, [image(1), TextNode("a")])])
    said = export_flamingo(tmp_path / "run", tmp_path / "out").lines()
    assert "only 0 tars of pairs, 1 were asked for: name another run's by --laion_shards" in said
    assert "laion-" not in said[-1]


def test_pairs_alone_leave_the_run_uncopied(run: Path, tmp_path: Path) -> None:
    exported = export_flamingo(run, tmp_path / "out", pairs_only=True)
    assert exported.manifest is None
    assert {p.name for p in (tmp_path / "out").iterdir()} <= {"laion", "laion.parquet", "laion.json"}


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=40), st.data())
def test_documents_are_dealt_in_order_to_exactly_so_many_tars(sizes: list[int], data: st.DataObject) -> None:
    tars = data.draw(st.integers(1, len(sizes)))
    numbers = list(Deal(tars, len(sizes), sum(sizes)).numbered(iter(sizes)))
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(tars))


def test_equal_documents_are_dealt_evenly() -> None:
    assert list(Deal(4, 8, 8).numbered(iter([1] * 8))) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_tars_are_closed_at_their_size(run: Path, tmp_path: Path) -> None:
    exported = export_flamingo(run, tmp_path / "out", target_bytes=20_000)
    assert exported.manifest is not None
    assert len(exported.manifest.shards) > 2


# Errors


def refused(run: Path, output: Path, **options: int) -> str:
    with pytest.raises(UserError) as caught:
        export_flamingo(run, output, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_more_tars_than_documents_are_refused_before_anything_is_written(run: Path, tmp_path: Path) -> None:
    assert "has 9 documents with images, and no tar may be empty" in refused(run, tmp_path / "out", shards=10)
    assert not (tmp_path / "out").exists()


def test_a_run_is_never_written_over(run: Path, tmp_path: Path) -> None:
    before = files(run)
    assert "is the run itself" in refused(run, run)
    make_run(tmp_path / "other", DOCUMENTS[:2])
    assert "is another run" in refused(run, tmp_path / "other")
    assert files(run) == before


def test_other_tars_are_not_mixed_with(run: Path, tmp_path: Path) -> None:
    export_flamingo(run, tmp_path / "out", shards=4)
    assert "holds another tar, shards/shard-000002.tar" in refused(run, tmp_path / "out", shards=2)


def test_a_damaged_shard_is_named_and_no_manifest_is_left(run: Path, tmp_path: Path) -> None:
    shard = run / "shards/shard-000001.tar"
    data = bytearray(shard.read_bytes())
    data[700] ^= 1
    shard.write_bytes(data)
    assert "shard-000001.tar: cannot be read" in refused(run, tmp_path / "out")
    assert not (tmp_path / "out/manifest.json").exists()
    assert not [p for p in (tmp_path / "out").rglob("*") if p.name.startswith(".tmp-")]
    shutil.rmtree(run)
    assert "no finished run" in refused(run, tmp_path / "out")


def test_a_run_without_documents_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [])
    assert "has 0 documents with images" in refused(tmp_path / "run", tmp_path / "out")


# Command line


def test_the_command_says_how_to_call_the_trainer(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(run), "--format", "open_flamingo", "--shards", "3"]) == 0
    said = capsys.readouterr().out
    assert f"--mmc4_shards '{run}/export-open_flamingo/shards/shard-{{000000..000002}}.tar'" in said
    assert main(["export", str(run), "--format", "laion"]) == 0
    assert "--mmc4_shards" not in capsys.readouterr().out


def test_shards_are_not_of_parquet(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(run), "--format", "parquet", "--shards", "3"]) == 2
    assert "--shards: not valid with --format parquet" in capsys.readouterr().err


# Validate


def test_promises_name_the_form() -> None:
    config = RunConfig.model_validate({"shard": {"format": "open_flamingo"}})
    assert promises_of(config, []).format == "open_flamingo"


def test_other_readers_of_runs_take_this_form_too(run: Path, tmp_path: Path) -> None:
    from obelics_pipeline.fit.flamingo.documents import RunFolder
    from obelics_pipeline.stages.shard.export import export_parquet

    export_flamingo(run, tmp_path / "out", shards=2)
    one, two = (export_parquet(folder, tmp_path / f"p{i}") for i, folder in enumerate((run, tmp_path / "out")))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    plain, ours = (list(RunFolder(folder).documents()) for folder in (run, tmp_path / "out"))
    assert plain == ours and len(plain) == len(DOCUMENTS)
