"""The benchmark of scoring runs unchanged on a machine with a GPU and on one without; here, in its tiny shape."""

import sys

import pytest

from benchmarks import scoring
from obelics_pipeline.core.document import ImageNode


def test_documents_have_a_thousand_words_and_four_images_on_average_each_image_another() -> None:
    made = scoring.documents(400, 500)
    assert sum(len(d.text().split()) for d in made) / 400 == pytest.approx(1000, rel=0.05)
    images = [image.src for d in made for image in d.images()]
    assert len(images) / 400 == pytest.approx(4, rel=0.05)
    assert len(set(images)) == len(images)
    assert made == scoring.documents(400, 500)


def test_each_photograph_is_another_file_that_can_be_decoded() -> None:
    pytest.importorskip("PIL")
    from obelics_pipeline.models.pictures.pixels import picture

    photographs = scoring.Photographs(kinds=2)
    files = [photographs(ImageNode(f"image:{i}", "")) for i in range(4)]
    assert len(set(files)) == 4 and all(picture(content, 32) is not None for content in files)


@pytest.mark.slow
def test_it_prints_a_row_for_each_way_to_batch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("einops_exts")
    sizes = ["--shape", "tiny", "--device", "cpu", "--documents", "3", "--batch-tokens", "2048", "4096"]
    monkeypatch.setattr(sys, "argv", ["scoring", "a.warc.gz", *sizes])
    scoring.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("batches of")]
    assert len(rows) == 4 and all("documents/s" in row and row.endswith("% waiting") for row in rows)


@pytest.mark.slow
def test_it_prints_a_row_for_each_way_to_batch_for_similarity_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tests.models.similarity.tiny")
    monkeypatch.setattr(sys, "argv", ["scoring", "--similarity", "--device", "cpu", "--documents", "3"])
    scoring.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("batches of")]
    assert len(rows) == 3 and all("documents/s" in row for row in rows)
