"""A killed unit's results are read back, but for what was torn."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.journal import Journal
from obelics_pipeline.stages.fetch.result import FetchResult


def test_results_are_read_back_and_a_torn_line_is_not(tmp_path: Path) -> None:
    store, path = ImageStore(tmp_path / "store"), tmp_path / "deep" / "journal"
    kept = FetchResult("http://a/é\ud800", "ok", None, False, store.put(b"abc"), 3, "png", 1, 2)
    lost = FetchResult("http://a/2", "ok", None, False, "0" * 64, 3, "png", 1, 2)
    failed = FetchResult.without_image("http://a/3", "timeout")
    with Journal(path) as journal:
        for result in (kept, lost, failed):
            journal.add(result)
        assert len(path.read_bytes().splitlines()) == 3  # each is in the file at once
    path.write_bytes(path.read_bytes() + b'{"url": "http://a/4", "st')
    assert Journal(path).read(store) == {kept.url: kept, failed.url: failed}
    with Journal(path) as journal:
        journal.add(FetchResult.without_image("http://a/5", "dns"))
    assert sorted(Journal(path).read(store)) == ["http://a/3", "http://a/5", kept.url]


def test_what_was_measured_of_pixels_is_read_back(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "store")
    measured = {"one_colour": 0.5}
    result = FetchResult("http://a/1", "ok", None, False, store.put(b"abc"), 3, "png", 1, 2, quality=measured)
    with Journal(tmp_path / "journal") as journal:
        journal.add(result)
    assert Journal(tmp_path / "journal").read(store) == {result.url: result}


def test_a_damaged_image_is_not_taken_for_fetched(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "store")
    result = FetchResult("http://a/1", "ok", None, False, store.put(b"abc"), 3, "png", 1, 2)
    with Journal(tmp_path / "j") as journal:
        journal.add(result)
    store.path(result.sha256 or "").write_bytes(b"abX")
    assert Journal(tmp_path / "j").read(store) == {}


@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"null", b"[]", b"{}", b'{"url":1}'])))
def test_nothing_in_a_journal_is_too_odd(tmp_path_factory: object, lines: list[bytes]) -> None:
    path = tmp_path_factory.getbasetemp() / "journal"  # type: ignore[attr-defined]
    path.write_bytes(b"\n".join(lines))
    assert Journal(path).read(ImageStore(path)) == {}


def test_a_line_is_one_json_object(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.add(FetchResult.without_image("http://a/\n", "bad_url"))
    assert json.loads((tmp_path / "j").read_text())["url"] == "http://a/\n"
