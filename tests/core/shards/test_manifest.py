import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.manifest import promises_of, read_manifest, shard_name
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
