"""`obelics demo`, whole: exit 0, the expected losses, a document printed; and the same again does nothing."""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.demo.farm import HOST
from obelics_pipeline.demo.pages import unusual
from obelics_pipeline.demo.run import lines_of_ledger, proxied, run_demo
from obelics_pipeline.demo.show import read_documents
from obelics_pipeline.models.farm_detector.detector import all_bundled


def test_the_proxy_is_set_only_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "slowbread.example")
    monkeypatch.delenv("http_proxy", raising=False)
    before = dict(os.environ)
    with proxied("http://127.0.0.1:1"):
        assert os.environ["http_proxy"] == "http://127.0.0.1:1"
        assert "no_proxy" not in os.environ
    assert dict(os.environ) == before


def test_a_ledger_is_told_by_reason_the_most_frequent_first() -> None:
    counts = {"in": 9, "kept": 2, "dropped": {"a": 1, "b": 3, "c": 3 - 2}, "failed": {"timeout": 2}}
    assert [line.split() for line in lines_of_ledger("images", counts)][1:] == [
        ["3", "dropped:", "b"],
        ["1", "dropped:", "a"],
        ["1", "dropped:", "c"],
        ["2", "failed:", "timeout"],
    ]


def test_an_output_that_cannot_be_written_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UserError, match=r"--output .*/file: cannot be written: .*; give another folder"):
        run_demo(tmp_path / "file")


def files_of(output: Path) -> dict[str, str]:
    wanted = [*output.glob("shards/*.tar"), output / "index.parquet", output / "manifest.json"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in wanted}


@pytest.mark.slow
def test_the_demo_ends_well_and_a_second_one_changes_nothing(
    tmp_path: Path, expectations: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_demo(tmp_path) == 0
    shown = capsys.readouterr().out
    assert "documents:" in shown
    assert "[image " in shown
    assert "generated text" in shown

    documents = [d for shard in sorted((tmp_path / "shards").glob("*.tar")) for d in read_documents(shard)]
    pictures: dict[str, int] = {}
    for document in documents:
        url = json.loads(document["general_metadata"])["url"]
        pictures[url] = pictures.get(url, 0) + sum(image is not None for image in document["images"])
    assert {url: n for url, n in expectations["good"].items() if pictures.get(url, 0) < n} == {}
    assert set(expectations["good_in_other_languages"]) <= set(pictures)
    assert set(expectations["dropped"]) & set(pictures) == set()
    assert not [src for d in documents for src in d["images"] if src in expectations["lost_images"]]
    assert lost_images(tmp_path) == expectations["lost_images"]
    if "en" not in all_bundled():
        assert "nothing was measured" in shown
    else:
        assert set(unusual()) <= set(pictures)
        assert "50 of 50 unusual but honest pages kept" in shown
        gone, of = re.findall(rf"(\d+) of (\d+) from {HOST}, a farm", shown)[0]
        assert int(gone) >= 0.75 * int(of)
        assert "farm_score_in_site" in shown
        *_, command = (line for line in shown.splitlines() if "obelics explain" in line)
        told = explained(command.partition("obelics explain ")[2].split(), capsys)
        assert "dropped: farm_score" in told
        assert "what made farm_score" in told

    ledgers = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))["ledgers"]
    for counts in ledgers.values():
        assert counts["in"] == counts["kept"] + sum(counts["dropped"].values()) + sum(counts["failed"].values())
    before = files_of(tmp_path)
    assert run_demo(tmp_path) == 0
    assert files_of(tmp_path) == before


def explained(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def lost_images(output: Path) -> dict[str, str]:
    """URL and reason of every image that the fetch stage did not get, other than those that are only small."""
    rows = [row for path in (output / "fetch").glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    lost = {row["url"]: row["reason"] for row in rows if row["reason"] is not None}
    return {url: reason for url, reason in lost.items() if "blinking" not in url}
