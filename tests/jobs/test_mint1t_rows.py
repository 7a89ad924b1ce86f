"""Frames of MINT-1T's TIFFs become images of documents, each at its place; what we export in its layout is read again.

Beam makes of such rows, and of published ones, what the local engine makes of them.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.policy.image_safety.tiff import pictures
from tests.faults.inline import runs_inline
from tests.faults.runs import published
from tests.small import SENTENCE, THINGS
from tests.stages.rows import made

SMALL = ("dedup.enabled=false", "site.enabled=false", "language.min_score=0", "images.min_per_document=0",
         "filters.document={word_count: {min: 10}}", "fetch.buckets=2", "fetch.robots_txt=false",
         "reading.unit_rows=2")  # fmt: skip
NO_WEB = "http://127.0.0.1:9"  # a proxy that is not there: who asks for anything fails

Shown = list[str | bytes]


@pytest.fixture(autouse=True)
def no_web(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", NO_WEB)


def run_over(layout: str, inputs: Sequence[Path], output: Path, *more: str) -> dict[str, Ledger]:
    """A run over files of rows; its ledgers, each of which balances."""
    overrides = [part for value in SMALL for part in ("--set", value)]
    assert main(["run", layout, "--input", *map(str, inputs), "--output", str(output), *overrides, *more]) == 0
    ledgers = read_manifest(output).ledgers
    assert all(ledger.balanced() for ledger in ledgers.values())
    return dict(ledgers)


def packed(frames: int) -> bytes:
    """As `made.tiff`, with packed pixels: bytes that are changed in these cannot be unpacked."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(made.tiff(frames))) as images:
        images.save(out, "TIFF", save_all=True, compression="tiff_adobe_deflate")
    return out.getvalue()


def broken(frames: int, number: int) -> bytes:
    """A TIFF of packed pixels, those of one frame overwritten."""
    content = packed(frames)
    file = pictures(content, frames).files[number]
    assert file is not None
    at = content.index(file[-len(file) // 2 :])
    return content[:at] + b"\xff" * 64 + content[at + 64 :]


def mint_tar(path: Path) -> Path:
    """Four documents as in the tars of PDF files, with six frames that are whole, one cut off, one broken."""
    tiffs = {"whole": made.tiff(3), "one": made.tiff(1), "cut": made.tiff(2)[:-100], "broken": broken(2, 1)}
    members = []
    for number, ((key, tiff), thing) in enumerate(zip(tiffs.items(), THINGS, strict=False)):
        count = {"whole": 3, "one": 1}.get(key, 2)
        names = [f"page_{page}_image_{7 * page}" for page in range(count)]
        texts = [part for _ in names for part in (SENTENCE.format(thing), None)]
        row: dict[str, Any] = {"pdf_name": f"{key}.pdf", "url": f"https://pages.example/{key}.pdf", "texts": texts}
        row["images"] = [part for name in names for part in (None, name)]
        if number % 2 == 0:
            row["image_metadata"] = [{"page": page, "xref": 7 * page, "width": 200} for page in range(count)]
        members += [(f"{number:09d}.json", json.dumps(row).encode()), (f"{number:09d}.tiff", tiff)]
    return made.tar(path, members)


def shown(run: Path) -> dict[str, Shown]:
    """Texts and pictures of the shards, in order, by the address of the document."""
    found: dict[str, Shown] = {}
    for document in all_documents(run):
        texts, names = document.value["texts"], document.value["files"]
        pairs = zip(texts, names, strict=True)
        found[document.row["url"]] = [text if name is None else document.images[name] for text, name in pairs]
    return found


def test_each_frame_is_the_image_at_its_place_and_a_broken_one_costs_itself(tmp_path: Path) -> None:
    with runs_inline():
        ledgers = run_over("mint1t", [mint_tar(tmp_path / "a.tar")], tmp_path / "run")
    assert (ledgers["documents"].kept, ledgers["images"].kept) == (4, 6)
    assert ledgers["images"].failed.total() == 2
    assert ledgers["images"].failed["picture_in_tiff"] == 1
    assert ledgers["urls"].failed.total() == 1
    documents = shown(tmp_path / "run")
    texts = {key: SENTENCE.format(thing) for key, thing in zip(("whole", "one", "cut", "broken"), THINGS, strict=False)}
    one, two, three = made.frames(3)
    assert documents["https://pages.example/whole.pdf"] == [
        part for f in (one, two, three) for part in (texts["whole"], f)
    ]
    assert documents["https://pages.example/one.pdf"] == [texts["one"], one]
    assert documents["https://pages.example/cut.pdf"] == [texts["cut"], one, texts["cut"]]
    assert documents["https://pages.example/broken.pdf"][::2] == [texts["broken"]] * 2
    assert main(["validate", str(tmp_path / "run")]) == 0


def test_what_is_exported_in_its_layout_is_read_again_with_the_same_pictures(tmp_path: Path) -> None:
    with runs_inline():
        run_over("mint1t", [mint_tar(tmp_path / "a.tar")], tmp_path / "run")
        assert main(["export", str(tmp_path / "run"), "--format", "mint1t", "--output", str(tmp_path / "out")]) == 0
        tars = sorted((tmp_path / "out").glob("*.tar"))
        run_over("mint1t", tars, tmp_path / "again")
    with tarfile.open(tars[0]) as tar:
        assert sum(name.endswith(".tiff") for name in tar.getnames()) == 6
    assert shown(tmp_path / "again") == shown(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("layout", ["mint1t", "published"])
def test_beam_makes_the_same(layout: str, tmp_path: Path) -> None:
    if layout == "mint1t":
        inputs = [mint_tar(tmp_path / "a.tar")]
    else:
        texts = [[SENTENCE.format(thing), None, "The end."] for thing in THINGS[:3]]
        files = made.frames(3)
        columns = [[None, {"bytes": file, "path": "one.tiff"}, None] for file in files]
        rows = [
            made.published(texts=text, images=images, doc_id=f"{number:032x}")
            for number, (text, images) in enumerate(zip(texts, columns, strict=True))
        ]
        inputs = [made.parquet(tmp_path / f"{name}.parquet", rows) for name in "ab"]  # each id twice
    formats = ["--set", "images.formats=[tiff]"]
    with runs_inline():
        run_over(layout, inputs, tmp_path / "here", *formats)
    run_over(layout, inputs, tmp_path / "there", *formats, "--engine", "beam", "--workers", "1")
    assert any(name.endswith(".tar") for name in published(tmp_path / "here"))
    assert published(tmp_path / "there") == published(tmp_path / "here")
