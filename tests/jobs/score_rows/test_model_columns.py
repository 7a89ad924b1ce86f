"""The command with a model that looks at images: a tiny real Flamingo, images from a folder, a site, or nowhere.

A worker takes seconds to import torch, so most of these tests score within their own process.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.tables import PUBLISHED
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.jobs.score_rows import command
from obelics_pipeline.jobs.score_rows.fetched_images import name_of
from obelics_pipeline.models.flamingo.statistics import COLUMNS
from obelics_pipeline.models.similarity.columns import COLUMNS as SIMILARITY
from obelics_pipeline.stages.fetch.image_store import ImageStore
from tests.jobs.score_rows.rows import TEXT, published, read_lines, score, write_lines, write_parquet
from tests.models.flamingo.tiny_folder import save
from tests.models.similarity import tiny as clip
from tests.refused import refused
from tests.stages.fetch.site import Site, answer, picture, slow

ROOT = Path(__file__).parents[3]
SEEN = "flamingo_loss,images_seen"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flamingo")
    save(folder)
    return folder


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def with_flamingo(model: Path, **options: Any) -> tuple[str, ...]:
    return ("--set", f"score.flamingo={json.dumps({'model': str(model), 'device': 'cpu', **options})}")


def asking(site: Site) -> tuple[str, ...]:
    """A config that may ask this site alone, and is impatient."""
    values = {"allow_private": [f"127.0.0.1:{site.port}"], "timeout_seconds": 5.0, "retries": 0}
    return ("--set", f"fetch={json.dumps(values)}")


def row(number: int, *urls: str, text: str = TEXT) -> dict[str, Any]:
    """A row as published, with these images between two texts."""
    about = [None, *({"src": url, "unformatted_src": url} for url in urls), None]
    texts = [f"{text} {number}.", *(None for _ in urls), text]
    return published(number, texts=texts, images=[None, *urls, None], metadata=json.dumps(about))


def picture_folder(folder: Path, *urls: str) -> Path:
    """Files named by the sha256 of their URL."""
    folder.mkdir()
    for number, url in enumerate(urls):
        (folder / name_of(url)).write_bytes(picture("PNG", (40, 30), ("red", "blue", "green", "white")[number % 4]))
    return folder


class Here:
    """An engine that does all in this process, and gives the results of a model in another order."""

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        return iter([function(item) for item in pickle.loads(pickle.dumps(list(items)))])

    def map_models(
        self, make: Callable[[], Any], work: Callable[[Unit, Any], Manifest], units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Manifest]]:
        return iter([(unit, work(unit, make())) for unit in reversed(pickle.loads(pickle.dumps(units)))])


def here(source: Path, output: Path, columns: str, *options: str) -> tuple[int, list[str], list[str]]:
    """The command within this process: exit code, what it says, and what it warns of. Raises UserError."""
    said: list[str] = []
    warned: list[str] = []
    pairs = list(zip(options[::2], options[1::2], strict=True))
    code = command.score(
        "default", [str(source)], columns.split(","), str(output), workers=None,
        overrides=[value for name, value in pairs if name == "--set"],
        images=next((value for name, value in pairs if name == "--images"), "none"),
        open_engine=lambda _folder, _config: nullcontext(Here()),  # type: ignore[arg-type]
        say=said.append, warn=warned.append,
    )  # fmt: skip
    return code, said, warned


def read(path: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(path).to_pylist())


@pytest.mark.slow
def test_lines_without_images_get_the_columns_that_are_asked_for_and_how_many_images_were_seen(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_lines(tmp_path / "a.jsonl", [{"id": 1, "text": TEXT}, {"id": 2, "text": " "}, {"id": 3}])
    assert score(source, tmp_path / "b.jsonl", "language,flamingo_loss", *with_flamingo(model)) == 1
    first, second, third = read_lines(tmp_path / "b.jsonl")
    assert list(first) == ["id", "text", "language", "flamingo_loss", "images_seen"]
    assert first["images_seen"] == 0.0 and 0 < first["flamingo_loss"] < 100
    for failed in (second, third):
        assert (failed["language"], failed["flamingo_loss"], failed["images_seen"]) == (None, None, None)
    assert "3 rows = 1 scored + 2 failed (no_text 2)" in capsys.readouterr().out


def test_the_short_form_is_all_columns_of_the_model_as_floats_of_parquet(tmp_path: Path, model: Path) -> None:
    urls = ["http://x.example/1", "http://x.example/2"]
    folder = picture_folder(tmp_path / "pictures", *urls)
    source = write_parquet(tmp_path / "a.parquet", [row(0, *urls), row(1, urls[0], "http://x.example/gone"), row(2)])
    assert here(source, tmp_path / "b.parquet", "flamingo", *with_flamingo(model), "--images", str(folder))[0] == 0
    found = pq.read_table(tmp_path / "b.parquet")
    assert found.column_names == [*PUBLISHED.names, *COLUMNS]
    assert {found.schema.field(name).type for name in COLUMNS} == {pa.float64()}
    assert found["images_seen"].to_pylist() == [2.0, 1.0, 0.0]
    assert found["flamingo_worse_than_unigram"].null_count == 3  # no token counts are given
    assert [value is None for value in found["flamingo_image_gain"].to_pylist()] == [False, False, True]


def test_without_images_documents_are_scored_as_if_they_had_none(tmp_path: Path, model: Path) -> None:
    url = "http://x.example/1"
    folder = picture_folder(tmp_path / "pictures", url)
    source = write_parquet(tmp_path / "a.parquet", [row(0, url)])
    assert here(source, tmp_path / "b.parquet", SEEN, *with_flamingo(model))[0] == 0
    assert here(source, tmp_path / "c.parquet", SEEN, *with_flamingo(model), "--images", str(folder))[0] == 0
    (without,), (seen,) = read(tmp_path / "b.parquet"), read(tmp_path / "c.parquet")
    assert (without["images_seen"], seen["images_seen"]) == (0.0, 1.0)
    assert without["flamingo_loss"] != seen["flamingo_loss"]


def test_the_second_pass_is_made_for_its_columns_only_and_changes_no_other(tmp_path: Path, model: Path) -> None:
    url = "http://x.example/1"
    images = ("--images", str(picture_folder(tmp_path / "pictures", url)))
    source = write_parquet(tmp_path / "a.parquet", [row(0, url)])
    assert here(source, tmp_path / "b.parquet", "flamingo_loss", *with_flamingo(model), *images)[0] == 0
    assert here(source, tmp_path / "c.parquet", "flamingo", *with_flamingo(model), *images)[0] == 0
    (alone,), (all_of_it,) = read(tmp_path / "b.parquet"), read(tmp_path / "c.parquet")
    assert alone["flamingo_loss"] == all_of_it["flamingo_loss"]
    assert all_of_it["flamingo_image_gain"] is not None


def test_a_similarity_stands_beside_a_flamingo_and_alone(tmp_path: Path, model: Path) -> None:
    url = "http://x.example/1"
    images = ("--images", str(picture_folder(tmp_path / "pictures", url)))
    architecture, weights = clip.save(tmp_path, clip.towers())
    named = {"model": str(architecture), "weights": str(weights), "device": "cpu"}
    models = (*with_flamingo(model), "--set", f"score.similarity={json.dumps(named)}")
    source = write_lines(tmp_path / "a.jsonl", [row(0, url), row(1)])
    assert here(source, tmp_path / "b.jsonl", f"similarity,{SEEN}", *models, *images)[0] == 0
    assert here(source, tmp_path / "c.jsonl", "image_text_similarity", *models, *images)[0] == 0
    both, alone = read_lines(tmp_path / "b.jsonl"), read_lines(tmp_path / "c.jsonl")
    assert list(both[0])[-6:] == [*SIMILARITY, "flamingo_loss", "images_seen"]
    assert [r["similarity_images"] for r in both] == [1.0, 0.0]
    assert -1 <= both[0]["image_text_similarity"] <= 1 and both[1]["image_text_similarity"] is None
    assert [r["image_text_similarity"] for r in alone] == [r["image_text_similarity"] for r in both]
    assert list(alone[0])[-1] == "image_text_similarity"


def test_columns_that_the_config_leaves_without_what_they_need_are_told_of(tmp_path: Path, model: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [{"text": TEXT}])
    asked = "flamingo_image_gain,flamingo_worse_than_unigram"
    _, _, warned = here(source, tmp_path / "b.jsonl", asked, *with_flamingo(model, image_gain=False))
    assert warned == [
        "flamingo_worse_than_unigram is null: score.flamingo.token_counts names no file",
        "flamingo_image_gain is null: score.flamingo.image_gain is false",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["jsonl", pytest.param("parquet", marks=pytest.mark.by_hand)])
def test_one_worker_and_two_give_the_same_bytes(tmp_path: Path, model: Path, format_: str) -> None:
    urls = [f"http://x.example/{i}" for i in range(5)]
    images = ("--images", str(picture_folder(tmp_path / "pictures", *urls)))
    rows = [row(i, *urls[: i % 6], text=TEXT * (i % 3 + 1)) for i in range(300)]
    source = tmp_path / f"a.{format_}"
    write_parquet(source, rows) if format_ == "parquet" else write_lines(source, rows)
    written = []
    for workers in ("1", "2"):
        output = tmp_path / f"{workers}.{format_}"
        assert score(source, output, "flamingo", *with_flamingo(model), *images, "--workers", workers) == 0
        written.append(output.read_bytes())
    assert written[0] == written[1]


def test_a_hostile_row_costs_itself(tmp_path: Path, model: Path) -> None:
    good, bomb, cut = (f"http://x.example/{name}" for name in ("good", "bomb", "cut"))
    folder = picture_folder(tmp_path / "pictures", good)
    (folder / name_of(bomb)).write_bytes(png_of(30_000, 30_000))
    (folder / name_of(cut)).write_bytes(picture("PNG", (300, 300))[:200])
    many = [f"{good}#{i}" for i in range(10_000)]
    for url in many[:100]:
        (folder / name_of(url)).write_bytes((folder / name_of(good)).read_bytes())
    lines = [
        row(0, good, text="a <image> b <|endofchunk|> c </s> " + TEXT),
        row(1, bomb, cut, good),
        row(2, *many),
        json.dumps({"texts": ["\ud800 " + TEXT, None], "images": [None, "http://x.example/\udfff"]}).encode(),
        {"texts": [None], "images": [None]},
        {"texts": [None], "images": [good]},
        row(3, good) | {"url": None, "general_metadata": None},
        row(4, good),
    ]
    source = write_lines(tmp_path / "a.jsonl", lines)
    assert here(source, tmp_path / "b.jsonl", SEEN, *with_flamingo(model), "--images", str(folder))[0] == 1
    found = read_lines(tmp_path / "b.jsonl")
    assert [r["images_seen"] for r in found] == [1.0, 1.0, 64.0, 0.0, None, None, 1.0, 1.0]
    assert [r["flamingo_loss"] is None for r in found] == [i in (4, 5) for i in range(8)]


def png_of(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header claims this size."""
    content = bytearray(picture("PNG", (1, 1)))
    import zlib

    content[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    content[29:33] = zlib.crc32(bytes(content[12:29])).to_bytes(4, "big")
    return bytes(content)


def test_images_are_fetched_once_counted_by_reason_and_kept(tmp_path: Path, model: Path) -> None:
    pages = {
        "/a.png": answer(200, picture("PNG")), "/b.png": answer(200, picture("PNG", colour="blue")),
        "/no.png": answer(200, picture(), X_Robots_Tag="noai"),
        "/robots.txt": answer(200, b"User-agent: *\nDisallow: /private"),
    }  # fmt: skip
    with Site(pages) as site:
        a, b, gone, no, private = (site.url(p) for p in ("/a.png", "/b.png", "/gone.png", "/no.png", "/private/c.png"))
        rows = [row(0, a, b), row(1, a, gone, no), row(2, private, "not a url"), row(3)]
        source = write_parquet(tmp_path / "a.parquet", rows)
        options = (*with_flamingo(model), *asking(site), "--images", "fetch")
        code, said, _ = here(source, tmp_path / "b.parquet", SEEN, *options)
        assert [r["images_seen"] for r in read(tmp_path / "b.parquet")] == [2.0, 1.0, 0.0, 0.0]
        kept = tmp_path / "b.parquet.images"
        assert code == 0 and said == [
            "images: 6 asked for = 2 fetched + 2 dropped (noai_header 1, robots_txt 1) + 2 failed (bad_url 1, "
            f"http_404 1); kept in {kept}",
            f"4 rows = 4 scored + 0 failed; wrote {tmp_path}/b.parquet",
        ]
        asked_for = [request.path for request in site.log]
        assert sorted(asked_for) == ["/a.png", "/b.png", "/gone.png", "/no.png", "/robots.txt"]
        first = (tmp_path / "b.parquet").read_bytes()

        assert here(source, tmp_path / "b.parquet", SEEN, *options)[0] == 0
        assert len(site.log) == len(asked_for)
        assert (tmp_path / "b.parquet").read_bytes() == first
    assert here(source, tmp_path / "c.parquet", SEEN, *with_flamingo(model), "--images", str(kept))[0] == 0
    assert (tmp_path / "c.parquet").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.parquet", "b.parquet", "b.parquet.images", "c.parquet",
    ]  # fmt: skip
    kept.rename(tmp_path / "moved")
    assert (
        here(source, tmp_path / "d.parquet", SEEN, *with_flamingo(model), "--images", str(tmp_path / "moved"))[0] == 0
    )
    assert (tmp_path / "d.parquet").read_bytes() == first


