"""What a folder of tombstones knows again, and that it tells of nothing else."""

import pickle
import secrets
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.tombstones.hash_set import HashSet, sorted_hashes, write_hashes
from obelics_pipeline.policy.tombstones.keyed import ID, IMAGE_SET, SHA256, URL, Keyed, make_key, read_key
from obelics_pipeline.policy.tombstones.lists import PARSERS, TombstoneCounts, hashes_of
from obelics_pipeline.policy.tombstones.texts import signed_texts, write_texts
from obelics_pipeline.policy.tombstones.tombstones import Tombstones, listed, tombstones_in

COMPARE = DedupConfig()
TEXT = " ".join(
    f"The ferry of the {n}th evening came late, and the harbour master wrote {n * 7} lines." for n in range(30)
)


def made(folder: Path, **lists: list[str]) -> Tombstones:
    keyed, counts = make_key(folder / "key"), TombstoneCounts()
    for kind, lines in lists.items():
        path = folder / f"{kind}.txt"
        path.write_text("".join(f"{line}\n" for line in lines))
        write_hashes(folder, hashes_of(kind, path, keyed, counts))
    assert counts.bad == 0
    found = tombstones_in([folder], COMPARE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "spelling",
    [
        "http://site.example/a/page?b=2&a=1",
        "https://www.site.example/a/page/?a=1&b=2#part",
        "HTTP://SITE.example:80/a/./x/../page?a=1&b=2&utm_source=mail",
        "https://site.example/%61/page?a=1&b=2",
    ],
)
def test_an_address_is_known_in_every_spelling(tmp_path: Path, spelling: str) -> None:
    known = made(tmp_path, urls=["https://site.example/a/page?a=1&b=2"])
    assert known.url(spelling)
    assert not known.url("https://site.example/a/page?a=1&b=3")
    assert not known.url("https://site.example/a")


def test_a_domain_is_known_with_all_below_it(tmp_path: Path) -> None:
    known = made(tmp_path, domains=["*.Ex\u00e4mple.org", "one.host.example."])
    for url in ("http://xn--exmple-cua.org/", "https://a.b.ex\u00e4mple.org/x.jpg", "http://one.host.example:8080/y"):
        assert known.url(url), url
    for url in ("http://host.example/", "http://notxn--exmple-cua.org/", "http://org/", "", "data:image/png;base64,AA"):
        assert not known.url(url), url


def test_ids_and_hashes_are_known(tmp_path: Path) -> None:
    import hashlib

    known = made(tmp_path, hashes=["AB" * 16, hashlib.sha256(b"picture").hexdigest()])
    assert known.document("ab" * 16)
    assert known.content(b"picture")
    assert not known.document("ac" * 16)
    assert not known.content(b"pictures")


def test_a_near_duplicate_of_a_text_is_known_and_another_is_not(tmp_path: Path) -> None:
    keyed = make_key(tmp_path / "key")
    write_texts(tmp_path, COMPARE.text, signed_texts(keyed, COMPARE.text, [TEXT, "short"]))
    known = tombstones_in([tmp_path], COMPARE)
    assert known is not None
    assert known.text(TEXT)
    assert known.text(TEXT.replace("the 3th evening", "a third evening"))
    assert not known.text("short")  # dedup does not compare such texts
    assert not known.text(
        " ".join(f"Nothing of the kind happened on the {n}th of May, as far as we know." for n in range(30))
    )
    unlike = tombstones_in([tmp_path], DedupConfig(enabled=False))
    assert unlike is not None
    assert not unlike.text(TEXT)


def test_a_set_of_images_is_known_whatever_its_order(tmp_path: Path) -> None:
    from obelics_pipeline.stages.dedup.keepers import image_set_key

    images = [ImageNode(f"http://a.example/{n}", "", sha256=f"{n:064x}") for n in range(3)]
    key = image_set_key(({"src": i.src, "sha256": i.sha256} for i in images), COMPARE.image_set)
    assert key is not None
    write_hashes(tmp_path, [make_key(tmp_path / "key").of(IMAGE_SET, key)])
    known = tombstones_in([tmp_path], COMPARE)
    assert known is not None
    assert known.image_set(images[::-1])
    assert not known.image_set(images[:2])


def test_nothing_of_what_was_removed_is_in_the_files(tmp_path: Path) -> None:
    import hashlib

    url = "https://site.example/a/page"
    made(tmp_path, urls=[url])
    write_texts(tmp_path, COMPARE.text, signed_texts(read_key(tmp_path / "key"), COMPARE.text, [TEXT]))
    (tmp_path / "urls.txt").unlink()
    normal = "http://site.example/a/page"
    from obelics_pipeline.stages.dedup.candidates import signer

    signed = signer(COMPARE.text).sign([TEXT])
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for digest in (hashlib.sha256, hashlib.md5, lambda b: hashlib.blake2b(b, digest_size=16)):
        for text in (url, normal, TEXT):
            assert digest(text.encode()).digest() not in stored  # type: ignore[operator]
    assert signed.sketches[0].tobytes() not in stored
    assert not any(key.tobytes() in stored for key in signed.band_keys[0])


