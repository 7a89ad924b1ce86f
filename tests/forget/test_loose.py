"""Text files: an address, a hash or a host that is forgotten is struck out, in whatever spelling it stands there."""

from pathlib import Path

import pytest

from obelics_pipeline.forget.loose import strike_file, struck

URL = "http://site.example/a?x=1&y=ö"


def strike(token: str) -> str | None:
    return {URL: "forgotten", "ab" * 16: "cd" * 16, "gone.example": "forgotten"}.get(token)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f'{{"url": "{URL}", "n": 1}}', '{"url": "forgotten", "n": 1}'),
        ('{"url": "http://site.example/a?x=1&y=\\u00f6"}', '{"url": "forgotten"}'),
        ('<a href="http://site.example/a?x=1&amp;y=ö">', '<a href="forgotten">'),
        (f"failed at {URL}.", "failed at forgotten"),
        (f"{URL}/other", f"{URL}/other"),
        (f"id {'ab' * 16}, not {'ab' * 15}", f"id {'cd' * 16}, not {'ab' * 15}"),
        ("| gone.example | 12 |", "| forgotten | 12 |"),
        ("shard-000001.tar, www.here.example", "shard-000001.tar, www.here.example"),
    ],
)
def test_what_is_forgotten_is_struck_out(text: str, left: str) -> None:
    assert struck(text, strike) == left


def test_lines_of_a_journal_go_whole_and_other_bytes_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"url": "http://site.example/b"}\n\xff\xfe\n' + f'{{"url": "{URL}"}}\n'.encode())
    assert strike_file(path, strike, lines_go=True) > 0
    assert path.read_bytes() == b'{"url": "http://site.example/b"}\n\xff\xfe\n'
    assert strike_file(path, strike) == 0