def test_only_what_is_new_is_asked_for_and_what_the_config_forbids_now_is_not_seen_any_more(
    tmp_path: Path, model: Path
) -> None:
    pages = {f"/{name}.png": answer(200, picture("PNG")) for name in "ab"}
    pages["/no.png"] = answer(200, picture(), X_Robots_Tag="noai")
    with Site(pages) as site:
        urls = [site.url(path) for path in pages]
        options = (*with_flamingo(model), *asking(site), "--images", "fetch")
        lax = ("--set", "fetch.opt_out_directives=[]")
        one, all_of_it = (write_lines(tmp_path / f"{n}.jsonl", [row(0, *urls[:n])]) for n in (1, 3))
        assert here(one, tmp_path / "out.jsonl", SEEN, *options)[0] == 0
        assert here(all_of_it, tmp_path / "out.jsonl", SEEN, *options)[0] == 0
        assert site.asked("/a.png") == 1
        assert here(all_of_it, tmp_path / "out.jsonl", SEEN, *options, *lax)[0] == 0
        assert read_lines(tmp_path / "out.jsonl")[0]["images_seen"] == 3.0
        assert here(all_of_it, tmp_path / "out.jsonl", SEEN, *options)[0] == 0
        assert read_lines(tmp_path / "out.jsonl")[0]["images_seen"] == 2.0
        assert site.asked("/a.png") == 2


