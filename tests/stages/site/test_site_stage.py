"""What a site's pages say together is the same however they are dealt out, and tells farms from honest sites."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.commit import file_sha256
from obelics_pipeline.core.config import SiteConfig
from obelics_pipeline.core.config.site import MEASURED
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.rates import auc
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.stages.shard.validate import problems
from obelics_pipeline.stages.site.evidence import POINTS, weights_of
from obelics_pipeline.stages.site.prior import score_in_site
from tests.faults.runs import events
from tests.stages.dedup.planted import run_job
from tests.stages.site.farms import SCORE, Corpus, config_of, judge, mixed, rows, run, write_units

COLUMNS = SiteConfig().columns
SHARES = [name for name in COLUMNS if "borrowed" in name or "skeleton" in name]


def test_any_partition_into_units_gives_the_same_columns(tmp_path: Path) -> None:
    corpus = mixed(1)
    judge(corpus, tmp_path / "whole")
    whole = rows(tmp_path / "whole")
    assert len({row["site_documents"] for row in whole.values()}) > 3
    number = 0

    @settings(max_examples=4)
    @given(st.lists(st.integers(1, len(corpus.documents) - 1), max_size=8), st.integers(1, 5))
    def partitions(cuts: list[int], buckets: int) -> None:
        nonlocal number
        number += 1
        output = tmp_path / str(number)
        judge(corpus, output, config_of(dedup={"buckets": buckets}), cuts)
        assert rows(output) == whole

    partitions()


def tree(folder: Path) -> dict[str, str]:
    stages = ("site", "shuffled", "shards", "assembled")
    files = [path for stage in stages for path in (folder / stage).rglob("*") if path.is_file()]
    files += [path for path in (folder / "index.parquet", folder / "manifest.json") if path.exists()]
    return {str(path.relative_to(folder)): file_sha256(path) for path in files}


@pytest.mark.slow
def test_one_worker_and_two_give_the_same_bytes(tmp_path: Path) -> None:
    corpus, trees = mixed(2), []
    for workers in (1, 2):
        output = tmp_path / str(workers)
        extracted = write_units(corpus, RunFolder(output).extract, [10, 25, 60])
        with LocalEngine(workers, output, 600.0, ["obelics_pipeline.jobs.stages"]) as engine:
            run_job(engine, output, extracted, config_of())
        trees.append(tree(output))
        assert problems(output) == []
    assert trees[0] == trees[1]


def test_a_second_run_does_nothing_and_a_bound_redoes_no_count(tmp_path: Path) -> None:
    corpus, cuts = mixed(2), [10, 25, 60]
    assert judge(corpus, tmp_path, cuts=cuts).runner.fresh > 0
    before = tree(tmp_path)
    assert judge(corpus, tmp_path, cuts=cuts).runner.fresh == 0
    assert tree(tmp_path) == before
    bounded = judge(corpus, tmp_path, config_of(site={"document": {"site_documents": {"max": 3}}}), cuts)
    fresh = {value["stage"] for value in events(tmp_path) if value["event"] == "unit_done"}
    assert bounded.runner.fresh > 0
    assert tree(tmp_path) != before
    assert "site-evidence" in fresh
    done = [value for value in events(tmp_path) if value["event"] == "unit_done" and value["stage"] == "site-evidence"]
    assert len(done) == len(cuts) + 1


def test_off_it_leaves_no_folder_and_no_column(tmp_path: Path) -> None:
    run(mixed(3), tmp_path, config_of(site={"enabled": False}))
    assert not (tmp_path / "site").exists()
    assert not list((tmp_path / "shuffled").glob("site*"))
    assert not set(COLUMNS) & set(pq.read_schema(tmp_path / "index.parquet").names)


def test_the_columns_stand_in_the_index_and_the_manifest(tmp_path: Path) -> None:
    job = run(mixed(4), tmp_path)
    assert pq.read_schema(tmp_path / "index.parquet").names[-len(COLUMNS) :] == list(COLUMNS)
    promised = json.loads((tmp_path / "manifest.json").read_text())["promises"]["score_names"]
    assert promised[-len(COLUMNS) :] == list(COLUMNS)
    site = rows(tmp_path)
    for row in pq.read_table(tmp_path / "index.parquet").to_pylist():
        assert {name: row[name] for name in COLUMNS} == {name: site[row["doc_id"]][name] for name in COLUMNS}
    assert job.ledgers["documents"].balanced()


def test_a_farm_is_told_better_by_its_site_than_page_by_page(tmp_path: Path) -> None:
    corpus = Corpus(5)
    dice = corpus.random  # scores s of which bad pages have the density 2s and good ones 2(1 - s): s / (1 - s) to one
    for i in range(200):
        corpus.page(f"https://farm.example/p{i}", dice.betavariate(2, 1))
    for number in range(40):
        for i in range(dice.choice([1, 4, 15])):
            corpus.page(f"https://honest{number}.example/p{i}", dice.betavariate(1, 2))
    judge(corpus, tmp_path, cuts=[50, 130, 260])
    of_page = {d.doc_id: d.url.startswith("https://farm.") for d in corpus.documents}
    found = rows(tmp_path)
    alone, together = area(found, of_page, SCORE), area(found, of_page, f"{SCORE}_in_site")
    assert alone < 0.9
    assert together > 0.97
    farm = next(row for row in found.values() if of_page[str(row["doc_id"])])
    assert farm["site_documents"] == 200


def area(found: dict[str, dict[str, object]], is_farm: dict[str, bool], column: str) -> float:
    scores = {True: list[float](), False: list[float]()}
    for doc_id, row in found.items():
        scores[is_farm[doc_id]].append(float(str(row[column])))
    return auc(scores[True], scores[False])


def test_a_site_of_one_page_has_the_prior_alone(tmp_path: Path) -> None:
    corpus = Corpus(6)
    page = corpus.page("https://www.alone.example/", 0.8)
    corpus.page("https://other.example/", None)
    judge(corpus, tmp_path)
    row = rows(tmp_path)[page.doc_id]
    prior = SiteConfig().prior
    odds = 0.8 / 0.2 * prior / (1 - prior)
    assert {name: row[name] for name in COLUMNS} == {
        "site_documents": 1,
        f"site_{SCORE}_mean": 0.8,
        f"site_{SCORE}_spread": 0,
        f"{SCORE}_in_site": round(odds / (1 + odds), 6),
        "site_near_duplicate_share": 0,
        "site_template_share": 0,
        "site_outbound_link_share": None,
        "site_affiliate_link_share": None,
        "site_documents_per_day": None,
        "site_language_mixture": 0,
        **dict.fromkeys(SHARES),  # of one page, and of two sites, nobody can tell
        "site_farm_probability": None,
    }


def test_every_number_is_what_its_name_says(tmp_path: Path) -> None:
    corpus = Corpus(7)
    copied = " ".join(f"w{i}" for i in range(80))
    notice = "We keep cookies on your device for this site"
    links = {"link_count": 10, "outbound_link_count": 4, "affiliate_link_count": 1}
    first = corpus.page("https://a.site.example/1", 0.2, published="2024-01-01", extra=[notice], **links)
    corpus.page("https://a.site.example/1", 0.4, record=first, part=1, parts=2, published="2024-01-01", **links)
    corpus.page("https://a.site.example/2", 0.6, published="2024-01-04", text=copied, extra=[notice], **links)
    corpus.page("https://a.site.example/3", None, language="de", text=copied, extra=[notice], link_count=20)
    corpus.page("https://b.site.example/4", 0.8, reason=SCORE, **links)
    corpus.page("https://a.site.example/5", None, extra=[notice])
    corpus.page("https://else.example/", 0.1, text="an other text with words of its own that nobody else has")
    judge(corpus, tmp_path)
    found = rows(tmp_path)[first.doc_id]
    assert found["site_documents"] == 5
    assert found[f"site_{SCORE}_mean"] == 0.5  # the dropped page's among them
    assert found[f"site_{SCORE}_spread"] == pytest.approx(0.05**0.5, abs=1e-6)
    assert found["site_near_duplicate_share"] == 0.4
    assert found["site_template_share"] == pytest.approx(4 / 9, abs=1e-6)
    assert found["site_outbound_link_share"] == 0.2  # a split page's links count once
    assert found["site_affiliate_link_share"] == 0.05
    assert found["site_documents_per_day"] == 0.5
    assert found["site_language_mixture"] == pytest.approx(0.721928, abs=1e-6)
    expected = alone_among(0.2, [0.6, 0.8])
    assert found[f"{SCORE}_in_site"] == pytest.approx(expected, abs=1e-6)  # the page's other part is left out as well


def alone_among(score: float, others: list[float]) -> float:
    row = np.zeros((1, POINTS), np.int64)
    for other in others:
        for point, weight in weights_of(other):
            row[0, point] += weight
    return float(score_in_site(np.array([score]), row, SiteConfig())[0])


def test_a_page_that_was_captured_again_and_again_is_one_page_and_no_copy(tmp_path: Path) -> None:
    corpus = Corpus(8)
    for n in range(4):
        corpus.page("https://site.example/1", 0.9, text=" ".join(f"w{i}" for i in range(80)))
        corpus.page(f"https://site.example/own-{n}", 0.1)
    judge(corpus, tmp_path, cuts=[3, 5])
    found = list(rows(tmp_path).values())
    assert {row["site_documents"] for row in found} == {5}
    assert {row["site_near_duplicate_share"] for row in found} == {0}
    assert {row[f"site_{SCORE}_mean"] for row in found} == {0.26}
    captured = {row[f"{SCORE}_in_site"] for row in found if row[SCORE] == 0.9}
    assert captured == {round(alone_among(0.9, [0.1] * 4), 6)}


def test_bounds_drop_and_the_ledger_says_so(tmp_path: Path) -> None:
    corpus = mixed(9)
    site = {"document": {"site_documents": {"max": 9}, f"{SCORE}_in_site": {"max": 0.2, "languages": {"de": None}}}}
    job = run(corpus, tmp_path, config_of(site=site), cuts=[20, 40])
    found = rows(tmp_path)
    reasons = Counter(row["reason"] for row in found.values() if row["reason"])
    assert set(reasons) == {"site_documents", f"{SCORE}_in_site"}
    for row in found.values():
        large, score = row["site_documents"], row[f"{SCORE}_in_site"]
        if large is not None and float(str(large)) > 9:
            assert row["reason"] == "site_documents"
        elif score is not None and float(str(score)) > 0.2 and row["language"] != "de":
            assert row["reason"] == f"{SCORE}_in_site"
        else:
            assert row["reason"] is None
    ledger = job.ledgers["documents"]
    assert ledger.balanced()
    assert ledger.entered == len(corpus.documents)
    assert {name: ledger.dropped[name] for name in reasons} == dict(reasons)
    assert all(row["site_documents"] for row in found.values() if row["reason"])  # what was dropped keeps its columns


def test_a_sample_is_drawn_by_the_documents_ids(tmp_path: Path) -> None:
    corpus = Corpus(10)
    for i in range(200):
        corpus.page(f"https://farm.example/{i}", 0.9)
    site = {"document": {"site_documents": {"sample": [[100, 0.25]]}}}
    judge(corpus, tmp_path, config_of(site=site))
    kept = [doc_id for doc_id, row in rows(tmp_path).items() if row["reason"] is None]
    assert 30 < len(kept) < 70


def test_what_has_no_host_has_no_site(tmp_path: Path) -> None:
    corpus = mixed(11)
    judge(corpus, tmp_path)
    found = rows(tmp_path)
    *_, address, nothing, long = corpus.documents
    assert found[address.doc_id]["site_documents"] == 1
    for document in (nothing, long):
        assert {found[document.doc_id][name] for name in COLUMNS} == {None}


def test_without_dedup_what_only_dedup_knows_is_null(tmp_path: Path) -> None:
    corpus = mixed(12)
    judge(corpus, tmp_path, config_of(dedup={"enabled": False}), cuts=[30])
    found = [row for row in rows(tmp_path).values() if row["site_documents"] is not None]
    assert {row["site_near_duplicate_share"] for row in found} == {None}
    assert {row["site_template_share"] for row in found} == {None}
    assert len({row[f"{SCORE}_in_site"] for row in found}) > 5
    assert sum(d.reason is None for d in corpus.documents) == len(rows(tmp_path))


def test_without_a_score_the_rest_is_measured(tmp_path: Path) -> None:
    run(mixed(13), tmp_path, config_of(site={"enabled": True, "score": None}))
    names = pq.read_schema(tmp_path / "index.parquet").names
    assert names[-len(MEASURED) :] == list(MEASURED)
    assert f"{SCORE}_in_site" not in names


def test_where_no_filter_measures_the_default_score_the_rest_is_measured(tmp_path: Path) -> None:
    judge(mixed(14), tmp_path, config_of(filters={"document": {}}))
    found = [row for row in rows(tmp_path).values() if row["site_documents"] is not None]
    assert {row[f"site_{SCORE}_mean"] for row in found} == {None}
    assert len({row["site_outbound_link_share"] for row in found}) > 1
