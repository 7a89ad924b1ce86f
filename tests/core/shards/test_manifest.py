import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.index_name import INDEX, is_index_name, part_name
from obelics_pipeline.core.shards.manifest import (
    IndexPart,
    part_is_whole,
    promises_of,
    read_manifest,
    shard_name,
    shard_tables,
    write_manifest,
)
from tests.stages.shard.runs import SCORES, document, make_run


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = make_run(tmp_path, [document(i) for i in range(5)], per_shard=2)
    assert read_manifest(tmp_path) == written
    assert written.counts()["shards"] == 3
    assert written.counts()["documents"] == 5


def test_it_says_what_the_config_promises() -> None:
    config = RunConfig.model_validate(
        {"fetch": {"enabled": False}, "images": {"max_per_document": 3}, "finish": {"drop_repeated_images": False}}
    )
    promises = promises_of(config, SCORES)
    assert (promises.fetched, promises.max_images, promises.distinct_images) == (False, 3, False)
    assert promises.score_names == SCORES


def test_names_of_shards_sort_as_their_numbers() -> None:
    assert [shard_name(i) for i in (0, 12, 999_999)] == ["shard-000000.tar", "shard-000012.tar", "shard-999999.tar"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no finished run here"),
        ("{", "not JSON"),
        ("[]", "not the manifest of a run"),
        ("{}", "not the manifest of a run"),
        ('{"format": "other"}', "this version reads obelics-shards-1"),
    ],
)
def test_what_is_no_finished_run_is_refused_in_one_line(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        read_manifest(tmp_path)
    assert "\n" not in str(caught.value)


def test_no_field_of_the_manifest_may_be_missing_or_of_another_kind(tmp_path: Path) -> None:
    make_run(tmp_path, [document(0)])
    path = tmp_path / "manifest.json"
    value = json.loads(path.read_text())
    for key in ("counts", "index", "ledgers", "promises", "shards", "notes"):
        for damaged in ({k: v for k, v in value.items() if k != key}, value | {key: 7}):
            if key == "notes" and damaged.get(key) == 7:
                continue
            path.write_text(json.dumps(damaged))
            with pytest.raises(UserError):
                read_manifest(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["shards"][0].update(documents="many"),
        lambda value: value["shards"][0].update(bytes=1.5),
        lambda value: value["shards"][0].update(name=None),
        lambda value: value["shards"][0].update(more=1),
        lambda value: value["promises"].update(min_images="1"),
        lambda value: value["promises"].update(fetched=1),
        lambda value: value["ledgers"]["documents"].update(dropped={"x": "y"}),
    ],
)
def test_values_of_another_kind_are_refused(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    make_run(tmp_path, [document(0)])
    path = tmp_path / "manifest.json"
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
    with pytest.raises(UserError, match="not the manifest of a run"):
        read_manifest(tmp_path)


def in_parts(*tars: int) -> tuple[IndexPart, ...]:
    return tuple(IndexPart(part_name(i), f"{i}" * 64, 10 + i, n) for i, n in enumerate(tars))


def test_an_index_in_parts_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = replace(make_run(tmp_path, [document(i) for i in range(5)], per_shard=2), index=in_parts(2, 0, 1))
    write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == written
    assert json.loads((tmp_path / "manifest.json").read_text())["format"] == "obelics-shards-2"


def test_the_tars_of_a_run_whose_index_is_in_parts_are_in_a_table(tmp_path: Path) -> None:
    small = make_run(tmp_path, [document(i) for i in range(5)], per_shard=2)
    large = replace(small, index=in_parts(2, 1))
    write_manifest(tmp_path, large)
    [table] = shard_tables(tmp_path)
    stated = json.loads((tmp_path / "manifest.json").read_text())["shards"]
    assert stated == {"table": table, "bytes": (tmp_path / table).stat().st_size, "tars": 3}
    fewer = replace(large, shards=large.shards[:2], index=in_parts(1, 1))
    write_manifest(tmp_path, fewer)
    assert len(shard_tables(tmp_path)) == 1 and shard_tables(tmp_path) != [table]
    assert read_manifest(tmp_path) == fewer
    write_manifest(tmp_path, small)
    assert shard_tables(tmp_path) == []


@pytest.mark.parametrize("harm", ["missing", "damaged", "of fewer tars", "elsewhere"])
def test_a_table_of_tars_that_is_not_what_the_manifest_says_is_refused_in_one_line(tmp_path: Path, harm: str) -> None:
    write_manifest(tmp_path, replace(make_run(tmp_path, [document(0)]), index=in_parts(1, 0)))
    [table] = shard_tables(tmp_path)
    path = tmp_path / "manifest.json"
    value = json.loads(path.read_text())
    if harm == "missing":
        (tmp_path / table).unlink()
    elif harm == "damaged":
        (tmp_path / table).write_bytes(b"PAR1")
    elif harm == "of fewer tars":
        value["shards"]["tars"] = 2
    else:
        value["shards"]["table"] = f"../{tmp_path.name}/{table}"
    path.write_text(json.dumps(value))
    with pytest.raises(UserError) as caught:
        read_manifest(tmp_path)
    assert "\n" not in str(caught.value)
    assert table in str(caught.value)


def test_an_index_of_one_file_is_written_as_it_always_was(tmp_path: Path) -> None:
    written = make_run(tmp_path, [document(0)])
    value = json.loads((tmp_path / "manifest.json").read_text())
    (part,) = written.index
    assert value["format"] == "obelics-shards-1"
    assert value["index"] == {"name": "index.parquet", "sha256": part.sha256, "bytes": part.bytes}
    assert (part.name, part.tars, written.index_id()) == (INDEX, 1, part.sha256)


def test_what_stands_for_an_index_changes_with_any_part(tmp_path: Path) -> None:
    written = make_run(tmp_path, [document(0)])
    ids = [replace(written, index=parts).index_id() for parts in (in_parts(1, 0), in_parts(0, 1)[::-1], in_parts(1))]
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts[0].update(name="../index-000000.parquet"),
        lambda parts: parts[0].update(name="index.parquet"),
        lambda parts: parts[0].update(name="shards/shard-000000.tar"),
        lambda parts: parts[0].update(name=3),
        lambda parts: parts[1].update(name="index-000000.parquet"),
        lambda parts: parts[0].update(tars=1),
        lambda parts: parts[0].update(tars="2"),
        lambda parts: (parts[0].update(tars=4), parts[1].update(tars=-1)),
        lambda parts: parts[0].update(sha256=None),
        lambda parts: parts[0].pop("bytes"),
        lambda parts: parts.clear(),
    ],
)
def test_parts_of_an_index_that_are_none_are_refused(tmp_path: Path, change: Callable[[Any], object]) -> None:
    run = make_run(tmp_path, [document(i) for i in range(5)], per_shard=2)
    write_manifest(tmp_path, replace(run, index=in_parts(2, 1)))
    path = tmp_path / "manifest.json"
    value = json.loads(path.read_text())
    change(value["index"]["parts"])
    path.write_text(json.dumps(value))
    with pytest.raises(UserError, match="not the manifest of a run"):
        read_manifest(tmp_path)


def test_a_file_of_an_index_is_whole_where_it_has_the_bytes_that_are_stated(tmp_path: Path) -> None:
    (part,) = make_run(tmp_path, [document(0)]).index
    assert part_is_whole(tmp_path, part)
    (tmp_path / INDEX).write_bytes(b"x")
    assert not part_is_whole(tmp_path, part)
    (tmp_path / INDEX).unlink()
    assert not part_is_whole(tmp_path, part)


def test_names_of_an_index_are_known_from_others() -> None:
    assert all(map(is_index_name, ("index.parquet", part_name(0), part_name(1_234_567))))
    assert not any(
        map(is_index_name, ("index-1.parquet", "index-000000.parquet.tmp", "xindex.parquet", "index-a.parquet"))
    )
