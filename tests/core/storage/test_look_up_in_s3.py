"""In a store a document of many is found by two ranges of a look-up and one of its tar, and nothing else is asked."""

import logging
import re
from collections import Counter
from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.core.shards.look_up import FOLDER, by_id, by_url
from obelics_pipeline.core.shards.manifest import RunManifest, read_manifest
from obelics_pipeline.core.storage import files_below
from tests.core.storage.conftest import new_bucket
from tests.stages.shard.runs import add_look_ups, document, make_run

WITH_PICTURES, PLAIN = 3, 40


@pytest.fixture(scope="module")
def finished(s3: str, tmp_path_factory: pytest.TempPathFactory) -> UPath:
    """A run in a bucket, with four buckets of each kind of key."""
    folder: Path = tmp_path_factory.mktemp("found") / "run"
    make_run(folder, [document(n) if n < WITH_PICTURES else document(n, []) for n in range(PLAIN)], per_shard=10)
    add_look_ups(folder, buckets=4)
    run = new_bucket("found") / "run"
    for name in files_below(folder):
        run.fs.put_file(str(folder / name), (run / name).path)
    return run


@pytest.fixture
def manifest(finished: UPath) -> RunManifest:
    return read_manifest(finished)


@pytest.fixture
def asked(finished: UPath, manifest: RunManifest, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the server is asked from here on, as it logs it."""
    caplog.set_level(logging.INFO, logger="werkzeug")
    caplog.clear()
    return caplog


def requests(asked: pytest.LogCaptureFixture) -> Counter[str]:
    """How often each kind of object was asked for; all requests are GETs of objects."""
    found = [re.search(r"([A-Z]{3,}) /found/run/([^? ]+)", record.getMessage()) for record in asked.records]
    assert found
    assert all(match is not None and match[1] == "GET" for match in found), [r.getMessage() for r in asked.records]
    return Counter(match[2].rpartition("/")[0] for match in found if match is not None)


def test_a_document_costs_two_ranges_of_a_look_up_and_one_of_its_tar(
    finished: UPath, manifest: RunManifest, asked: pytest.LogCaptureFixture
) -> None:
    url = document(17).url
    found = by_url(finished, manifest, [url])
    assert requests(asked) == {FOLDER: 2, "shards": 1}
    assert [d.record.doc_id for d in found[url]] == [document(17).doc_id]


def test_what_is_not_there_is_told_after_one_bucket(
    finished: UPath, manifest: RunManifest, asked: pytest.LogCaptureFixture
) -> None:
    assert by_url(finished, manifest, ["http://pages.example/none"]) == {}
    assert set(requests(asked)) == {FOLDER}
    assert sum(requests(asked).values()) <= 2


def test_many_ids_open_each_bucket_once(
    finished: UPath, manifest: RunManifest, asked: pytest.LogCaptureFixture
) -> None:
    ids = [document(number).doc_id for number in range(PLAIN)]
    assert set(by_id(finished, manifest, ids)) == set(ids)
    assert requests(asked) == {FOLDER: 2 * 4, "shards": PLAIN}
