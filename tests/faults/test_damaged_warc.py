"""One damaged record of a hundred costs itself: the other 99 are read, and the loss is reported once."""

from __future__ import annotations

import gzip
import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.ranges import plan_ranges
from tests.stages.read.warcs import declared, failures, gz, html, numbers, pages, read, with_length, write, zst

COUNT, VICTIM = 100, 40
PLAIN = pages(COUNT)
SOUND = [html(number).decode() for number in range(COUNT)]
OTHERS = [number for number in range(COUNT) if number != VICTIM]


def flipped(member: bytes) -> bytes:
    middle = len(member) // 2
    return member[:middle] + bytes((member[middle] ^ 0x10,)) + member[middle + 1 :]


def zeroed(member: bytes) -> bytes:
    return member[:200] + bytes(len(member) - 400) + member[-200:]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "flipped bit": flipped,
    "bad magic": lambda member: b"\0\0" + member[2:],
    "bad checksum": lambda member: member[:-8] + bytes((member[-8] ^ 1,)) + member[-7:],
    "cut member": lambda member: member[: len(member) // 2],
    "zeroed middle": zeroed,
    "no WARC record": lambda member: gzip.compress(b"<html>not a record</html>\r\n" * 9),
}


def everywhere(path: Path) -> list[list[object]]:
    """The file read as one range, and cut at awkward places."""
    size = path.stat().st_size
    cuts = [0, size // 3, size // 3 + 1, size // 2, size]
    whole = read(path)
    pieces = [item for start, end in itertools.pairwise(cuts) for item in read(path, start, end)]
    return [list(whole), list(pieces)]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_gzip_member_costs_itself_and_is_reported_once(tmp_path: Path, damage: str) -> None:
    members = gz(PLAIN)
    offset = sum(map(len, members[:VICTIM]))
    members[VICTIM] = DAMAGE[damage](members[VICTIM])
    path = write(tmp_path, "x.warc.gz", members)
    for items in everywhere(path):
        assert numbers(items) == OTHERS
        assert failures(items) == ["damaged_member"]
        lost = next(item for item in items if not isinstance(item, Page))
        assert (lost.offset, lost.length) == (offset, len(members[VICTIM]))


@pytest.mark.parametrize("change", [-700, -1, 1, 3, 90, 4000, 10**7, 10**14])
@pytest.mark.parametrize("suffix", ["warc.gz", "warc", "warc.zst"])
def test_a_wrong_content_length_costs_nothing(tmp_path: Path, suffix: str, change: int) -> None:
    records = list(PLAIN)
    records[VICTIM] = with_length(records[VICTIM], declared(records[VICTIM]) + change)
    members = {"warc.gz": gz, "warc.zst": zst, "warc": list}[suffix](records)
    for items in everywhere(write(tmp_path, f"x.{suffix}", members)):
        assert numbers(items) == list(range(COUNT))
        assert failures(items) == []
        assert [item.html.strip() for item in items if isinstance(item, Page)] == SOUND


@pytest.mark.parametrize("length", ["", "abc", "-5", "9" * 30])
def test_a_content_length_that_is_no_number_costs_nothing(tmp_path: Path, length: str) -> None:
    records = list(PLAIN)
    records[VICTIM] = with_length(records[VICTIM], length)
    for items in everywhere(write(tmp_path, "x.warc.gz", gz(records))):
        assert numbers(items) == list(range(COUNT))


@pytest.mark.parametrize("suffix", ["warc.gz", "warc.zst", "warc"])
def test_a_cut_file_gives_what_is_whole_and_reports_the_tail(tmp_path: Path, suffix: str) -> None:
    members = {"warc.gz": gz, "warc.zst": zst, "warc": list}[suffix](PLAIN)
    whole = sum(map(len, members[:70]))
    for extra in (1, 2, 3, 12, 40, len(members[70]) // 2, len(members[70]) - 5):
        path = write(tmp_path, f"cut.{suffix}", [b"".join(members)[: whole + extra]])
        for items in everywhere(path):
            assert numbers(items) == list(range(70)), extra
            assert failures(items) == ["truncated_tail"], extra


NO_RECORD = {
    "no byte": b"",
    "line ends": b"\r\n" * 9,
    "an empty member": gzip.compress(b""),
    "a page": b"<html><body>502 Bad Gateway</body></html>\n" * 50,
    "a packed page": gzip.compress(b"<html><body>502 Bad Gateway</body></html>\n" * 50),
    "zeros": bytes(5000),
}


@pytest.mark.parametrize("suffix", ["warc.gz", "warc.zst", "warc"])
@pytest.mark.parametrize("name", NO_RECORD)
def test_a_file_without_a_record_is_reported_once(tmp_path: Path, name: str, suffix: str) -> None:
    path = write(tmp_path, f"x.{suffix}", [NO_RECORD[name]])
    (task,) = plan_ranges(resolve_inputs([str(path)], ReadingConfig()), ReadingConfig())
    (item,) = read(path, task.start, task.end)
    assert isinstance(item, Skipped)
    assert (item.reason, item.failed, item.offset, item.length) == ("no_record", True, 0, len(NO_RECORD[name]))


def test_a_large_file_without_a_record_is_reported_once_whatever_the_cuts(tmp_path: Path) -> None:
    for items in everywhere(write(tmp_path, "x.warc.gz", [b"<p>no record</p>" * 5000])):
        assert failures(items) == ["no_record"]


@pytest.mark.parametrize("where", ["first", "last"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_at_either_end_of_the_file_costs_itself(tmp_path: Path, damage: str, where: str) -> None:
    members = gz(PLAIN[:9])
    victim = 0 if where == "first" else 8
    members[victim] = DAMAGE[damage](members[victim])
    for items in everywhere(write(tmp_path, "x.warc.gz", members)):
        assert numbers(items) == [number for number in range(9) if number != victim]
        assert len(failures(items)) == 1


def test_neighbouring_damages_are_all_reported(tmp_path: Path) -> None:
    members = gz(PLAIN[:12])
    for victim in (4, 5, 9):
        members[victim] = flipped(members[victim])
    for items in everywhere(write(tmp_path, "x.warc.gz", members)):
        assert numbers(items) == [0, 1, 2, 3, 6, 7, 8, 10, 11]
        assert failures(items) == ["damaged_member"] * 3


def test_a_damaged_zstd_frame_costs_itself(tmp_path: Path) -> None:
    frames = zst(PLAIN)
    frames[VICTIM] = flipped(frames[VICTIM])
    for items in everywhere(write(tmp_path, "x.warc.zst", frames)):
        assert numbers(items) == OTHERS
        assert failures(items) == ["damaged_member"]


@pytest.mark.parametrize("line", [b"WARC/1.0", b"Content-Length"])
def test_a_damaged_header_of_a_plain_warc_costs_at_most_its_record(tmp_path: Path, line: bytes) -> None:
    records = list(PLAIN)
    records[VICTIM] = records[VICTIM].replace(line, b"\0" * len(line), 1)
    for items in everywhere(write(tmp_path, "x.warc", records)):
        assert [number for number in numbers(items) if number != VICTIM] == OTHERS
        assert len(failures(items)) == (line == b"WARC/1.0")


def test_records_before_the_damage_in_one_single_member_are_kept(tmp_path: Path) -> None:
    records = [*PLAIN[:50]]
    data = bytearray(gzip.compress(b"".join(records)))
    data[len(data) * 3 // 4] ^= 0xFF
    items = read(write(tmp_path, "x.warc.gz", [bytes(data)]))
    assert numbers(items) == list(range(len(numbers(items))))
    assert 20 <= len(numbers(items)) < 50
    assert failures(items) == ["damaged_member"]


@pytest.mark.parametrize("seed", range(6))
def test_random_flips_never_raise_and_leave_what_is_far_from_them(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    for suffix, pack in (("warc.gz", gz), ("warc.zst", zst), ("warc", list)):
        members = pack(PLAIN[:30])
        starts = [sum(map(len, members[:number])) for number in range(31)]
        data = bytearray(b"".join(members))
        hit = set()
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(data))
            data[place] ^= 1 << rng.randrange(8)
            hit.add(max(number for number in range(30) if starts[number] <= place))
        items = read(write(tmp_path, f"x.{suffix}", [bytes(data)]))
        survivors = set(numbers(items))
        assert set(range(30)) - hit <= survivors, (suffix, hit)
        assert len(numbers(items)) == len(survivors)
