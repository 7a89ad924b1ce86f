"""Lists as others publish them: read whole, within bounds, and looked up by registered domain and below."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.config.blocklists import BlocklistConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.blocklists import download, lists, source
from obelics_pipeline.policy.blocklists.entry import canonical, entries_of
from obelics_pipeline.policy.blocklists.lists import Blocklists, identity, notices, open_lists
from obelics_pipeline.policy.lists.table import Damaged, Table
from tests.stages.fetch.site import Site, answer, redirect

FETCHING = FetchingConfig(allow_private=("127.0.0.0/8",))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def opened(path: Path | str, **values: object) -> Blocklists:
    return open_lists({"made": BlocklistConfig(path=str(path), **values)}, FETCHING)  # type: ignore[arg-type]


def written(folder: Path, *lines: str) -> Path:
    path = folder / "list.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def blocked(found: Blocklists, urls: Sequence[str]) -> list[str]:
    return [url for url in urls if found.reason(url, "pages") == "blocked_domain_made"]


@pytest.mark.parametrize(
    ("line", "entries"),
    [
        ("example.com", ["example.com"]), ("  Example.COM.  ", ["example.com"]), (".example.com", ["example.com"]),
        ("*.example.com", ["example.com"]), ("||example.com^", ["example.com"]), ("example.com:8080", ["example.com"]),
        ("http://example.com/", ["example.com"]), ("https://example.com/a/b/", ["example.com/a/b"]),
        ("example.com/a?b=C", ["example.com/a?b=C"]), ("0.0.0.0 example.com", ["example.com"]),
        ("127.0.0.1\texample.com www.example.com # ads", ["example.com", "www.example.com"]),
        ("127.0.0.1 localhost", []), ("::1 ip6-localhost", []), ("# a comment", []), ("! a comment", []), ("", []),
        ("example.com # why", ["example.com"]), ("müller.de", ["xn--mller-kva.de"]), ("192.0.2.7", ["192.0.2.7"]),
        ("no domain at all", None), ("com", None), ("<html>", None), ("a..b", None), ("exa mple.com", None),
        ("-", None), ("http://[", None), ("\x00\x01", None),
    ],
)  # fmt: skip
def test_a_line_is_a_domain_a_url_nothing_or_bad(line: str, entries: list[str] | None) -> None:
    assert entries_of(line) == entries


@given(st.text(max_size=80))
def test_no_line_breaks_the_reader_and_an_entry_is_its_own_canonical_form(line: str) -> None:
    for entry in entries_of(line) or ():
        assert canonical(f"http://{entry}" if ":" not in entry.split("/")[0] else entry) in (entry, None)


def test_a_domain_blocks_what_is_below_it_and_a_sub_domain_only_itself_and_below(tmp_path: Path) -> None:
    found = opened(written(tmp_path, "bad.com", "blog.good.co.uk", "xn--mller-kva.de"))
    bad = ["http://bad.com", "https://www.bad.com/x", "http://a.b.BAD.com:8080/", "http://blog.good.co.uk/",
           "http://x.blog.good.co.uk", "http://müller.de/", "http://bad.com./"]  # fmt: skip
    good = ["http://notbad.com", "http://bad.com.evil.net", "http://good.co.uk/", "http://shop.good.co.uk",
            "http://com/", "http://co.uk/", "not a url", "http://[", "data:x"]  # fmt: skip
    assert blocked(found, bad + good) == bad


def test_a_public_suffix_on_a_list_blocks_no_site_of_strangers(tmp_path: Path) -> None:
    found = opened(written(tmp_path, "co.uk", "blogspot.com", "github.io", "one.blogspot.com"))
    urls = ["http://bbc.co.uk/", "http://two.blogspot.com/", "http://me.github.io/", "http://one.blogspot.com/x",
            "http://blogspot.com/"]  # fmt: skip
    assert blocked(found, urls) == urls[3:]


def test_a_url_on_a_list_blocks_what_begins_with_it(tmp_path: Path) -> None:
    found = opened(written(tmp_path, "host.com/~bad", "host.com/page?id=7"))
    bad = [
        "http://host.com/~bad",
        "http://host.com/~bad/x.html",
        "http://www.host.com/~bad/",
        "http://host.com/page?id=7",
    ]
    good = ["http://host.com/", "http://host.com/~badly", "http://host.com/page?id=8", "http://host.com/page"]
    assert blocked(found, bad + good) == bad


def ut1(folder: Path) -> Path:
    for category, name, text in [
        ("adult", "domains", "adult.com\n"), ("adult", "urls", "host.com/xxx\n"), ("games", "domains", "games.com\n"),
    ]:  # fmt: skip
        path = folder / "blacklists" / category / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "blacklists"


URLS = ["http://adult.com/", "http://host.com/xxx/1", "http://games.com/", "http://other.com/"]


@pytest.mark.parametrize("form", ["folder", "tar", "tar.gz"])
def test_a_folder_of_categories_is_read_as_it_lies_or_packed(form: str, tmp_path: Path) -> None:
    path = ut1(tmp_path)
    if form != "folder":
        packed = tmp_path / f"list.{form}"
        with tarfile.open(packed, "w:gz" if form == "tar.gz" else "w") as archive:
            archive.add(path, "blacklists")
            link = tarfile.TarInfo("blacklists/porn")
            link.type, link.linkname = tarfile.SYMTYPE, "adult"
            archive.addfile(link)
        assert blocked(opened(packed, categories=["porn"]), URLS) == URLS[:2]
        path = packed
    assert blocked(opened(path, categories=["adult"]), URLS) == URLS[:2]
    assert blocked(opened(path), URLS) == URLS[:3]
    with pytest.raises(UserError, match="no category sport; valid: adult, games"):
        opened(path, categories=["sport"])


def test_an_archive_leads_nowhere_else_and_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "list.tar"
    with tarfile.open(packed, "w") as archive:
        for name in ("../../evil/domains", "/etc/adult/domains"):
            member = tarfile.TarInfo(name)
            member.size = 9
            archive.addfile(member, io.BytesIO(b"evil.com\n"))
        link = tarfile.TarInfo("adult/urls")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    before = sorted(tmp_path.rglob("*"))
    opened(packed)
    assert [p for p in sorted(tmp_path.rglob("*")) if p not in before and "cache" not in p.parts] == []
    monkeypatch.setattr(source, "MAX_BYTES", 10)
    with pytest.raises(UserError, match="has more than"):
        opened(packed, categories=["evil", "adult"])


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    path = ut1(tmp_path)
    (tmp_path / "secret").write_text("secret.com\n")
    (path / "games" / "urls").symlink_to(tmp_path / "secret")
    assert blocked(opened(path), ["http://secret.com"]) == []


def test_packed_lines_are_unpacked_and_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "list.gz"
    path.write_bytes(gzip.compress(b"bad.com\n" + b"x" * 10_000_000 + b"\nworse.com"))
    found = opened(path)
    assert blocked(found, ["http://bad.com", "http://worse.com"]) == ["http://bad.com", "http://worse.com"]
    monkeypatch.setattr(source, "MAX_BYTES", 1_000_000)
    path.write_bytes(gzip.compress(b"bad.com\n" + b"y" * 10_000_000))
    with pytest.raises(UserError, match="has more than"):
        opened(path)


def test_a_bad_line_costs_a_line_and_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "bad.com", "<html>", "x" * 10_000, "worse.com")
    config = {"made": BlocklistConfig(path=str(path))}
    assert notices(config, FETCHING) == ["blocklists.made: 2 entries, 2 of 4 lines are no domain and no URL"]
    with pytest.raises(UserError, match="none of its 1 lines is a domain"):
        opened(written(tmp_path, "<html>"))


def test_the_checksum_is_held_to_and_ids_follow_the_content_not_the_path(tmp_path: Path) -> None:
    first = written(tmp_path, "bad.com")
    right = hashlib.sha256(first.read_bytes()).hexdigest()
    opened(first, sha256=right)
    with pytest.raises(UserError, match=f"has the sha256 {right}, not 0000"):
        opened(first, sha256="0" * 64)
    other = tmp_path / "other.txt"
    other.write_bytes(first.read_bytes())
    same = [identity({"made": BlocklistConfig(path=str(path))}) for path in (first, other)]
    assert same[0] == same[1]
    other.write_text("worse.com\n")
    assert identity({"made": BlocklistConfig(path=str(other))}) != same[0]
    assert identity({"made": BlocklistConfig(path=str(first), applies_to=["images"])}) != same[0]


def test_what_applies_to_images_says_nothing_of_pages(tmp_path: Path) -> None:
    found = opened(written(tmp_path, "bad.com"), applies_to=["images"])
    assert found.reason("http://bad.com/a.jpg", "images") == "blocked_domain_made"
    assert found.reason("http://bad.com/", "pages") is None


def test_a_damaged_table_is_made_anew(tmp_path: Path) -> None:
    path = written(tmp_path, "bad.com")
    opened(path)
    (table,) = lists.cache_folder().glob("*.table")
    data = bytearray(table.read_bytes())
    data[-1] ^= 1
    table.write_bytes(data)
    lists._mapped.cache_clear()
    with pytest.raises(Damaged):
        Table(table)
    assert blocked(opened(path), ["http://bad.com"]) == ["http://bad.com"]
    assert Table(table).counts.entries == 1


def test_a_list_at_a_url_is_fetched_once_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, asked = b"bad.com\n", []

    def content_of(url: str, _fetching: FetchingConfig) -> bytes:
        asked.append(url)
        return content

    monkeypatch.setattr(download, "_content", content_of)
    right = hashlib.sha256(content).hexdigest()
    for _ in range(2):
        found = opened("http://lists.example/adult.txt", sha256=right)
        assert blocked(found, ["http://bad.com"]) == ["http://bad.com"]
    assert len(asked) == 1
    with pytest.raises(UserError, match="has the sha256"):
        opened("http://lists.example/adult.txt", sha256="1" * 64)


def test_a_list_is_asked_for_at_the_port_that_the_config_gives_and_at_no_other_of_a_redirect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"bad.com\n"
    found = BlocklistConfig(path="http://lists.example:9000/l", sha256=hashlib.sha256(content).hexdigest())
    moved = BlocklistConfig(path="http://lists.example:9000/moved", sha256="0" * 64)
    pages = {found.path: answer(200, content), moved.path: redirect("http://lists.example:25/l")}
    with Site(pages) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        download.download(found, FETCHING, tmp_path / "list")
        with pytest.raises(UserError, match="forbidden_port"):
            download.download(moved, FETCHING, tmp_path / "other")
    assert (tmp_path / "list").read_bytes() == content
    assert {request.path for request in proxy.log} == set(pages)


def test_a_private_address_is_not_asked_for_a_list() -> None:
    with pytest.raises(UserError, match="cannot be fetched"):
        open_lists({"made": BlocklistConfig(path="http://127.0.0.1:9/list", sha256="0" * 64)}, FetchingConfig())


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("{made: {path: 'http://x.example/l'}}", "needs a sha256"),
        ("{made: {path: l, sha256: abc}}", "64 hexadecimal digits"),
        ("{'Bad name': {path: l}}", "cannot name a list"),
        ("{made: {path: l, applies_to: [texts]}}", "pages"),
    ],
)
def test_a_wrong_config_is_said_in_one_line(value: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        load_config("default", [f"blocklists={value}"])


def test_a_list_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        opened(tmp_path / "nothing")