def test_another_key_knows_nothing(tmp_path: Path) -> None:
    made(tmp_path, urls=["https://site.example/a"])
    (tmp_path / "key").write_text(secrets.token_hex(32) + "\n")
    other = tombstones_in([tmp_path], COMPARE)
    assert other is not None
    assert not other.url("https://site.example/a")


def test_the_key_is_its_owners_and_is_made_once(tmp_path: Path) -> None:
    first = make_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert make_key(tmp_path / "key").fingerprint == first.fingerprint
    other = tmp_path / "other"
    other.write_text("ab" * 32 + "\n")
    with pytest.raises(UserError, match="another key"):
        make_key(tmp_path / "key", other)
    assert make_key(tmp_path / "sub/key", other).fingerprint == make_key(tmp_path / "third/key", other).fingerprint
    other.write_text("no key\n")
    with pytest.raises(UserError, match="not a key"):
        make_key(tmp_path / "fourth", other)


def test_folders_are_asked_together_and_travel(tmp_path: Path) -> None:
    made(tmp_path / "a", urls=["https://site.example/a"]) if (tmp_path / "a").mkdir() is None else None
    made(tmp_path / "b", urls=["https://site.example/b"]) if (tmp_path / "b").mkdir() is None else None
    both = tombstones_in([tmp_path / "a", tmp_path / "b", tmp_path / "none"], COMPARE)
    assert both is not None
    sent = pickle.loads(pickle.dumps(both))
    assert sent.url("https://site.example/a")
    assert sent.url("https://site.example/b")
    assert sent.digest == both.digest
    assert len(pickle.dumps(both)) < 10_000


def test_a_folder_without_is_refused_where_it_was_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no tombstones are there"):
        listed([str(tmp_path)], {}, "forgotten:")


def test_damaged_tombstones_are_refused(tmp_path: Path) -> None:
    known = made(tmp_path, urls=["https://site.example/a"])
    (path,) = tmp_path.glob("*.hashes")
    path.write_bytes(b"\0" * 32)
    fresh = Tombstones([tmp_path], known.digest + "x", COMPARE)
    with pytest.raises(UserError, match="cannot be read"):
        fresh.url("https://site.example/a")


@given(st.lists(st.binary(min_size=16, max_size=16), max_size=200), st.binary(min_size=16, max_size=16))
def test_a_set_of_hashes_is_a_set(values: list[bytes], other: bytes) -> None:
    data = sorted_hashes(values)
    assert data == b"".join(sorted(set(values)))
    found = HashSet(data)
    assert all(value in found for value in values)
    assert (other in found) == (other in set(values))


def test_a_kind_is_a_part_of_a_hash() -> None:
    keyed = Keyed(b"k" * 32)
    assert len({keyed.of(kind, "ab" * 32) for kind in (URL, ID, SHA256, IMAGE_SET)}) == 4


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("urls", "site.example/page"),
        ("urls", "ftp://site.example/page"),
        ("urls", "http://"),
        ("urls", "http://exa mple/"),
        ("urls", "javascript:alert(1)"),
        ("domains", "https://site.example/"),
        ("domains", "com"),
        ("domains", "co.uk"),
        ("domains", "two words"),
        ("domains", "."),
        ("hashes", "abc"),
        ("hashes", "g" * 64),
        ("hashes", "ab" * 20),
    ],
)
def test_a_bad_line_is_told_by_its_number(tmp_path: Path, kind: str, line: str) -> None:
    path, counts = tmp_path / "list", TombstoneCounts()
    path.write_text(f"# a list\n\n{line}\n")
    assert list(hashes_of(kind, path, Keyed(b"k" * 32), counts)) == []
    assert counts.bad == 1
    assert counts.named[0].startswith(f"{path}:3: ")
    assert len(line) < 3 or line not in counts.named[0]


def test_every_line_is_untrusted(tmp_path: Path) -> None:
    path, counts = tmp_path / "list", TombstoneCounts()
    path.write_bytes(
        b"\xef\xbb\xbfhttp://a.example/1\r\n\xff\xfe\nhttp://a.example/" + b"x" * 200_000 + b"\nhttp://a.example/2"
    )
    keyed = Keyed(b"k" * 32)
    found = list(hashes_of("urls", path, keyed, counts))
    assert found == [keyed.of(*PARSERS["urls"](url)) for url in ("http://a.example/1", "http://a.example/2")]
    assert counts.bad == 2
    assert counts.entries == {"urls": 2}


def test_an_address_that_a_run_keeps_otherwise_is_known_both_ways(tmp_path: Path) -> None:
    path, counts, keyed = tmp_path / "list", TombstoneCounts(), Keyed(b"k" * 32)
    path.write_text("http://a.example/by/eve@example.org\nhttp://a.example/plain\n")
    found = list(hashes_of("urls", path, keyed, counts, lambda url: url.replace("eve@example.org", "person")))
    kept = ("http://a.example/by/eve@example.org", "http://a.example/by/person", "http://a.example/plain")
    assert found == [keyed.of(*PARSERS["urls"](url)) for url in kept]
    assert counts.entries == {"urls": 2}
