"""Requests of a run are counted by kind, as a store bills them, and by the folder that they are about."""

from typing import Any

import pytest

from benchmarks.store_run import Counting, kind_of, picture, place_of, table

ASKED = {
    ("PUT", "/corpus/run/shards/shard-000000.tar", ""): ("PUT", "shards"),
    ("GET", "/corpus/run/shuffled/uses/0/bucket=1.json", ""): ("GET", "shuffled"),
    ("GET", "/corpus", "list-type=2&prefix=run/extract/"): ("LIST", "extract"),
    ("GET", "/corpus", "list-type=2&prefix=run/"): ("LIST", "the run's own files"),
    ("HEAD", "/corpus/run/manifest.json", ""): ("HEAD", "the run's own files"),
}


def environ(method: str, path: str, query: str) -> dict[str, Any]:
    return {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "CONTENT_LENGTH": "7"}


@pytest.mark.parametrize(("request_", "expected"), ASKED.items())
def test_a_request_has_a_kind_and_a_place(request_: tuple[str, str, str], expected: tuple[str, str]) -> None:
    assert (kind_of(environ(*request_)), place_of(environ(*request_))) == expected


def test_all_requests_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.store_run.SECONDS", 0.0)
    store = Counting(lambda _environ, _start: [b"abc"])
    for request in ASKED:
        assert list(store(environ(*request), print)) == [b"abc"]
    assert (store.bytes["sent"], store.bytes["received"]) == (35, 15)
    assert table(store).splitlines()[-1] == "| **all** | 1 | 1 | 2 | 1 |"


def test_each_address_has_a_picture_of_its_own() -> None:
    assert picture("http://a/1.jpg") == picture("http://a/1.jpg") != picture("http://a/2.jpg")