def test_no_more_images_are_fetched_than_are_looked_at(tmp_path: Path, model: Path) -> None:
    with Site(fallback=answer(200, picture("PNG"))) as site:
        source = write_lines(tmp_path / "a.jsonl", [row(0, *(site.url(f"/{i}.png") for i in range(9)))])
        options = (*with_flamingo(model, max_images=3), *asking(site), "--images", "fetch")
        assert here(source, tmp_path / "b.jsonl", SEEN, *options)[0] == 0
        asked_for = sorted(request.path for request in site.log if request.path != "/robots.txt")
        assert asked_for == ["/0.png", "/1.png", "/2.png"]


def test_a_private_address_is_not_asked(tmp_path: Path, model: Path) -> None:
    with Site(fallback=answer(200, picture("PNG"))) as site:
        source = write_lines(tmp_path / "a.jsonl", [row(0, site.url("/a.png"))])
        _, said, _ = here(source, tmp_path / "b.jsonl", SEEN, *with_flamingo(model), "--images", "fetch")
        assert "0 fetched + 1 dropped (private_address 1)" in said[0]
        assert site.log == []


def test_a_model_that_is_not_there_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    with Site(fallback=answer(200, picture("PNG"))) as site:
        source = write_lines(tmp_path / "a.jsonl", [row(0, site.url("/a.png"))])
        (tmp_path / "empty").mkdir()
        options = (*with_flamingo(tmp_path / "empty"), *asking(site), "--images", "fetch")
        with pytest.raises(UserError, match=r"flamingo\.json"):
            here(source, tmp_path / "b.jsonl", SEEN, *options)
        assert site.log == []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "empty"]


