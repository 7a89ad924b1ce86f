"""Files named by their content: written once, whole or not at all."""

import hashlib
import os
import threading
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.stages.fetch.image_store import ImageStore


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_what_is_put_is_read_under_its_hash(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    sha256 = store.put(b"abc")
    assert sha256 == hashlib.sha256(b"abc").hexdigest()
    assert store.read(sha256) == b"abc"
    assert files(tmp_path) == [f"{sha256[:2]}/{sha256}"]
    store.sync([sha256])


def test_putting_twice_writes_once(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    path = store.path(store.put(b"abc"))
    inode = path.stat().st_ino
    store.put(b"abc")
    assert path.stat().st_ino == inode


def test_a_file_that_was_cut_by_a_power_failure_is_written_again(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    sha256 = store.put(b"abc")
    store.path(sha256).write_bytes(b"")
    assert not store.holds(sha256)
    store.put(b"abc")
    assert store.read(sha256) == b"abc"


def test_a_file_of_zeros_of_the_right_length_is_written_again(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    sha256 = store.put(b"abc")
    store.path(sha256).write_bytes(bytes(3))
    store.put(b"abc")
    assert store.read(sha256) == b"abc"


def test_bytes_are_on_the_disk_before_they_have_their_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, synced, fsync = ImageStore(tmp_path), [], os.fsync

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        synced.append((os.fstat(descriptor).st_ino, store.has(hashlib.sha256(b"abc").hexdigest())))

    monkeypatch.setattr(os, "fsync", noted)
    path = store.path(store.put(b"abc"))
    assert synced == [(path.stat().st_ino, False)]


def test_what_was_committed_and_is_not_whole_is_named(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    sha256 = store.put(b"abc")
    assert store.read_whole(sha256) == b"abc"
    store.path(sha256).write_bytes(b"abd")
    with pytest.raises(Damaged, match=sha256):
        store.read_whole(sha256)
    store.discard(sha256)
    with pytest.raises(Damaged, match=sha256):
        store.read_whole(sha256)


def test_damage_is_noticed(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    sha256 = store.put(b"abc")
    store.path(sha256).write_bytes(b"abd")
    assert not store.holds(sha256)
    with pytest.raises(ValueError, match="damaged"):
        store.read(sha256)


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_only_a_hash_is_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a sha256"):
        ImageStore(tmp_path).path(name)


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    import resource
    import signal

    store, old = ImageStore(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, old[1]))  # a write beyond it fails half way
    try:
        with pytest.raises(OSError, match="too large"):
            store.put(bytes(300_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)
    assert files(tmp_path) == []
    assert store.read(store.put(bytes(300_000))) == bytes(300_000)


def test_what_a_kill_left_is_swept(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    sha256 = store.put(b"abc")
    store.path(sha256).with_name(".tmp-0123").write_bytes(b"ab")
    assert store.sweep() == 1
    assert files(tmp_path) == [f"{sha256[:2]}/{sha256}"]


def test_many_may_put_the_same_at_once(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    threads = [threading.Thread(target=store.put, args=(bytes(10**6),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files(tmp_path)) == 1
    assert store.holds(hashlib.sha256(bytes(10**6)).hexdigest())
