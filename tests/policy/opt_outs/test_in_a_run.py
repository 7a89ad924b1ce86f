"""A whole run: lists and a service are obeyed, all is counted, nothing is asked twice, any run gives the bytes."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.commit import file_sha256
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.storage import read_table
from obelics_pipeline.jobs.main_job import run
from tests.policy.opt_outs.test_in_extraction import PAGES, listed, page
from tests.stages.consent.registry import Registry, status
from tests.stages.dedup.planted import shard_documents
from tests.stages.fetch.site import Site, answer, picture

BASE = [
    "consent={}",
    "fetch.tdm=ignore",
    "language.min_score=0",
    "filters.document={image_count: {min: 1}}",
    "dedup.text.enabled=false",
    "dedup.paragraphs.min_count=null",
    "dedup.image_set.enabled=false",
    "images.min_side=10",
]
PAGE = "https://site{}.example/page"
IMAGE = "https://site{}.example/{}.jpg"


def done(folder: Path, sets: Sequence[str], expect: int = 0, pages: Sequence[bytes] = PAGES, **more: Any) -> Path:
    """A finished run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "in.warc").write_bytes(b"".join(pages))
    output = folder / "out"
    assert run("default", [str(folder / "in.warc")], str(output), 1, [*BASE, *sets], yes=True, **more) == expect
    return output


def service(registry: Registry, **more: Any) -> str:
    values = {"url": registry.url, "allow_private": ["127.0.0.1/32"], "requests_per_second": 1000, "retries": 0, **more}
    return f"consent.service={json.dumps(values)}"


def dropped(output: Path, noun: str) -> Counter[str]:
    return Counter(json.loads((output / "manifest.json").read_text())["ledgers"][noun]["dropped"])


def kept(output: Path) -> set[str]:
    found: list[Any] = [document["general_metadata"] for document in shard_documents(output)]
    return {(json.loads(value) if isinstance(value, str) else value)["url"] for value in found}


def published(output: Path) -> dict[str, str]:
    files = [p for s in ("shards", "assembled", "consent") for p in (output / s).rglob("*") if p.is_file()]
    return {str(p.relative_to(output)): file_sha256(p) for p in [*files, output / "index.parquet"]}


NO_FETCH = "fetch.enabled=false"


def test_a_service_drops_documents_and_images_and_is_asked_once(tmp_path: Path) -> None:
    opted_out = {PAGE.format(1), PAGE.format(2), IMAGE.format(4, 4)}
    with Registry(opted_out) as registry:
        output = done(tmp_path, [service(registry), NO_FETCH, "images.min_per_document=0"])
        asked = [url for request in registry.log for url in request.urls]
        assert sorted(asked) == sorted(f.format(n, n) for f in (PAGE, IMAGE) for n in range(6))
        assert done(tmp_path, [service(registry), NO_FETCH, "images.min_per_document=0"]) == output
        # another threshold later on, or a longer wait, is no new question
        done(tmp_path, [service(registry, timeout_seconds=99), NO_FETCH, "images.min_per_document=1"])
        assert len(registry.log) == 1
    assert dropped(output, "documents") == {"opt_out_service": 2, "image_count": 1}
    assert kept(output) == {PAGE.format(n) for n in (0, 3, 5)}
    assert dropped(output, "images")["opt_out_service"] == 1
    found = [
        json.loads(v) for v in read_table(next((output / "consent").glob("*.parquet")))["general_metadata"].to_pylist()
    ]
    assert all(set(general["opt_out_checked"]) == {"service"} for general in found)


@pytest.mark.slow
def test_what_is_new_alone_is_asked(tmp_path: Path) -> None:
    with Registry({PAGE.format(1)}) as registry:
        done(tmp_path, [service(registry), NO_FETCH], pages=PAGES[:4])
        done(tmp_path, [service(registry), NO_FETCH], pages=PAGES)
        assert sorted(registry.log[1].urls) == sorted(f.format(n, n) for f in (PAGE, IMAGE) for n in (4, 5))


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "left"), [("keep", {0, 1, 2, 3, 4, 5}), ("drop", set())])
def test_without_an_answer_the_config_decides(tmp_path: Path, choice: str, left: set[int]) -> None:
    with Registry(first=[status(500)] * 99) as registry:
        output = done(tmp_path, [service(registry, on_failure=choice), NO_FETCH])
        assert kept(output) == {PAGE.format(n) for n in left}
        assert dropped(output, "documents")["opt_out_unanswered"] == 6 - len(left)
        registry.first.clear()
        done(tmp_path, [service(registry, on_failure=choice), NO_FETCH])
        assert kept(output) == {PAGE.format(n) for n in left}  # what is committed stands
        done(tmp_path, [service(registry, on_failure=choice), NO_FETCH], retry=["retryable"])
        assert len(kept(output)) == 6


