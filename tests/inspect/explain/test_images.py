"""What the fetch found of each image is told beside what became of it."""

import re
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.explain.lines import _found
from obelics_pipeline.inspect.run_tables.documents import document_table


def test_size_format_and_bytes_of_an_image_are_told(
    sampled_run: Path, warcs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    documents = document_table(RunFolder(sampled_run))
    kept = documents.filter(documents["reason"].is_null())["doc_id"][0].as_py()
    assert main(["explain", str(sampled_run), kept, "--input", *map(str, warcs)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if re.match(r"  \w+ +image ", line)]
    assert any(re.search(r"\(\d+x\d+ (jpeg|png|webp), [\d,]+ bytes\) https?://", line) for line in lines), lines


def test_what_was_measured_of_pixels_is_told() -> None:
    image = ImageNode("http://a/", "/", original_width=4, original_height=3, format="png", scores={"sharpness": 99.94})
    assert _found(image) == "(4x3 png, sharpness 99.94) "
