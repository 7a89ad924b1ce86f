"""What is forgotten is nowhere in a run's folder, the rest is as it was, and the same command brings nothing back."""

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.look_up import KEYS, ORDER, is_whole, read_look_up, rows_of
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.inspect.run_tables.training import SCHEMA, write_training
from obelics_pipeline.stages.fetch.run_images import RunImages
from tests.faults.inline import forgets_inline
from tests.faults.runs import HASTE, command, finish, tree
from tests.forget.traces import traces
from tests.forget.victims import Victim, documents, stored_images, victim, victims
from tests.rewritten import rewrite
from tests.stages.shard.runs import without_page_type

WARCS = ["inputs.json"]


def look_ups_are_right(run: Path) -> None:
    """Assert that the look-ups, where they were published, have a row for each row of the index, and no other."""
    index, parts = pq.read_table(run / "index.parquet"), read_manifest(run).look_up
    assert {part.kind for part in parts} == set(KEYS)
    for part in parts:
        rows = read_look_up(run / "look-up" / part.name)
        assert rows.equals(rows_of(index, part.kind).sort_by(ORDER))
        assert is_whole(run, part)
    named = {part.name for part in parts}
    assert {path.name for path in (run / "look-up").glob("*.parquet")} == named


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    """Other processes do the same (see test_engines.py), and later."""
    with forgets_inline():
        yield


@pytest.fixture(scope="module")
def found(run_of_demo: Path) -> list[Victim]:
    return victims(run_of_demo, 3)


@pytest.fixture
def run(run_of_demo: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_of_demo, tmp_path / "run"))


def write(folder: Path, kind: str, lines: Sequence[str]) -> list[str]:
    path = folder / f"list-{kind}"
    path.write_text("".join(f"{line}\n" for line in lines))
    return [f"--{kind}", str(path)]


def forget(run: Path, *arguments: str, code: int = 0) -> None:
    assert main(["forget", str(run), *arguments]) == code


def shards(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((run / "shards").glob("*.tar"))}


def ledgers(run: Path) -> dict[str, dict[str, dict[str, int]]]:
    found: dict[str, dict[str, dict[str, int]]] = json.loads((run / "manifest.json").read_text())["ledgers"]
    return found


def is_valid(run: Path) -> bool:
    if (run / "look-up").exists():
        look_ups_are_right(run)
    return main(["validate", str(run)]) == 0


def test_a_page_by_its_address(
    run: Path, run_of_demo: Path, found: list[Victim], warcs: list[Path], proxy: str, tmp_path: Path
) -> None:
    before = shards(run)
    assert all(traces(run, [needle]) for needle in found[0].needles)
    forget(run, *write(tmp_path, "urls", [f"https://www.{found[0].url.removeprefix('http://')}?utm_source=x#a"]))
    assert traces(run, found[0].needles) == []
    assert is_valid(run)
    assert [name for name, data in shards(run).items() if data != before[name]] == [found[0].shard]
    assert ledgers(run)["documents"]["dropped"]["forgotten"] == 1
    assert ledgers(run)["records"]["dropped"]["forgotten"] == 1
    assert stat.S_IMODE((run / "forgotten/key").stat().st_mode) == 0o600

    after = tree(run)
    code, printed = finish(command(warcs, run, sets=HASTE), proxy)
    assert code == 0, printed
    assert "nothing to do" in printed
    assert tree(run) == after


def test_a_duplicate_of_a_forgotten_page_does_not_take_its_place(run: Path, run_of_demo: Path, tmp_path: Path) -> None:
    duplicates = pq.read_table(run / "duplicates.parquet").to_pylist()
    row = next(row for row in duplicates if row["reason"] == "duplicate_text")
    together = [row["duplicate_of"], row["doc_id"]]
    both = [victim(run, doc_id, together) for doc_id in together]
    forget(run, *write(tmp_path, "urls", [both[0].url]))
    for of_it in both:
        assert traces(run, of_it.needles) == []
    assert is_valid(run)
    assert ledgers(run)["documents"]["dropped"]["forgotten"] == 2
    left = documents(run, "extract")
    assert len(left) == len(documents(run_of_demo, "extract"))
    assert sum(document.reason == "forgotten" for document in left) == 2


def test_a_page_that_was_no_document_and_one_that_lost_leave_the_shards_alone(run: Path, tmp_path: Path) -> None:
    before = shards(run)
    row = pq.read_table(run / "duplicates.parquet").to_pylist()[0]
    lost = victim(run, row["doc_id"], [row["doc_id"]])
    dropped = next(d for d in documents(run, "extract") if d.reason == "farm_score")
    also = victim_of_dropped(run, dropped)
    forget(run, *write(tmp_path, "urls", [lost.url, dropped.url, "http://never.example/seen"]))
    assert traces(run, [*lost.needles, *also]) == []
    assert shards(run) == before
    assert is_valid(run)


