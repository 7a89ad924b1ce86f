"""A dry run keeps, to the document, what a run of the same config keeps; it reads no page and asks for no image."""

from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from rich.console import Console

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import ImageRulesConfig, load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.inspect.dry_run.dry_run import Unknown, dry_run
from obelics_pipeline.inspect.dry_run.known import known_images
from obelics_pipeline.inspect.run_tables.documents import document_table
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.stages.fetch.image_rules import url_reason
from tests.faults.inline import Inline
from tests.sampled import run_sample

RULES = ImageRulesConfig()
LOOSER = (
    "filters.document.farm_score.max=0.999",
    "filters.document.stopword_ratio={min: 0.05}",
    "filters.document.word_count.min=3",
)
PARAGRAPHS = ("filters.paragraph.word_count.min=12", "filters.paragraph.character_repetition_ratio.max=0.1")
IMAGES = (
    "images.min_side=300",
    "images.min_per_document=2",
    "dedup.images.url_max=1",
    "finish.drop_repeated_images=false",
)
DEDUP = ("dedup.text.threshold=0.3", "dedup.keep=first", "dedup.paragraphs.min_count=2", "dedup.image_set.min_images=1")
WITHOUT = ("dedup.enabled=false",)


def run_dry(sample: Path, scratch: Path, settings: Sequence[str]) -> Unknown:
    run, folder = RunFolder(sample), RunFolder(scratch)
    before, config = load_config(str(run.config)), load_config(str(run.config), settings)
    with folder.locked(), Inline(folder.scratch) as engine:
        return dry_run(run, before, config, folder, engine, Display(Console(file=StringIO())))


def ended(folder: Path) -> list[dict[str, object]]:
    table: pa.Table = document_table(RunFolder(folder)).drop_columns(["file", "row"])
    return list(table.to_pylist())


def test_the_same_config_changes_nothing(sampled_run: Path, tmp_path: Path) -> None:
    assert run_dry(sampled_run, tmp_path / "scratch", ()) == Unknown(images=0, scores=0)
    assert ended(tmp_path / "scratch") == ended(sampled_run)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [LOOSER, DEDUP, *(pytest.param(more, marks=pytest.mark.by_hand) for more in (PARAGRAPHS, IMAGES, WITHOUT))],
    ids=["looser", "dedup", "paragraphs", "images", "without"],
)
def test_a_changed_threshold_keeps_what_a_run_keeps(
    sampled_run: Path,
    warcs: list[Path],
    proxy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Sequence[str],
) -> None:
    scratch = tmp_path / "scratch"
    assert run_dry(sampled_run, scratch, ()) == run_dry(sampled_run, scratch, settings) == Unknown(images=0, scores=0)
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    run = run_sample(warcs, tmp_path / "run", settings=settings)
    assert ended(scratch) == ended(run)
    assert ended(scratch) != ended(sampled_run)


def test_what_changes_the_reading_of_pages_is_refused(sampled_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"extract\.scope: main -> page.*run the sample again"):
        run_dry(sampled_run, tmp_path / "scratch", ["extract.scope=page"])


def test_a_sample_measures_every_score_and_fetches_every_image_of_what_it_drops(sampled_run: Path) -> None:
    folder = RunFolder(sampled_run)
    documents = document_table(folder)
    dropped = documents.filter(pc.equal(documents["stage"], "extract"))
    assert dropped.num_rows > 5
    assert dropped["punctuation_ratio"].null_count == 0  # which comes after all that dropped them, but farm_score
    known = set(known_images(folder, load_config(str(folder.config)).fetch)["url"].to_pylist())
    asked = [url for row in dropped.to_pylist() for url in urls_of(folder, row)]
    assert asked
    assert [url for url in asked if url not in known and not url.endswith((".svg", ".ico"))] == []


def urls_of(folder: RunFolder, row: dict[str, object]) -> list[str]:
    """The images that a document asks for."""
    place, at = folder.path / str(row["file"]), int(str(row["row"]))
    return [image.src for image in next(read_documents(place, at, at + 1)).images() if not url_reason(image.src, RULES)]


@pytest.mark.parametrize("share", ["0", "1.5", "-1", "nan"])
def test_a_share_that_is_none_is_refused(share: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "default", "--input", "x", "--output", str(tmp_path), "--sample", share]) == 2
    assert "above 0 and at most 1" in capsys.readouterr().err
