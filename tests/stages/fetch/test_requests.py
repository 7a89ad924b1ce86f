"""Requests come into buckets, and a bucket is named by what it asks for, whatever way its rows came."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.engines.shuffle import ShuffleInput
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.stages.fetch import requests
from obelics_pipeline.stages.fetch.requests import REQUESTS, asked_sha256, deal_requests, request_rows
from tests.faults.inline import Inline

ROWS = [(0, "b", "http://x/2"), (3, "a", "http://y/1"), (0, "a", "http://x/1"), (0, "a", "http://x/0")]


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[StageRunner]:
    log = EventLog(tmp_path / "events.jsonl")
    yield StageRunner(Inline(tmp_path), log, Display(Console(quiet=True)), ["fetch"])
    log.close()


def digest_of(rows: list[tuple[str, str]]) -> str:
    return sha256("\n".join(f"{partition} {url}" for partition, url in sorted(rows)).encode()).hexdigest()


def test_a_bucket_has_the_digest_of_what_it_asks_for(runner: StageRunner, tmp_path: Path) -> None:
    sources = []
    for number in range(2):
        path = tmp_path / f"{number}.parquet"
        columns = [list(values) for values in zip(*ROWS[number::2], strict=True)]
        pq.write_table(pa.Table.from_arrays(columns, schema=REQUESTS), path)
        sources.append(ShuffleInput(path, file_sha256(path)))
    dealt = deal_requests(runner, tmp_path / "requests", sources)
    expected = {str(bucket): [(p, url) for b, p, url in ROWS if b == bucket] for bucket in (0, 3)}
    assert dict(dealt.digests) == {bucket: digest_of(rows) for bucket, rows in expected.items()}
    found = {bucket: request_rows([dealt.folder / name for name in dealt.names(bucket)]) for bucket in dealt.files}
    assert found == {bucket: sorted(rows) for bucket, rows in expected.items()}


@given(st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), max_size=20), st.integers(1, 4), st.integers(1, 9))
@settings(max_examples=100)
def test_a_bucket_is_named_by_its_sorted_requests_however_they_came(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], files: int, lines: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "requests"
    folder.mkdir(exist_ok=True)
    names = [folder / f"{number}.parquet" for number in range(files)]
    for number, name in enumerate(names):
        some = rows[number::files]
        columns = [[0] * len(some), [partition for partition, _ in some], [url for _, url in some]]
        pq.write_table(pa.Table.from_arrays(columns, schema=REQUESTS), name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(requests, "LINES", lines)
        found = asked_sha256(pa.concat_tables([pq.read_table(name) for name in names]))
    assert found == digest_of(rows)
    assert request_rows(names) == sorted(rows)