def victim_of_dropped(run: Path, document: Document) -> list[str | bytes]:
    others = [d for d in documents(run, "extract") if d.doc_id != document.doc_id]
    known = {n.text for d in others for n in d.nodes if isinstance(n, TextNode)}
    own = [n.text for n in document.nodes if isinstance(n, TextNode)]
    texts = [text[:90] for text in own if len(text) > 60 and text not in known]
    return [document.url, document.doc_id, *texts]


@pytest.mark.parametrize("by", ["urls", "hashes"])
def test_an_image_goes_and_its_document_stays(run: Path, found: list[Victim], by: str, tmp_path: Path) -> None:
    image, before = found[0].image, shards(run)
    assert image.sha256 is not None
    data = RunImages(run / "images").read(image)
    forget(run, *write(tmp_path, by, [image.src if by == "urls" else image.sha256]))
    assert traces(run, [image.src, image.sha256, data[len(data) // 2 :][:80]]) == []
    assert is_valid(run)
    assert [name for name, content in shards(run).items() if content != before[name]] == [found[0].shard]
    assert traces(run, [found[0].doc_id])
    assert ledgers(run)["images"]["dropped"]["forgotten"] == 1
    assert "forgotten" not in ledgers(run)["documents"]["dropped"]


def test_a_document_whose_images_all_go_is_dropped_for_that(run: Path, found: list[Victim], tmp_path: Path) -> None:
    document = next(d for d in documents(run, "assembled") if d.doc_id == found[1].doc_id)
    before = ledgers(run)["documents"]
    forget(run, *write(tmp_path, "urls", [image.src for image in document.images()]))
    assert is_valid(run)
    after = ledgers(run)["documents"]
    assert after["dropped"]["image_count"] == before["dropped"]["image_count"] + 1
    assert after["kept"] == before["kept"] - 1


@pytest.mark.slow
def test_an_image_that_another_document_uses_stays(run: Path, tmp_path: Path) -> None:
    kept = set(pq.read_table(run / "index.parquet")["doc_id"].to_pylist())
    users: dict[str, list[Document]] = {}
    for document in documents(run, "assembled"):
        if document.doc_id in kept:
            for image in document.images():
                assert image.sha256 is not None
                users.setdefault(image.sha256, []).append(document)
    sha256, (one, *_) = next((sha, docs) for sha, docs in users.items() if len({d.doc_id for d in docs}) > 1)
    forget(run, *write(tmp_path, "hashes", [one.doc_id]))
    assert not RunImages(run / "images").lost(list(stored_images(run).values()))
    assert is_valid(run)
    assert traces(run, [one.url, one.doc_id]) == []
    forget(run, *write(tmp_path, "hashes", [sha256]))
    assert traces(run, [sha256]) == []
    assert is_valid(run)


def test_a_domain_with_pages_and_images(run: Path, tmp_path: Path) -> None:
    forget(run, *write(tmp_path, "domains", ["best-of-towns.example"]))
    assert traces(run, ["best-of-towns.example"]) == []
    assert is_valid(run)


def test_a_text_and_a_content_by_their_hashes(run: Path, found: list[Victim], tmp_path: Path) -> None:
    import hashlib

    text = next(d.text() for d in documents(run, "extract") if d.doc_id == found[0].doc_id)
    rows = pq.read_table(run / "index.parquet", filters=[("doc_id", "==", found[2].doc_id)]).to_pylist()
    forget(
        run, *write(tmp_path, "hashes", [hashlib.sha256(text.encode()).hexdigest(), rows[0]["content_sha256"].upper()])
    )
    assert traces(run, [found[0].url, found[0].doc_id, found[2].url, found[2].doc_id]) == []
    assert is_valid(run)


def test_a_dry_run_says_what_would_go_and_changes_nothing(
    run: Path, run_of_demo: Path, found: list[Victim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forget(run, *write(tmp_path, "urls", [found[0].url]), "--dry-run")
    said = capsys.readouterr().out
    assert "would remove: 1 documents" in said
    assert found[0].url not in said
    assert tree(run) == tree(run_of_demo)


def test_bad_lines_are_refused_and_nothing_is_changed(
    run: Path, run_of_demo: Path, found: list[Victim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = write(tmp_path, "urls", [found[0].url, "not an address"])
    forget(run, *lists, code=2)
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert ":2: " in error
    assert "--skip-bad" in error
    shown = tree(run)
    shown.pop("forgotten/key")
    assert shown == tree(run_of_demo)
    forget(run, *lists, "--skip-bad")
    assert traces(run, found[0].needles) == []


@pytest.mark.slow
def test_what_was_made_of_the_run_goes_too_and_is_named(
    run: Path, found: list[Victim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = found[0]
    assert main(["report", str(run)]) == 0
    assert main(["export", str(run), "--format", "parquet"]) == 0
    assert main(["export", str(run), "--format", "parquet", "--output", str(tmp_path / "elsewhere")]) == 0
    (run / "tune").mkdir(exist_ok=True)
    (run / "tune/marks.jsonl").write_text(json.dumps({"doc_id": one.doc_id, "mark": "bad"}) + "\n")
    told = dict.fromkeys(SCHEMA.names) | {"doc_id": one.doc_id, "steps": [1], "losses": [0.5]}
    write_training(RunFolder(run), pa.Table.from_pylist([told], SCHEMA))
    journal = run / "fetch/journal"
    journal.mkdir(exist_ok=True)
    (journal / "bucket-0001-x.jsonl").write_text(json.dumps({"url": one.image.src, "sha256": one.image.sha256}) + "\n")
    with (run / "events.jsonl").open("a") as log:
        log.write(json.dumps({"time": 1.0, "event": "unit_failed", "reason": f"at {one.url} ({one.doc_id})"}) + "\n")
    capsys.readouterr()
    forget(run, *write(tmp_path, "urls", [one.url]))
    said = capsys.readouterr().out
    assert traces(run, one.needles) == []
    assert str(tmp_path / "elsewhere") in said
    assert "obelics report" in said
    assert one.url not in said
    assert pq.read_table(run / "training.parquet").num_rows == 0
    from obelics_pipeline.inspect.tune.marks import Marks

    assert len(Marks(run / "tune/marks.jsonl")) == 1
    assert main(["report", str(run)]) == 0
    assert "forgotten" in (run / "report.html").read_text()
    assert traces(run, one.needles) == []


def test_a_page_by_its_doc_id_leaves_no_address(run: Path, found: list[Victim], tmp_path: Path) -> None:
    with (run / "events.jsonl").open("a") as log:
        log.write(json.dumps({"time": 1.0, "event": "unit_failed", "reason": f"at {found[0].url}"}) + "\n")
    forget(run, *write(tmp_path, "hashes", [found[0].doc_id]))
    assert traces(run, found[0].needles) == []


@pytest.mark.slow
def test_what_no_document_names_any_more_goes_too(run: Path, tmp_path: Path) -> None:
    """An earlier run in the folder had more pages, or took other images: nobody can tell whose they were."""
    manifest = next(m for p in sorted((run / "fetch/manifests").glob("*")) if (m := json.loads(p.read_text())))
    table = pq.read_table(run / "fetch" / manifest["files"]["data"]["name"])
    image = next(row for row in table.to_pylist() if row["sha256"])
    old = image | {
        "url": "http://earlier.example/of-a-page-that-is-gone.jpg",
        "sha256": "ab" * 32,
        "pack": None,
        "offset": None,
    }
    rewrite(run / "fetch", manifest["unit"], pa.Table.from_pylist([*table.to_pylist(), old], table.schema))
    (run / "images/ab").mkdir(exist_ok=True)
    (run / "images/ab" / ("ab" * 32)).write_bytes(b"bytes of an image")
    url = documents(run, "extract")[0].url
    forget(run, *write(tmp_path, "urls", [url]))
    assert traces(run, [old["url"], "ab" * 32, b"bytes of an image"]) == []
    assert is_valid(run)
    assert RunImages(run / "images").read(stored_images(run)[image["sha256"]])


def test_a_page_that_shows_it_is_removed_and_named(
    run: Path, found: list[Victim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `obelics explain --html` writes it."""
    for name, one in (("shown.html", found[0]), ("other.html", found[1])):
        sentences = "".join(f"<p>{needle}</p>" for needle in one.needles if isinstance(needle, str))
        (run / name).write_text(f'<a href="{one.url}">{one.doc_id}</a>{sentences}')
    forget(run, *write(tmp_path, "urls", [found[0].url]))
    assert "shown.html (removed)" in capsys.readouterr().out
    assert traces(run, found[0].needles) == []
    assert (run / "other.html").is_file()


def test_a_table_of_robots_txt_with_a_forgotten_host_is_removed(run: Path, tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    (run / "consent-robots").mkdir()
    for name, origin in (("a", "http://best-of-towns.example"), ("b", "http://never-forgotten.example")):
        with closing(sqlite3.connect(run / f"consent-robots/{name}.sqlite")) as table, table:
            table.execute("CREATE TABLE robots (origin TEXT PRIMARY KEY, date TEXT, content TEXT) WITHOUT ROWID")
            table.execute("INSERT INTO robots VALUES (?, '', '')", (origin,))
    forget(run, *write(tmp_path, "domains", ["best-of-towns.example"]))
    assert [path.name for path in (run / "consent-robots").iterdir()] == ["b.sqlite"]


@pytest.mark.slow
def test_a_card_is_named_and_tells_of_nothing(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", str(run)]) == 0
    assert "best-of-towns.example" in (run / "README.md").read_text().replace("\\", "")
    capsys.readouterr()
    forget(run, *write(tmp_path, "domains", ["best-of-towns.example"]))
    assert "README.md, croissant.json (its counts are old): obelics card" in capsys.readouterr().out
    assert traces(run, ["best-of-towns.example", "best\\-of\\-towns"]) == []


def test_only_what_was_published_is_enough(run: Path, found: list[Victim], tmp_path: Path) -> None:
    """Somebody's copy of a corpus: tars, index and manifest."""
    copy = tmp_path / "copy"
    (copy / "shards").mkdir(parents=True)
    for name in shards(run):
        shutil.copy(run / "shards" / name, copy / "shards" / name)
    for name in ("index.parquet", "manifest.json"):
        shutil.copy(run / name, copy / name)
    image = found[1].image
    assert image.sha256 is not None
    forget(copy, *write(tmp_path, "urls", [found[0].url]), *write(tmp_path, "hashes", [image.sha256]))
    assert traces(copy, [*found[0].needles, image.src]) == []
    assert is_valid(copy)


@pytest.mark.slow
def test_an_index_of_before_the_kind_of_page_was_a_column_stays_one(
    run: Path, found: list[Victim], tmp_path: Path
) -> None:
    without_page_type(run)
    before = pq.read_schema(run / "index.parquet")
    forget(run, *write(tmp_path, "urls", [found[0].url]))
    assert traces(run, found[0].needles) == []
    assert pq.read_schema(run / "index.parquet").equals(before)
    assert is_valid(run)


@pytest.mark.slow
def test_old_shards_that_are_put_back_are_not_exported(
    run: Path, run_of_demo: Path, found: list[Victim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forget(run, *write(tmp_path, "urls", [found[0].url]))
    for name in (f"shards/{found[0].shard}", "index.parquet", "manifest.json"):
        shutil.copy(run_of_demo / name, run / name)
    shutil.copytree(run_of_demo / "look-up", run / "look-up", dirs_exist_ok=True)
    assert main(["export", str(run), "--format", "parquet", "--output", str(tmp_path / "out")]) == 2
    assert "were removed" in capsys.readouterr().err
    forget(run)
    assert is_valid(run)
    assert main(["export", str(run), "--format", "parquet", "--output", str(tmp_path / "out")]) == 0


@pytest.mark.slow
def test_other_runs_obey(run: Path, found: list[Victim], warcs: list[Path], proxy: str, tmp_path: Path) -> None:
    row = next(r for r in pq.read_table(run / "duplicates.parquet").to_pylist() if r["reason"] == "duplicate_text")
    both = [
        victim(run, doc_id, [row["duplicate_of"], row["doc_id"]]) for doc_id in (row["duplicate_of"], row["doc_id"])
    ]
    needles = [*both[0].needles, *both[1].needles, *found[0].needles]
    forget(run, *write(tmp_path, "urls", [both[0].url, found[0].url]))
    for name, more in (("named", []), ("against", ["--against", str(run)])):
        sets = [*HASTE, f'forgotten=["{run}"]'] if name == "named" else HASTE
        code, printed = finish([*command(warcs, tmp_path / name, sets=sets), *more], proxy)
        assert code == 0, printed
        assert traces(tmp_path / name, needles) == []
        assert ledgers(tmp_path / name)["records"]["dropped"]["forgotten"] == 3
    code, printed = finish(command(warcs, run, sets=[*HASTE, "language.max_characters=900"]), proxy)  # read anew
    assert code == 0, printed
    assert traces(run, needles) == []
    assert is_valid(run)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", str(tmp_path), *write(tmp_path, "urls", ["http://a.example/"])]) == 2
    assert "no run is there" in capsys.readouterr().err
    assert not (tmp_path / "forgotten").exists()
    assert main(["forget", str(tmp_path / "none"), *write(tmp_path, "urls", ["http://a.example/"])]) == 2
    assert not (tmp_path / "none").exists()


def test_the_command_loads_no_model_and_no_trainer(tmp_path: Path) -> None:
    code = (
        "import sys; from obelics_pipeline.forget.command import add_forget\n"
        "assert not {'pyarrow', 'numpy', 'torch'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
