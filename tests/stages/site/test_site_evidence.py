"""The steps of the stage `site`: done again where what they depend on changed, and as a new run would do them."""

import shutil
from pathlib import Path

import pytest

from tests.faults.runs import events
from tests.stages.site.farms import SCORE, Corpus, config_of, judge, rows

SPLIT = [3]


def corpus(changed: bool = False) -> Corpus:
    """Two sites in two units; `changed` has another score in a page of the first site, in the second unit."""
    made = Corpus(1)
    copied = " ".join(f"w{i}" for i in range(80))
    for i in range(3):
        made.page(f"https://a.example/{i}", 0.5 + i / 10, text=copied if i else None, extra=["Share this with all"])
    made.page("https://a.example/far", 0.5 if changed else 0.75, text=copied, extra=["Share this with all"])
    made.page("https://b.example/1", 0.25)
    made.page("https://b.example/2", 0.125)
    return made


def settings(**site: object) -> dict[str, object]:
    return {"dedup": {"buckets": 2}, "site": {"enabled": True} | site}


def tree(output: Path) -> dict[str, bytes]:
    found = [path for name in ("site", "shuffled") for path in (output / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(output)): path.read_bytes() for path in found}


def done(output: Path, since: int = 0) -> set[str]:
    """The steps of the stage of which a unit was done, or which partitions rows out."""
    steps = (e.get("stage") if e["event"] == "unit_done" else e.get("step") for e in events(output)[since:]
             if e["event"] in ("unit_done", "shuffle_started"))  # fmt: skip
    return {str(step) for step in steps if str(step).startswith("site")}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("judged")
    judge(corpus(), output, config_of(**settings()), SPLIT)
    return output


def again(judged: Path, output: Path, made: Corpus, config: dict[str, object]) -> set[str]:
    """Judge in a copy of what was judged; the steps that were done."""
    shutil.copytree(judged, output)
    shutil.rmtree(output / "extract")  # a unit that is committed stands
    since = len(events(output))
    judge(made, output, config_of(**config), SPLIT)
    return done(output, since)


def test_documents_stay_in_their_units_and_in_order(judged: Path) -> None:
    assert list(rows(judged)) == [document.doc_id for document in corpus().documents]


def test_a_second_time_nothing_is_done(judged: Path, tmp_path: Path) -> None:
    assert again(judged, tmp_path / "copy", corpus(), settings()) == set()
    assert tree(tmp_path / "copy") == tree(judged)


@pytest.mark.parametrize(
    ("site", "steps"),
    [
        ({"document": {"site_documents": {"max": 3}}}, {"site"}),
        ({"prior": 0.5}, {"site"}),
        ({"score": None}, {"site", "site-evidence", "site-sums", "site-totals"}),
    ],
    ids=["bounds", "prior", "score"],
)
def test_what_a_setting_changes_is_done_again_and_no_more(
    judged: Path, tmp_path: Path, site: dict[str, object], steps: set[str]
) -> None:
    assert again(judged, tmp_path / "copy", corpus(), settings(**site)) == steps
    judge(corpus(), tmp_path / "new", config_of(**settings(**site)), SPLIT)
    assert tree(tmp_path / "copy") == tree(tmp_path / "new")
    assert rows(tmp_path / "new") != rows(judged)


def test_another_page_changes_the_documents_of_its_site_alone(judged: Path, tmp_path: Path) -> None:
    output = tmp_path / "copy"
    again(judged, output, corpus(changed=True), settings())
    judge(corpus(changed=True), tmp_path / "new", config_of(**settings()), SPLIT)
    assert tree(output) == tree(tmp_path / "new")
    before, after = rows(judged), rows(output)
    of_a = {document.doc_id for document in corpus().documents if "//a." in document.url}
    assert {doc_id for doc_id in after if after[doc_id] != before[doc_id]} == of_a


@pytest.mark.parametrize("dedup", [{"enabled": False}, {"text": {"enabled": False}, "buckets": 2}], ids=["no", "text"])
def test_where_texts_are_not_compared_no_groups_are_counted(tmp_path: Path, dedup: dict[str, object]) -> None:
    judge(corpus(), tmp_path, config_of(dedup=dedup), SPLIT)
    assert done(tmp_path) == {"site", "site-evidence", "site-sums", "site-totals"}
    assert {row["site_near_duplicate_share"] for row in rows(tmp_path).values()} == {None}


def test_copies_across_units_are_copies(judged: Path) -> None:
    found = {row["site_near_duplicate_share"] for row in rows(judged).values() if row[f"site_{SCORE}_mean"] != 0.1875}
    assert found == {0.75}
    assert {"site-groups", "site-limits", "site-several"} <= done(judged)
