"""The fast way: taken where records are sound, left at the first that is not."""

from __future__ import annotations

import itertools
from collections.abc import Generator

import pytest

from obelics_pipeline.stages.read.raw_record import RawRecord
from obelics_pipeline.stages.read.source import BytesSource
from obelics_pipeline.stages.read.verified_run import verified_run
from tests.stages.read.warcs import declared, gz, html, pages, record, url, with_length

PLAIN = [
    record(kind="request", target=url(0)),
    *pages(6),
    record(b"k: v", url(1), "metadata"),
    record(html(9), "http://site.example/ü"),
    *pages(2),
]


def run(members: list[bytes], start: int = 0) -> tuple[list[RawRecord], int]:
    source = BytesSource(b"".join(members))

    def drive() -> Generator[RawRecord, None, int]:
        return (yield from verified_run(source, start, source.size, 1 << 20))

    records, running = [], drive()
    while True:
        try:
            records.append(next(running))
        except StopIteration as stop:
            return records, stop.value


def test_all_but_the_last_record_of_a_sound_file_go_the_fast_way() -> None:
    members = gz(PLAIN)
    starts = list(itertools.accumulate(map(len, members), initial=0))
    records, position = run(members)
    assert [(r.offset, r.length) for r in records] == [(a, b - a) for a, b in itertools.pairwise(starts[:-1])]
    assert position == starts[-2]
    assert all(r.head and r.body for r in records if r.headers["warc-type"] == "response")


@pytest.mark.parametrize("change", [-100, -4, -1, 1, 4, 50, 3000])
def test_the_run_ends_before_a_record_of_wrong_length(change: int) -> None:
    lying = [*PLAIN[:4], with_length(PLAIN[4], declared(PLAIN[4]) + change), *PLAIN[5:]]
    records, position = run(gz(lying))
    assert len(records) == 4
    assert position == sum(map(len, gz(PLAIN[:4])))


def test_the_run_ends_before_a_member_of_several_records() -> None:
    members = gz([*PLAIN[:3], b"".join(PLAIN[3:6]), *PLAIN[6:]])
    assert [r.offset for r in run(members)[0]] == [0, len(members[0]), len(members[0] + members[1])]


def test_the_run_ends_before_damage_and_before_an_empty_member() -> None:
    members = gz(PLAIN)
    flipped = [*members[:5], members[5][:-9] + b"\0" + members[5][-8:], *members[6:]]
    assert len(run(flipped)[0]) in (4, 5)
    assert len(run([*members[:5], *gz([b""]), *members[5:]])[0]) == 4


def test_an_unreadable_source_is_an_error_not_damage() -> None:
    class Failing(BytesSource):
        def at(self, position: int, count: int) -> bytes:
            if position > 65_000:
                self.failure = OSError("the network is gone")
                raise self.failure
            return super().at(position, count)

    source = Failing(b"".join(gz([record(html(n, 9000), url(n)) for n in range(9)])))
    with pytest.raises(OSError, match="network is gone"):
        list(verified_run(source, 0, source.size, 1 << 20))
