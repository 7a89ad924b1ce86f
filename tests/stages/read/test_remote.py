"""Files behind a URL: the same as on disk, in few requests, with patience and with clear errors."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read import remote
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.records import read_task
from tests.stages.read.server import FileServer, serving
from tests.stages.read.warcs import gz, html, pages, read, record, url, write, zst

RECORDS = [*pages(30), record(html(77, 20_000), url(77)), *pages(40)[30:]]
KEY = "crawl-data/CC-MAIN-2024-10/x.warc.gz"
PATIENT = ReadingConfig(unit_bytes=60_000, retry_wait_seconds=0.0, request_retries=3)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / KEY).parent.mkdir(parents=True)
    write(tmp_path, KEY, gz(RECORDS))
    write(tmp_path, "x.warc.zst", zst(RECORDS))
    write(tmp_path, "x.warc", RECORDS)
    with serving(tmp_path) as running:
        yield running


def read_all(pattern: str, config: ReadingConfig = PATIENT) -> list[Page | Skipped]:
    tasks = plan_ranges(resolve_inputs([pattern], config), config)
    return [item for task in tasks for item in read_task(task, config)]


@pytest.mark.parametrize("piece", [30_000, 8 * 2**20])
@pytest.mark.parametrize("name", [KEY, "x.warc.zst", "x.warc"])
def test_a_file_reads_the_same_from_a_url_as_from_disk(
    server: FileServer, name: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PIECE", piece)
    monkeypatch.setattr(remote, "TAIL_PIECE", piece // 2)
    items = read_all(f"{server.url}/{name}")
    assert items == read(server.folder / name, name=name)
    assert len(items) == len([item for item in items if isinstance(item, Page)]) == len(RECORDS)


def test_few_requests_are_made(server: FileServer) -> None:
    size = (server.folder / KEY).stat().st_size
    read_all(f"{server.url}/{KEY}", ReadingConfig(unit_bytes=size // 2 + 1))
    assert len(server.asked) == 4  # each half, a piece of the other half for its last record, a look at the beginning


def test_errors_that_pass_are_tried_again(server: FileServer) -> None:
    server.errors = [503, 500, 429]
    assert len(read_all(f"{server.url}/{KEY}")) == len(RECORDS)


def test_errors_that_stay_are_an_oserror_that_says_where(server: FileServer) -> None:
    tasks = plan_ranges(resolve_inputs([f"{server.url}/{KEY}"], PATIENT), PATIENT)
    server.errors = [503] * 99
    with pytest.raises(OSError, match=r"x\.warc\.gz bytes 0-"):
        list(read_task(tasks[0], PATIENT))


def test_a_server_without_ranges_is_an_error_not_rubbish(server: FileServer) -> None:
    server.ranges = False
    with pytest.raises(OSError, match="range"):
        read_all(f"{server.url}/{KEY}")


def test_a_missing_url_is_one_line(server: FileServer) -> None:
    with pytest.raises(UserError, match="no such file"):
        resolve_inputs([f"{server.url}/gone.warc.gz"], PATIENT)


def test_a_remote_list_of_keys_and_its_files(server: FileServer) -> None:
    write(server.folder, "warc.paths.gz", [gzip.compress(f"{KEY}\n".encode())])
    config = ReadingConfig(pointer_root=server.url, unit_bytes=20_000)
    inputs = resolve_inputs([f"{server.url}/warc.paths.gz"], config)
    assert [(warc.name, warc.path) for warc in inputs.warcs] == [(KEY, f"{server.url}/{KEY}")]
    assert inputs.warcs[0].version.endswith('abc"')
    assert len(read_all(f"{server.url}/warc.paths.gz", config)) == len(RECORDS)


def test_an_uncompressed_file_behind_a_url_is_one_task(server: FileServer) -> None:
    assert len(plan_ranges(resolve_inputs([f"{server.url}/x.warc"], PATIENT), PATIENT)) == 1
    assert len(plan_ranges(resolve_inputs([f"{server.url}/{KEY}"], PATIENT), PATIENT)) > 1
