"""A card says what is in the shards, where it came from and what was removed, and nothing in it is markup of others."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.index import index_schema
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.inspect.card.allowed import applied_lists, signals
from obelics_pipeline.inspect.card.command import write_card
from obelics_pipeline.inspect.card.contents import Contents, Counted, contents_of
from obelics_pipeline.inspect.card.limits import known_limits
from obelics_pipeline.inspect.card.opens import Layout, Opens
from obelics_pipeline.inspect.card.page import card, size_category
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.report.funnel import funnel_of
from obelics_pipeline.inspect.report.opened import read_run
from obelics_pipeline.stages.shard.export import export_parquet
from tests.rewritten import rewrite
from tests.stages.shard.runs import without_page_type

SAID = Statement("Pages of a test", "cc-by-4.0", "https://corpus.example/", "removal@corpus.example", "2026-05-31")


def written(run: Path, output: Path, said: Statement = SAID) -> tuple[str, dict[str, Any]]:
    text, about = (Path(str(path)).read_text("utf-8") for path in write_card(str(run), said, str(output)))
    return text, json.loads(about)


def section(text: str, name: str) -> str:
    return text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def test_the_front_matter_is_what_the_hub_reads(run_of_demo: Path, tmp_path: Path) -> None:
    text, _ = written(run_of_demo, tmp_path)
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["pretty_name"] == SAID.name
    assert front["license"] == "cc-by-4.0"
    assert front["language"][0] == "en"
    assert front["size_categories"] == ["n<1K"]


def beside(run: Path, folder: Path, exported: bool) -> Path:
    """A copy of what is published of a run, with its card, in a folder of another name."""
    shutil.copytree(run, folder, ignore=shutil.ignore_patterns("extract", "shuffled", "fetch", "images", "export-*"))
    if exported:
        export_parquet(folder, folder / "export-parquet")
    write_card(str(folder), SAID)
    return folder


def python_of(card: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", card.read_text("utf-8"), re.DOTALL)


def run_in(folder: Path, code: str) -> str:
    """What a reader sees who types it beside the card, without the network."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder.parent / "cache"), "PYTHONPATH": ""}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_piece_of_python_in_the_card_runs_beside_it(run_of_demo: Path, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    folder = beside(run_of_demo, tmp_path / "corpus", exported=True)
    documents, index, images = python_of(folder / "README.md")
    counts = read_manifest(folder).counts()
    assert run_in(folder, documents + "print('#', documents.num_rows)").endswith(f"# {counts['documents']}\n")
    rows = pq.read_table(folder / "index.parquet").to_pylist()
    assert run_in(folder, index + "print(index['word_count'][:])") == f"{[row['word_count'] for row in rows]}\n"
    in_first = sum(row["n_images"] for row in rows if row["shard"] == rows[0]["shard"])
    assert len(re.findall("^https?:", run_in(folder, images), re.MULTILINE)) == in_first


