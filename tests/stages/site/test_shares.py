"""Doorways and stitched pages are found by what they share; copies, quotations and a small crawl are not mistaken."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.stages.site.shares import repeated_skeletons
from obelics_pipeline.stages.site.sharing import SHARED, SITE, SKELETON, Shared
from obelics_pipeline.stages.site.told import shared_with_others
from tests.stages.site.farms import Corpus, config_of, judge, neighbours, rows, sentences, words

TEMPLATE = [
    "If you live in {0} and you are in need of a {1}, then it is we who can be with you within the hour or less.",
    "There is no one in {0} who would not have been with us at one time or another for some {1} of their own.",
    "We have been in {0} for more than {2} years, and for each of those we did what we said we would do for you.",
    "If it is not what you had in mind, then you need not have it, and for all that we did in {0} you owe us nothing.",
    "Some of us were here in {0} before there was a {1} at all, and we are still with those who were with us then.",
    "Once you are one of ours in {0}, you will not have to ask for a {1} from anyone else, and neither will they.",
]
BOUND = {"site": {"document": {"site_farm_probability": {"max": 0.5}}}}


def doorways(corpus: Corpus, pages: int = 8) -> list[Document]:
    """A site of one template; each page has other content words in every place."""
    return [
        corpus.page(
            f"https://doorway.example/{number}",
            0.1,
            text=" ".join(
                s.format(*words(corpus.random, 3)) + " " + " ".join(words(corpus.random, 9)) for s in TEMPLATE
            ),
        )
        for number in range(pages)
    ]


def test_a_site_of_one_template_falls_and_the_others_stay(tmp_path: Path) -> None:
    corpus = Corpus(1)
    neighbours(corpus)
    farm = {page.doc_id for page in doorways(corpus)}
    judge(corpus, tmp_path, config_of(**BOUND), cuts=[20, 63])  # the doorways are in two units
    found = rows(tmp_path)
    assert {doc_id for doc_id, row in found.items() if row["reason"] == "site_farm_probability"} == farm
    assert {row["site_skeleton_share"] for doc_id, row in found.items() if doc_id in farm} == {1.0}
    assert {row["site_near_duplicate_share"] for doc_id, row in found.items() if doc_id in farm} == {0.0}
    assert max(float(str(row["site_skeleton_share"])) for doc_id, row in found.items() if doc_id not in farm) < 0.1


def test_a_page_is_told_which_of_its_sentences_are_shared(tmp_path: Path) -> None:
    corpus = Corpus(2)
    said = neighbours(corpus)
    page = doorways(corpus)[0]
    stitched = corpus.page("https://stitched.example/", 0.1, text=" ".join(s[0] for s in said[:12]))
    judge(corpus, tmp_path, config_of(**BOUND))
    told = shared_with_others(RunFolder(tmp_path), "u-000000-0", page)
    assert {passage.what for passage in told} == {"skeleton"}
    assert {(passage.pages, passage.sites) for passage in told} == {(8, 1)}
    assert any(passage.text.startswith("if you _ in _ and you are in _ of a _ , then it is we who") for passage in told)
    told = shared_with_others(RunFolder(tmp_path), "u-000000-0", stitched)
    assert {(passage.what, passage.pages, passage.sites) for passage in told} == {("sentence", 1, 2)}
    assert {passage.text for passage in told} < {page[0] for page in said[:12]}


def test_sentences_of_many_sites_are_borrowed_and_those_of_one_are_not(tmp_path: Path) -> None:
    corpus = Corpus(3)
    said = neighbours(corpus)
    stitched = corpus.page("https://stitched.example/", 0.1, text=" ".join(s[1] for s in said[:12]))
    agency = sentences(corpus.random, 8)
    papers = [
        corpus.page(f"https://paper{n}.example/", 0.1, text=" ".join([*agency, *sentences(corpus.random, 8)]))
        for n in range(3)
    ]
    judge(corpus, tmp_path, config_of(), cuts=[30])
    found = rows(tmp_path)
    assert float(str(found[stitched.doc_id]["borrowed_share"])) > 0.9
    assert {found[paper.doc_id]["borrowed_share"] for paper in papers} == {0.0}
    assert max(float(str(found[paper.doc_id]["skeleton_share_elsewhere"])) for paper in papers) < 0.2  # of half


def test_near_duplicates_do_not_count_as_pages_that_share(tmp_path: Path) -> None:
    corpus = Corpus(4)
    neighbours(corpus)
    text = sentences(corpus.random, 20)
    copies = [corpus.page(f"https://mirror.example/{n}", 0.1, text=" ".join([*text, f"Copy {n}."])) for n in range(6)]
    judge(corpus, tmp_path, config_of())
    found = rows(tmp_path)
    assert {found[copy.doc_id]["site_near_duplicate_share"] for copy in copies} == {1.0}
    assert {found[copy.doc_id]["skeleton_share"] for copy in copies} == {0.0}


def test_a_small_crawl_and_a_small_site_cannot_tell(tmp_path: Path) -> None:
    corpus = Corpus(5)
    few = doorways(corpus, pages=4)
    neighbours(corpus, sites=3)
    judge(corpus, tmp_path, config_of())
    found = rows(tmp_path)
    names = ("borrowed_share", "skeleton_share", "skeleton_share_elsewhere", "site_skeleton_share")
    assert {found[page.doc_id][name] for page in few for name in (*names, "site_farm_probability")} == {None}
    assert {row["borrowed_share"] for row in found.values()} == {None}


def test_without_near_duplicates_nothing_is_said_of_shares(tmp_path: Path) -> None:
    corpus = Corpus(6)
    neighbours(corpus)
    doorways(corpus)
    judge(corpus, tmp_path, config_of(dedup={"text": {"enabled": False}}))
    assert {row["site_skeleton_share"] for row in rows(tmp_path).values()} == {None}
    assert {row["borrowed_share"] for row in rows(tmp_path).values()} == {None}


def test_on_a_large_site_a_skeleton_must_stand_on_more_pages() -> None:
    def repeats(of_site: int, with_it: int) -> bool:
        rows = [(SITE, 1, of_site), (SKELETON, 8, with_it)]
        common = {"partition": "a", "site": 1, "sites": 1, "other": 0}
        table = pa.Table.from_pylist([common | {"kind": k, "key": key, "documents": n} for k, key, n in rows], SHARED)
        return bool(repeated_skeletons(np.array([8], np.uint64), 1, Shared([table.drop_columns(["partition"])]))[0])

    assert [repeats(10, pages) for pages in (1, 2, 3)] == [False, False, True]
    assert [repeats(1000, pages) for pages in (3, 20, 21)] == [False, False, True]
