"""What is printed of generated text is what the run's tables say, and nothing where they disagree."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.demo.farm import HOST
from obelics_pipeline.demo.pages import farms, unusual
from obelics_pipeline.demo.verdicts import FARM_SCORE, Verdict, lines_of_verdicts, verdicts_of
from tests.models.farm_detector.small import detector

HONEST = [Verdict(url, True, None, 0.1) for url in unusual()]
SPUN, OTHER = f"http://{HOST}/spun/1.html", f"http://{HOST}/chained/1.html"


def lines(*verdicts: Verdict) -> str:
    return "\n".join(lines_of_verdicts(verdicts, Path("demo-output")))


def gone(url: str, reason: str = FARM_SCORE) -> Verdict:
    return Verdict(url, False, reason, 0.99)


def test_hosts_of_farms_are_told_from_others_the_demo_s_own_farm_first() -> None:
    other = f"http://{farms()[0]}/1"
    said = lines(
        *HONEST, gone("http://a.example/1"), gone(other), gone(SPUN), gone(OTHER, "farm_score_in_site"),
        Verdict(SPUN + "x", True, None, 0),
    )  # fmt: skip
    assert "4 of 55 documents dropped (farm_score 3, farm_score_in_site 1)" in said
    places = [
        said.index(f"2 of 3 from {HOST}, a farm"),
        said.index(f"1 of 1 from {farms()[0]}, a farm"),
        said.index("1 of 1 from a.example, not a farm"),
    ]
    assert places == sorted(places)
    assert "50 of 50 unusual but honest pages kept" in said
    assert f"obelics explain demo-output {SPUN}" in said


def test_an_honest_page_that_did_not_stay_is_named_with_its_reason() -> None:
    said = lines(gone(HONEST[0].url), *HONEST[2:])
    assert "48 of 50 unusual but honest pages kept" in said
    assert f"{HONEST[0].url}: dropped: farm_score" in said
    assert f"{HONEST[1].url}: dropped: as a duplicate, or not extracted" in said
    assert "obelics explain" not in said  # none of the farm was dropped


def test_without_a_score_nothing_is_claimed() -> None:
    said = lines(*(Verdict(url, True, None, None) for url in unusual()))
    assert "not measured: the config does not ask for it" in said
    assert "unusual" not in said


@pytest.fixture(scope="module")
def run(warcs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text only, under a detector that drops whatever has many different words."""
    output = tmp_path_factory.mktemp("run")
    detector().save(output / "small.npz")
    rule = f"{{max: 0.1, options: {{paths: {{en: {output / 'small.npz'}}}}}}}"
    sets = ["fetch.enabled=false", f"filters.document.farm_score={rule}", "images.min_per_document=0"]
    arguments = [part for value in sets for part in ("--set", value)]
    assert main(["run", "default", "--input", *map(str, warcs), "--output", str(output / "out"), *arguments]) == 0
    return output / "out"


def test_verdicts_are_those_of_the_tables(run: Path) -> None:
    verdicts = verdicts_of(run)
    counts = json.loads((run / "manifest.json").read_text())["ledgers"]["documents"]
    assert len(verdicts) == counts["in"]
    assert sum(verdict.kept for verdict in verdicts) == counts["kept"] > 0
    for verdict in verdicts:
        if verdict.reason == FARM_SCORE:
            assert not verdict.kept
            assert verdict.farm_score is not None
            assert verdict.farm_score > 0.1
    assert sum(v.reason == FARM_SCORE for v in verdicts) == counts["dropped"].get(FARM_SCORE, 0) > 0


@pytest.mark.parametrize(
    "change",
    [lambda counts: counts.update(kept=0), lambda counts: counts["dropped"].update(farm_score=10**6)],
    ids=["kept", "dropped"],
)
def test_a_manifest_that_counts_otherwise_is_not_believed(
    run: Path, change: Callable[[dict[str, object]], None]
) -> None:
    before = (run / "manifest.json").read_text()
    manifest = json.loads(before)
    change(manifest["ledgers"]["documents"])
    (run / "manifest.json").write_text(json.dumps(manifest))
    try:
        with pytest.raises(UserError, match=r"manifest\.json counts"):
            verdicts_of(run)
    finally:
        (run / "manifest.json").write_text(before)
