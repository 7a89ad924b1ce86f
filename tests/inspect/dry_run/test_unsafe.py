"""What models said of images is known in a dry run, by the images, whatever documents they stand in now."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import read_table, write_table
from obelics_pipeline.inspect.dry_run.known import known_of_images, known_scores, score_unit
from obelics_pipeline.models.picture_scores.columns import columns as columns_of
from obelics_pipeline.stages.score.stage import measure_unit, measure_units
from tests.stages.score.test_pictures import MARK
from tests.stages.score.test_pictures import ByName as Pictures
from tests.stages.score.test_stage import assembled, document
from tests.stages.score.test_unsafe_images import COLUMNS, ByName


def with_hashes(one: Document) -> Document:
    for image in (node for node in one.nodes if isinstance(node, ImageNode)):
        image.sha256 = f"{image.unformatted_src:0>64}"
    return one


def scored_by_what_is_known(
    folder: Path, images: Sequence[str], known: pa.Table, columns: Sequence[str], measures: Sequence[str] = ()
) -> Manifest:
    """A document with these images, scored in `folder`/scratch by what is known of those of `folder`/run."""
    run, scratch = RunFolder(folder / "run"), RunFolder(folder / "scratch")
    moved = assembled(scratch.assembled, [with_hashes(document(5, "y", list(images)))])
    write_table(known_scores(run, columns), folder / "scores.parquet")
    write_table(known, folder / "images.parquet")
    [unit] = measure_units([moved], "known")
    return score_unit(
        unit,
        folder=scratch.scores,
        document_folder=scratch.assembled,
        scores=folder / "scores.parquet",
        of_images=folder / "images.parquet",
        columns=columns,
        measures=measures,
    )


def test_images_that_were_seen_keep_their_scores_and_others_stay(tmp_path: Path) -> None:
    run, scratch = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "scratch")
    gone = with_hashes(document(1, "dropped", ["u99"]))
    gone.reason = "image_count"
    of = assembled(tmp_path / "run" / "assembled", [with_hashes(document(0, "x", ["u10", "none"])), gone])
    [unit] = measure_units([of], "models")
    measure_unit(unit, ByName(), folder=run.scores, document_folder=run.assembled, columns=COLUMNS)
    known = known_of_images(run, [])
    assert known.to_pylist() == [{"sha256": f"{'u10':0>64}", "unsafe": 0.1}]

    manifest = scored_by_what_is_known(tmp_path, ["u20", "u10"], known, COLUMNS)
    assert manifest.notes["unseen"] == 1
    assert read_table(manifest.path(scratch.scores, "data"))["unsafe"].to_pylist() == [[0.0, 0.1]]


def test_what_other_models_said_of_images_is_known_too(tmp_path: Path) -> None:
    run, scratch = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "scratch")
    columns, measures = list(columns_of(MARK, [])), [MARK]
    of = assembled(tmp_path / "run" / "assembled", [with_hashes(document(0, "x", ["w10", "none"]))])
    [unit] = measure_units([of], "models")
    measure_unit(unit, Pictures(), folder=run.scores, document_folder=run.assembled, columns=columns, measures=measures)
    known = known_of_images(run, measures)
    assert known.to_pylist() == [{"sha256": f"{'w10':0>64}", "unsafe": None, MARK: 0.1}]

    manifest = scored_by_what_is_known(tmp_path, ["w20", "w10"], known, columns, measures)
    table = read_table(manifest.path(scratch.scores, "data"))
    assert (table[MARK].to_pylist(), table["unsafe"].to_pylist()) == ([[None, 0.1]], [[0.0, 0.0]])
