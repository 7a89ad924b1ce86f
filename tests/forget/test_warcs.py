"""WARC files in a run's folder: a blanked record is as long as it was, and the others are where they were."""

import gzip
import os
import zlib
from pathlib import Path

import pytest

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.demo.pack import pack
from obelics_pipeline.forget.warcs import blank_member, blank_records
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.records import read_task
from tests.forget.traces import parts


@pytest.mark.parametrize("size", [*range(20, 400), 1_000, 59_999, 60_000, 60_200, 65_600, 131_072, 1_000_003])
def test_a_blank_member_has_the_size_that_is_asked_for(size: int) -> None:
    member = blank_member(size)
    assert len(member) == size
    if size > 130:
        assert gzip.decompress(member).startswith(b"WARC/1.0\r\nWARC-Type: metadata")
    elif size < 90 and size != 21:
        assert zlib.decompressobj(31).decompress(member) == b""


def test_only_the_records_of_a_page_are_blanked(tmp_path: Path) -> None:
    for path in pack(tmp_path):
        before, state = path.read_bytes(), path.stat()
        pages = seen(path)
        url = sorted(pages)[3]
        assert blank_records(path, lambda found, url=url: found == url) == 3  # type: ignore[misc] # request and metadata
        after = seen(path)
        assert len(path.read_bytes()) == len(before)
        assert os.stat(path).st_mtime_ns == state.st_mtime_ns
        assert {page: at for page, at in pages.items() if page != url} == after
        assert url.encode() not in b"".join(parts(path.read_bytes()))
        assert blank_records(path, lambda found, url=url: found == url) == 0  # type: ignore[misc]


def seen(path: Path) -> dict[str, tuple[int, int]]:
    """The pages of a file, with their places."""
    config = ReadingConfig()
    tasks = plan_ranges(resolve_inputs([str(path)], config), config)
    items = [item for task in tasks for item in read_task(task, config)]
    return {
        item.url: (item.offset, item.length) for item in items if getattr(item, "html", None) is not None and item.url
    }