def test_a_corpus_that_was_not_exported_opens_as_its_index(run_of_demo: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = beside(run_of_demo, tmp_path / "corpus", exported=False)
    opened = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    index = pq.read_table(folder / "index.parquet")
    assert opened["doc_id"][:] == index["doc_id"].to_pylist()
    assert opened.features == datasets.Features.from_arrow_schema(index.schema)
    assert "obelics export" in section((folder / "README.md").read_text("utf-8"), "How to read it")


def test_an_export_of_other_documents_is_not_named(run_of_demo: Path, tmp_path: Path) -> None:
    folder = beside(run_of_demo, tmp_path / "corpus", exported=True)
    exported = next((folder / "export-parquet").iterdir())
    pq.write_table(pq.read_table(exported).slice(1), exported)
    write_card(str(folder), SAID)
    front = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    assert front["configs"] == [{"config_name": "index", "data_files": [{"split": "train", "path": "index.parquet"}]}]


def test_counts_are_those_of_the_manifest_and_the_index(run_of_demo: Path) -> None:
    manifest = read_manifest(run_of_demo)
    found = contents_of(RunFolder(run_of_demo), manifest.promises.score_names)
    index = pq.read_table(run_of_demo / "index.parquet").to_pylist()
    for rows in (found.languages, found.sites, found.files, found.page_types):
        assert sum(row.documents for row in rows) == manifest.counts()["documents"]
        assert sum(row.images for row in rows) == manifest.counts()["images"]
        assert [row.documents for row in rows] == sorted((row.documents for row in rows), reverse=True)
    assert found.words == sum(int(row["word_count"]) for row in index)
    low, middle, high = found.quantiles["word_count"]
    assert min(row["word_count"] for row in index) <= low <= middle <= high <= max(row["word_count"] for row in index)
    assert found.captured == ("2031-05-04", "2031-05-04")


def test_kinds_of_pages_are_counted_where_they_are_known(run_of_demo: Path, tmp_path: Path) -> None:
    counted = Counter(pq.read_table(run_of_demo / "index.parquet")["page_type"].to_pylist())
    rows = section(written(run_of_demo, tmp_path)[0], "Kinds of pages")
    assert f"| article | {counted['article']} |" in rows
    run = beside(run_of_demo, tmp_path / "earlier", exported=False)
    without_page_type(run)
    text, about = written(run, tmp_path)
    assert section(text, "Kinds of pages") == ""
    index = pq.read_schema(run / "index.parquet")
    (features,) = (one["features"] for one in yaml.safe_load(text.split("---\n")[1])["dataset_info"])
    assert [feature["name"] for feature in features] == index.names
    assert [field["name"] for field in about["recordSet"][0]["field"]] == index.names


def test_an_export_with_more_columns_is_described_with_them(run_of_demo: Path, tmp_path: Path) -> None:
    folder = beside(run_of_demo, tmp_path / "corpus", exported=False)
    (exported,) = export_parquet(folder, folder / "export-parquet", columns=["page_type"])
    text, _ = written(folder, tmp_path)
    (features, _index) = (one["features"] for one in yaml.safe_load(text.split("---\n")[1])["dataset_info"])
    assert [feature["name"] for feature in features] == pq.read_schema(str(exported)).names


def test_each_reason_of_the_ledgers_is_told_with_its_count(run_of_demo: Path, tmp_path: Path) -> None:
    text, _ = written(run_of_demo, tmp_path)
    removed = section(text, "What was removed, and why").replace("\\", "")
    ledgers = read_manifest(run_of_demo).ledgers
    for reason, count in ledgers["records"].dropped.items():
        assert f"| {count} | {reason} |" in removed
    assert "| farm_score |" in removed
    assert "private_address" in removed


def test_personal_data_is_told_by_kind(run_of_demo: Path, tmp_path: Path) -> None:
    found = read_manifest(run_of_demo).notes["personal_data"]
    rows = section(written(run_of_demo, tmp_path)[0], "What was removed, and why").replace("\\", "")
    for kind, counts in found.items():
        assert f"| {kind} | {counts['values']} | {counts['documents']} | replace |" in rows


def test_scores_stand_with_their_rules(run_of_demo: Path, tmp_path: Path) -> None:
    rows = section(written(run_of_demo, tmp_path)[0], "Filters and thresholds").replace("\\", "")
    assert re.search(r"\| farm_score \| [\d., ]+ \| must be ≤ 0.95 \|", rows)


def test_what_is_not_stated_is_said_to_be_missing(run_of_demo: Path, tmp_path: Path) -> None:
    text, about = written(run_of_demo, tmp_path, Statement("Pages"))
    assert "| licence | not stated" in text
    assert "| contact, also for removal | not stated |" in text
    assert not {"license", "url", "datePublished", "creator"} & about.keys()


def test_the_same_run_has_the_same_card(run_of_demo: Path, tmp_path: Path) -> None:
    assert written(run_of_demo, tmp_path / "a") == written(run_of_demo, tmp_path / "b")


def test_croissant_is_valid_and_reads_the_index(run_of_demo: Path, tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    for name in ("shards", "index.parquet"):
        copy = shutil.copytree if (run_of_demo / name).is_dir() else shutil.copy
        copy(run_of_demo / name, tmp_path / name)
    written(run_of_demo, tmp_path)
    data = mlcroissant.Dataset(str(tmp_path / "croissant.json"))  # raises where it is not valid
    first = next(iter(data.records(record_set="index")))
    index = pq.read_table(tmp_path / "index.parquet").to_pylist()
    assert first["index/doc_id"].decode() == index[0]["doc_id"]
    assert {field.split("/")[1] for field in first} == set(index[0])


def test_croissant_has_the_hash_of_every_shard(run_of_demo: Path, tmp_path: Path) -> None:
    _, about = written(run_of_demo, tmp_path)
    shas = {file["@id"]: file.get("sha256") for file in about["distribution"]}
    manifest = read_manifest(run_of_demo)
    assert shas["index.parquet"] == manifest.index_id()
    assert all(shas[f"shards/{shard.name}"] == shard.sha256 for shard in manifest.shards)


def test_licences_are_those_of_the_documents_in_the_shards(run_of_demo: Path, tmp_path: Path) -> None:
    run = shutil.copytree(run_of_demo, tmp_path / "run")
    in_shards = {row["doc_id"]: row["n_images"] for row in pq.read_table(run / "index.parquet").to_pylist()}
    named = sorted(in_shards)[:3]
    for path in (run / "extract/manifests").glob("*.json"):
        manifest = json.loads(path.read_text())
        table = pq.read_table(run / "extract" / manifest["files"]["data"]["name"])
        rows = table.to_pylist()
        for row in rows:
            general = json.loads(row["general_metadata"])
            if row["doc_id"] in named or row["doc_id"] not in in_shards:
                row["general_metadata"] = json.dumps(general | {"title": 'a "licence": "odd"', "licence": "cc-by-4.0"})
        rewrite(run / "extract", manifest["unit"], table.from_pylist(rows, table.schema))
    rest = len(in_shards) - 3
    found = contents_of(RunFolder(run), ["word_count"], licences=True).licences
    images = sum(in_shards[doc_id] for doc_id in named)
    assert found == [
        Counted("none is named", rest, sum(in_shards.values()) - images),
        Counted("cc-by-4.0", 3, images),
    ]
    assert "| cc-by-4.0 | 3 |" in section(written(run, tmp_path)[0], "Licences and signals")


def test_lists_are_told_with_what_each_dropped() -> None:
    sha256 = "ab" * 32
    config = RunConfig.model_validate(
        {
            "blocklists": {"adult": {"path": "adult.txt", "sha256": sha256}},
            "consent": {
                "lists": {"mine": {"path": "mine.txt", "kind": "urls"}},
                "service": {"url": "https://opt.example/"},
            },
        }
    )
    ledgers = {noun: Ledger(noun) for noun in ("records", "documents", "images")}
    ledgers["records"].drop("blocked_domain_adult", 5)
    ledgers["records"].drop("opt_out_mine", 2)
    ledgers["documents"].drop("opt_out_mine", 1)
    ledgers["images"].drop("opt_out_service", 7)
    read = {"blocked_domain_adult": {"sha256": sha256, "entries": 9}}
    found = [(x.name, x.entries, x.sha256, x.dropped, x.images) for x in applied_lists(config, ledgers, read)]
    assert found == [("adult", 9, sha256, 5, 0), ("mine", None, None, 3, 0), ("service", None, None, 0, 7)]


def test_signals_say_what_was_done(run_of_demo: Path, tmp_path: Path) -> None:
    said = dict(signals(RunConfig.model_validate({"consent": {"crawl": {"record": True, "tdm": "ignore"}}})))
    assert said["rights reserved for text and data mining (TDM), of a page"] == "recorded with each document"
    assert said["noai and noimageai, of a page"] == "obeyed"
    assert "| robots.txt, when an image was asked for | not looked at |" in written(run_of_demo, tmp_path)[0]


def test_what_was_removed_is_told_in_counts_and_days(run_of_demo: Path, tmp_path: Path) -> None:
    run = shutil.copytree(run_of_demo, tmp_path / "run")
    url = pq.read_table(run / "index.parquet").to_pylist()[0]["url"]
    (tmp_path / "urls").write_text(f"{url}\n")
    assert main(["card", str(run)]) == 0
    assert main(["forget", str(run), "--urls", str(tmp_path / "urls")]) == 0
    text, _ = written(run, tmp_path / "card")
    assert re.search(r"\| \d{4}-\d\d-\d\d \| 1 \| 1 \| \d+ \|", section(text, "What was removed, and why"))
    assert url not in text


def hostile(text: str) -> Contents:
    rows = [Counted(text, 2, 1)]
    return Contents(
        languages=rows, sites=rows, files=rows, words=None, quantiles={}, captured=None, licences=rows, page_types=rows
    )


def test_nothing_that_others_wrote_is_markup(run_of_demo: Path) -> None:
    run, manifest = read_run(str(run_of_demo)), read_manifest(run_of_demo)
    evil = "a|b\n# <img src=x onerror=alert(1)> [x](http://evil.example) `c` \u202e"
    text = card(
        run,
        manifest,
        funnel_of(run),
        hostile(evil),
        Layout([Opens("index", "index.parquet", index_schema([evil]))]),
        replace(SAID, name=evil),
        "0" * 64,
    )
    body = text.partition("\n---\n")[2]
    assert "\n# <img" not in body
    assert not re.search(r"(?<!\\)<img", body)
    assert not re.search(r"(?<!\\)\[x\]", body)
    assert "\u202e" not in body
    assert yaml.safe_load(text.split("---\n")[1])["pretty_name"] == evil


def limits(run_of_demo: Path, **sections: Any) -> str:
    config = RunConfig.model_validate(sections)
    run = replace(read_run(str(run_of_demo)), config=config)
    return "\n".join(known_limits(run, hostile("de")))


def test_limits_follow_from_the_config(run_of_demo: Path) -> None:
    assert "similarity of 0.8" in limits(run_of_demo)
    assert "Duplicates were not looked for" in limits(run_of_demo, dedup={"enabled": False})
    assert "near duplicates of texts were not" in limits(run_of_demo, dedup={"text": {"enabled": False}})
    assert "Images are addresses" in limits(run_of_demo, fetch={"enabled": False})
    unsafe = limits(run_of_demo, image_safety={"classifier": {"model": "m.onnx", "max": 0.25}, "faces": "a.b:c"})
    assert "No classifier looked" in limits(run_of_demo) and "from a score above 0.25 on" in unsafe
    assert "Faces" in limits(run_of_demo) and "Faces" not in unsafe
    assert "lists of known abuse material" in unsafe
    assert "robots.txt was not asked" in limits(run_of_demo, fetch={"robots_txt": False})
    assert "not to be used for AI" in limits(run_of_demo, reading={"honour_noai": False})
    assert "personal data were not looked for" in limits(run_of_demo)
    assert "names, addresses" in limits(run_of_demo, personal_data={"enabled": True})
    assert "No list of domains" in limits(run_of_demo)
    measured = {"document": {"farm_score": {"max": 0.9}}}
    known = "farm_score (de, en, es, fr, it, pt and ru)"
    assert f"null in languages they do not know: {known}" in limits(run_of_demo, filters=measured)
    assert "program wrote were not looked for" not in limits(run_of_demo, filters=measured)


@pytest.mark.parametrize(
    ("documents", "name"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1000, "1K<n<10K"),
        (141_000_000, "100M<n<1B"),
        (10**11, "100B<n<1T"),
        (10**13, "n>1T"),
    ],
)
def test_sizes_have_the_names_of_the_hub(documents: int, name: str) -> None:
    assert size_category(documents) == name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--licence", "CC BY"], "identifier in lower case"),
        (["--homepage", "ftp://x"], "http or https"),
        (["--published", "May 2026"], "a day such as"),
        (["--name", " "], "must not be empty"),
    ],
)
def test_a_wrong_statement_is_refused_in_one_line(
    run_of_demo: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["card", str(run_of_demo), *options]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_a_run_that_has_not_finished_has_no_card(run_of_demo: Path, tmp_path: Path) -> None:
    shutil.copytree(run_of_demo, tmp_path / "run")
    (tmp_path / "run/manifest.json").unlink()
    with pytest.raises(UserError, match="has not finished"):
        write_card(str(tmp_path / "run"), SAID)


def test_a_damaged_index_is_told_in_one_line(run_of_demo: Path, tmp_path: Path) -> None:
    shutil.copytree(run_of_demo, tmp_path / "run")
    (tmp_path / "run/index.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(UserError, match=r"cannot be read.*obelics validate"):
        write_card(str(tmp_path / "run"), SAID)