@pytest.mark.parametrize(
    ("columns", "more", "said"),
    [
        (
            "flamingo_loss",
            [],
            "--columns flamingo_loss: the config names no model for it; give it one, e.g. --set 'scor",
        ),
        ("flamingo", [], "--columns flamingo: the config names no model for it"),
        ("image_text_similarity", ["FLAMINGO"], "--columns image_text_similarity: the config names no model for it"),
        ("flamingo_los", ["FLAMINGO"], "did you mean flamingo_loss?"),
        (
            "flamingo",
            ["FLAMINGO", "--images", "nowhere"],
            "nowhere: no such folder; valid are fetch, none and a folder",
        ),
        ("flamingo", ["FLAMINGO", "--images", "."], ": holds no images by URL; valid are files named by the sha256"),
        ("flamingo", ["FLAMINGO", "--images", "fetch", "--set", "fetch.enabled=false"], "fetch.enabled is false"),
    ],
)
def test_a_wrong_command_is_one_line_and_writes_nothing(
    tmp_path: Path, model: Path, columns: str, more: list[str], said: str,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    source = write_lines(tmp_path / "a.jsonl", [{"text": TEXT}])
    monkeypatch.chdir(tmp_path)
    options = [part for word in more for part in (with_flamingo(model) if word == "FLAMINGO" else (word,))]
    assert said in refused(capsys, score(source, tmp_path / "b.jsonl", columns, *options))
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def stopped(arguments: list[str], when: Any) -> tuple[int, str]:
    """The command in a process of its own, interrupted once `when` says so: exit code and what it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "obelics_pipeline", "score", "default", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    while not when():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=600)
    return process.returncode, printed


@pytest.mark.slow
def test_a_command_that_is_stopped_while_it_fetches_goes_on_where_it_was(tmp_path: Path, model: Path) -> None:
    pages = {
        "/quick.png": answer(200, picture("PNG")),
        "/slow.png": slow(3, answer(200, picture("PNG", colour="blue"))),
    }
    with Site(pages) as site:
        source = write_lines(tmp_path / "a.jsonl", [row(0, site.url("/quick.png"), site.url("/slow.png"))])
        options = [*with_flamingo(model), *asking(site), "--images", "fetch", "--workers", "1"]
        output = tmp_path / "b.jsonl"
        store = ImageStore(tmp_path / "b.jsonl.images" / "content")
        arguments = ["--input", str(source), "--output", str(output), "--columns", SEEN, *options]
        kept = tmp_path / "b.jsonl.images"
        code, printed = stopped(
            arguments, lambda: any(b"quick.png" in p.read_bytes() for p in kept.glob("journal/*.jsonl"))
        )
        assert code == 3
        assert "obelics: stopped; run the same command again to continue" in printed.splitlines()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl.images"]
        assert list(kept.glob("*/.tmp-*")) == list(kept.glob(".tmp-*")) == []
        assert score(source, output, SEEN, *options) == 0
        assert site.asked("/quick.png") == 1
        assert read_lines(output)[0]["images_seen"] == 2.0
        assert len([path for path in store.folder.rglob("*") if path.is_file()]) == 2


@pytest.mark.slow
def test_ctrl_c_while_scoring_leaves_nothing_half_written(tmp_path: Path, model: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [{"text": TEXT * 20} for _ in range(5000)])
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "b.jsonl"
    arguments = ["--input", str(source), "--output", str(output), "--columns", "flamingo", *with_flamingo(model)]
    code, _ = stopped(arguments, lambda: any((tmp_path / "out").iterdir()))
    assert code == 3
    assert list((tmp_path / "out").iterdir()) == []
