"""A run whose classifier of images measures them: in shards, tables, explain, tune and report; and after a forget."""

import json
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

import obelics_pipeline as op
from obelics_pipeline.cli.main import main
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.report.command import report_html
from obelics_pipeline.inspect.report.opened import open_run
from obelics_pipeline.inspect.tune.levels import image_counts, image_level
from obelics_pipeline.inspect.tune.measured import Measured
from obelics_pipeline.jobs.main_job import run
from tests.forget.traces import traces
from tests.models.unsafe_images.drawings import NEAR, bullseye, encoded, near_miss
from tests.policy.image_safety.test_in_a_run import BASE, page, record
from tests.stages.fetch.site import Site, answer

MODEL = Path(__file__).parents[2] / "models" / "unsafe_images" / "bullseye.onnx"
PLAIN = {f"plain-{n}.png": encoded(near_miss(NEAR[n], 240, n), "PNG") for n in range(6)}
MARKED = {f"marked-{n}.jpg": encoded(bullseye(240, n)) for n in range(3)}
PAGES = [
    ("plain-0.png", "marked-0.jpg"),  # loses one
    ("marked-1.jpg", "marked-2.jpg"),  # loses both, and is dropped for that
    ("plain-2.png", "plain-3.png"),  # will be forgotten
    ("plain-4.png", "plain-5.png"),  # one of its images will be
]
NAME = "picture_bullseye"


def scores_of(out: Path) -> list[float]:
    return [image.scores[NAME] for document in op.Run(out).documents() for image in document.images()]


def test_a_classifier_of_images_goes_through_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({f"/{name}": answer(body=body) for name, body in (PLAIN | MARKED).items()}) as site:
        pages = [record(f"https://pages.example/{n}", page(site, names)) for n, names in enumerate(PAGES)]
        (tmp_path / "in.warc").write_bytes(b"".join(pages))
        model = {"model": str(MODEL), "labels": ["plain", "bullseye"], "label": "bullseye", "device": "cpu"}
        named = f"score.picture_classifiers={json.dumps({'bullseye': model})}"
        sets = [*BASE, named, f"score.image.{NAME}.max=0.7", f'fetch.allow_private=["127.0.0.1:{site.port}"]']
        out = tmp_path / "out"
        assert run("default", [str(tmp_path / "in.warc")], str(out), 1, sets) == 0
        before = json.loads((out / "manifest.json").read_text())["ledgers"]
        assert before["images"]["dropped"] == {NAME: 3} and before["documents"]["dropped"] == {"image_count": 1}
        assert len(scores_of(out)) == 5 and all(0 <= score <= 0.7 for score in scores_of(out))
        assert main(["validate", str(out)]) == 0

        capsys.readouterr()
        assert main(["explain", str(out), "https://pages.example/0"]) == 0
        assert f"{NAME} 0." in capsys.readouterr().out

        measured = Measured(RunFolder(out))
        *_, level = image_level(measured.config)
        assert (level["place"], level["max"]) == (f"score.image.{NAME}", 0.7)
        *_, counted = image_counts(measured.images, measured.config)
        assert (counted["name"], counted["measured"], counted["drops"]) == (NAME, 8, 3)
        assert "Bullseye" in report_html(open_run(str(out)))

        gone = ["https://pages.example/2", site.url("/plain-4.png")]
        (tmp_path / "list").write_text("\n".join(gone) + "\n")
        assert main(["forget", str(out), "--urls", str(tmp_path / "list")]) == 0
        assert traces(out, gone) == []
        after = json.loads((out / "manifest.json").read_text())["ledgers"]
        assert after["images"]["dropped"] == {NAME: 3, "forgotten": 1}
        assert main(["validate", str(out)]) == 0
        assert run("default", [str(tmp_path / "in.warc")], str(out), 1, sets) == 0
        assert json.loads((out / "manifest.json").read_text())["ledgers"] == after