def test_a_run_can_stop_and_go_on_with_what_it_heard(tmp_path: Path) -> None:
    with Registry({PAGE.format(3)}) as registry:
        registry.first = [registry.flags, registry.flags, status(500)]
        sets = [service(registry, batch=5, on_failure="stop"), NO_FETCH]
        with pytest.raises(Stopped, match=r"gave no answer \(http_500\); run the same command to continue"):
            done(tmp_path, sets)
        output = done(tmp_path, sets)
        assert [len(request.urls) for request in registry.log] == [5, 5, 2, 2]
    assert dropped(output, "documents")["opt_out_service"] == 1


@pytest.mark.slow
def test_the_same_answers_give_the_same_bytes(tmp_path: Path) -> None:
    with Registry({PAGE.format(1), IMAGE.format(0, 0)}) as registry:
        one = done(tmp_path / "a", [service(registry), NO_FETCH, "images.min_per_document=0"])
        registry.first = [status(503), registry.half]
        sets = [service(registry, retries=3, backoff_seconds=0, batch=3), NO_FETCH, "images.min_per_document=0"]
        two = done(tmp_path / "b", sets)
    assert published(one) == published(two)


def test_a_listed_image_is_never_asked_for_and_a_listed_content_never_published(tmp_path: Path) -> None:
    red, blue = picture(colour="red"), picture(colour="blue")
    pages = {f"/{n}.jpg": answer(200, blue if n == 2 else red, Content_Type="image/jpeg") for n in range(6)}
    with Site(pages) as site:
        here = [page(n, host=site.url("")) for n in range(6)]
        (tmp_path / "hashes.txt").write_text(hashlib.sha256(blue).hexdigest())
        (tmp_path / "urls.txt").write_text(site.url("/0.jpg") + "\n")
        lists = (
            f"consent.lists={{mine: {{path: {tmp_path}/urls.txt, kind: urls, of: [images]}}, "
            f"known: {{path: {tmp_path}/hashes.txt, kind: hashes}}}}"
        )
        sets = [lists, "fetch.allow_private=[127.0.0.1/32]", "dedup.images.phash_max=null", "images.min_per_document=1"]
        sets += ["fetch.ai_txt=true", "fetch.tdm=file"]
        output = done(tmp_path, sets, pages=here)
        heard = read_table(next((output / "fetch" / "robots").glob("*.parquet"))).to_pylist()
        assert [row["origin"] for row in heard] == [site.url("/")]
        assert (heard[0]["robots_txt"], heard[0]["ai_txt"], heard[0]["tdm"]) == ("none", "none", "none")
        assert len(heard[0]["day"]) == 10
        assert "/0.jpg" not in {request.path for request in site.log}
    assert dropped(output, "images")["opt_out_mine"] == 1
    assert dropped(output, "images")["opt_out_known"] == 1
    assert kept(output) == {PAGE.format(n) for n in (1, 3, 4, 5)}


def test_a_list_of_pages_is_counted_among_the_records(tmp_path: Path) -> None:
    output = done(tmp_path, [listed(tmp_path, "site0.example\n"), NO_FETCH])
    assert dropped(output, "records")["opt_out_mine"] == 1
    assert PAGE.format(0) not in kept(output)


def test_the_manifest_and_the_card_tell_which_lists_were_read(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked.txt"
    blocked.write_text("site1.example\nelsewhere.example\n")
    sets = [listed(tmp_path, "site0.example\n"), f"blocklists={{own: {{path: '{blocked}'}}}}", NO_FETCH]
    output = done(tmp_path, sets)
    told = json.loads((output / "manifest.json").read_text())["notes"]["lists"]
    assert told["blocked_domain_own"] == {"sha256": file_sha256(blocked), "entries": 2}
    assert told["opt_out_mine"]["entries"] == 1
    assert main(["card", str(output)]) == 0
    lines = (output / "README.md").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("| own ")]
    assert line == f"| own | domains, URLs | 2 | pages | 1 | 0 | {file_sha256(blocked)} |"
