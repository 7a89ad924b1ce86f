"""What a forget found is noted, and told again; what an earlier version noted is understood."""

import json
from pathlib import Path

import numpy as np

from obelics_pipeline.forget.lone import LONE, LONE_FILE
from obelics_pipeline.forget.pending import EDITED, Pending, ToForget
from obelics_pipeline.forget.values import keys_of
from obelics_pipeline.policy.tombstones.keyed import Keyed, make_key

A, B, C, D = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)


def begun(folder: Path) -> tuple[Pending, Keyed]:
    keyed = make_key(folder / "key")
    pending = Pending(folder, keyed)
    pending.begin(hashes=True, validated=False)
    return pending, keyed


def test_what_was_found_is_told_again(tmp_path: Path) -> None:
    pending, keyed = begun(tmp_path)
    assert pending.counts is None
    edited = np.array([(B.encode(), 0, True), (A.encode(), 3, False)], EDITED)
    found = ToForget(edited, np.array([C.encode()]), {"documents": 7})
    pending.note(found, keys_of(keyed, LONE, ["http://a.example/"]), keys_of(keyed, LONE_FILE, ["ab" * 32]))
    again = Pending(tmp_path, keyed)
    assert again.counts == {"documents": 7}
    again.load()
    assert again.lefts([A, B, C, D]) == [3, 0, None, None]
    assert [again.too_few(doc) for doc in (A, B, C, D)] == [False, True, False, False]
    assert [again.out(doc) for doc in (A, B, C, D)] == [False, True, True, False]
    assert again.lone_url("http://a.example/")
    assert not again.lone_url("http://b.example/")
    assert again.lone_file("ab" * 32)
    again.end()
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_what_an_earlier_version_found_is_understood(tmp_path: Path) -> None:
    pending, keyed = begun(tmp_path)
    value = {"edited": {A: 3, B: 1}, "too_few": [B], "copies": [C], "counts": {"documents": 7}}
    noted = json.loads((tmp_path / "pending.json").read_text())
    (tmp_path / "pending.json").write_text(json.dumps(noted | {"found": value, "written": ["shard-000001.tar"]}))
    assert pending.counts == {"documents": 7}
    again = Pending(tmp_path, keyed).load()
    assert again.lefts([A, B, C]) == [3, 1, None]
    assert [again.out(doc) for doc in (A, B, C)] == [False, True, True]
    assert again.written == ["shard-000001.tar"]
    assert again.hashes
