"""A run whose classifier took images: what it took stays counted when something else is removed."""

from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.jobs.main_job import run
from tests.forget.test_stages import manifest
from tests.forget.traces import traces
from tests.models.unsafe_images.drawings import NEAR, bullseye, encoded, near_miss
from tests.stages.fetch.site import Site, answer

pytest.importorskip("onnxruntime")

from tests.policy.image_safety.test_in_a_run import BASE, classifier, page, record

SAFE = {f"safe-{n}.png": encoded(near_miss(NEAR[n], 240, n), "PNG") for n in range(6)}
UNSAFE = {f"unsafe-{n}.jpg": encoded(bullseye(240, n)) for n in range(3)}
PAGES = [
    ("safe-0.png", "unsafe-0.jpg"),  # loses one
    ("unsafe-1.jpg", "unsafe-2.jpg"),  # loses both, and is dropped for that
    ("safe-2.png", "safe-3.png"),  # will be forgotten
    ("safe-4.png", "safe-5.png"),  # one of its images will be
]


def test_a_rerun_after_a_forget_counts_what_the_classifier_took(tmp_path: Path) -> None:
    with Site({f"/{name}": answer(body=body) for name, body in (SAFE | UNSAFE).items()}) as site:
        pages = [record(f"https://pages.example/{n}", page(site, names)) for n, names in enumerate(PAGES)]
        (tmp_path / "in.warc").write_bytes(b"".join(pages))
        sets = [*BASE, classifier(), f'fetch.allow_private=["127.0.0.1:{site.port}"]']
        out = tmp_path / "out"
        assert run("default", [str(tmp_path / "in.warc")], str(out), 1, sets) == 0
        before = manifest(out)["ledgers"]
        assert before["images"]["dropped"] == {"unsafe_image": 3}
        assert before["documents"]["dropped"] == {"image_count": 1}

        gone = ["https://pages.example/2", site.url("/safe-4.png")]
        (tmp_path / "list").write_text("\n".join(gone) + "\n")
        assert main(["forget", str(out), "--urls", str(tmp_path / "list")]) == 0
        assert traces(out, gone) == []
        after = manifest(out)["ledgers"]
        assert after["images"]["dropped"] == {"unsafe_image": 3, "forgotten": 1}
        assert after["documents"]["dropped"] == {"image_count": 1, "forgotten": 1}
        assert main(["validate", str(out)]) == 0
        assert run("default", [str(tmp_path / "in.warc")], str(out), 1, sets) == 0
        assert manifest(out)["ledgers"] == after
