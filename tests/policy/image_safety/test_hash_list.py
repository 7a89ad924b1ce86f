"""Hash lists in the forms in which they are handed out; no line is trusted, and a bad one costs itself."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from obelics_pipeline.core.config.image_safety import HashKind, HashListConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.image_safety.hash_list import MAX_LINE, HashListCounts, read_hashes


def sha256(n: int) -> str:
    return hashlib.sha256(str(n).encode()).hexdigest()


def md5(n: int) -> str:
    return hashlib.md5(str(n).encode()).hexdigest()


def read(path: Path, kind: HashKind | None = None, **more: int) -> tuple[list[tuple[str, str]], HashListCounts]:
    counts = HashListCounts()
    of = HashListConfig(path=str(path), kind=kind, **more)
    return [(k, value.hex()) for k, value in read_hashes(of, counts)], counts


def test_one_hash_a_line_with_comments_and_what_follows_it(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    lines = [
        "\ufeff# made today",
        "",
        sha256(1),
        sha256(2).upper() + "  a note",
        "  0x" + sha256(3),
        sha256(4) + ",100",
        "zz",
        sha256(5)[:63],
    ]
    path.write_text("\r\n".join(lines))
    found, counts = read(path, "pdq")
    assert found == [("pdq", sha256(n)) for n in (1, 2, 3, 4)]
    assert (counts.hashes, counts.bad, counts.ambiguous) == (4, 2, 0)


def test_32_digits_are_md5_and_64_need_a_kind(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"{md5(1)}\n{sha256(1)}\n")
    found, counts = read(path)
    assert found == [("md5", md5(1))]
    assert (counts.hashes, counts.ambiguous, counts.bad) == (1, 1, 0)
    assert read(path, "sha256")[0] == [("md5", md5(1)), ("sha256", sha256(1))]


def test_a_csv_with_a_header(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(f'id,MD5,"pdq_hash",note\n1,{md5(1)},{sha256(1)},"a, b"\n2,,{sha256(2)},\n3,nothing,,\n')
    found, counts = read(path)
    assert found == [("md5", md5(1)), ("pdq", sha256(1)), ("pdq", sha256(2))]
    assert counts.bad == 1
    path.write_text(f"hash_type\tvalue\nSHA-256\t{sha256(1)}\nPDQ\t{sha256(2)}\nvideo_tmk\t{sha256(3)}\n")
    found, counts = read(path)
    assert found == [("sha256", sha256(1)), ("pdq", sha256(2))]
    assert counts.bad == 1


def test_json_lines_as_exchanges_give_them(tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    lines = [
        {"id": "1", "indicator": {"indicator": sha256(1), "type": "HASH_PDQ"}, "status": "MALICIOUS"},
        {"type": "HASH_MD5", "indicator": md5(1)},
        {"member": {"id": 2}, "fingerprints": {"md5": md5(2), "sha1": "0" * 40, "pdq": sha256(2)}},
        {"signal_type": "pdq", "signal": sha256(3)},
        {"type": "HASH_VIDEO_MD5", "indicator": md5(3)},
        {"hash": md5(4)},
        {"md5": 7},
        [1, 2],
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"md5": \n' + "[" * 100_000 + "\n")
    found, counts = read(path)
    wanted = [
        ("pdq", sha256(1)),
        ("md5", md5(1)),
        ("md5", md5(2)),
        ("pdq", sha256(2)),
        ("pdq", sha256(3)),
        ("md5", md5(4)),
    ]
    assert found == wanted
    assert counts.bad == 5


def test_a_packed_list_reads_alike_and_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.txt.gz"
    path.write_bytes(gzip.compress(f"{md5(1)}\n".encode()))
    assert read(path)[0] == [("md5", md5(1))]
    path.write_bytes(gzip.compress(b"\n" * 10_000_000))
    with pytest.raises(UserError, match="more than 1,000,000 bytes"):
        read(path, max_bytes=1_000_000)
    path.write_bytes(gzip.compress(f"{md5(1)}\n".encode() * 1000)[:-30])
    with pytest.raises(UserError, match=r"list\.txt\.gz: is damaged"):
        read(path)


def test_a_line_without_end_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(md5(1).encode() + b"\n" + md5(2).encode() + b"0" * (3 * MAX_LINE) + b"\n" + md5(3).encode())
    found, counts = read(path)
    assert found == [("md5", md5(1)), ("md5", md5(3))]
    assert counts.bad == 1


def test_a_list_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be read \(No such file"):
        read(tmp_path / "none.txt")
