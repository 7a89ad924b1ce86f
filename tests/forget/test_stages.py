"""Stages that a plain run has not: nothing is left there either, and the next run finds all as it would make it."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.jobs.main_job import run as run_again
from tests.faults.runs import tree
from tests.forget.traces import traces
from tests.policy.opt_outs.test_in_a_run import BASE, IMAGE, NO_FETCH, PAGE, done, service
from tests.policy.opt_outs.test_in_extraction import HTML, PAGES, WORDS, record
from tests.stages.consent.registry import Registry


def with_address(number: int, addresses: str) -> bytes:
    body = f'<html><body><h1>Page {number}</h1><img src="/{number}.jpg"><p>{number} {WORDS}</p>'
    body += f"<p>Write to {addresses} whenever something of this is wrong or missing.</p></body></html>"
    return record(body.encode(), f"https://site{number}.example/page", headers=(HTML,))


def manifest(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "manifest.json").read_text())
    return found


@pytest.mark.parametrize("by", ["urls", "hashes"])
def test_answers_of_a_service_and_counts_of_personal_data(tmp_path: Path, by: str) -> None:
    pages = [*PAGES[:4], with_address(4, "mary@mail.test.net and tom@mail.test.net"), with_address(5, "al@test.net")]
    with Registry({PAGE.format(1)}) as registry:
        sets = [service(registry), NO_FETCH, "images.min_per_document=0", "personal_data.enabled=true"]
        run = done(tmp_path, sets, pages=pages)
        before = manifest(run)["notes"]["personal_data"]["email"]
        assert before == {"values": 3, "documents": 2}
        rows = pq.read_table(run / "index.parquet", columns=["doc_id", "url"]).to_pylist()
        line = PAGE.format(4) if by == "urls" else next(r["doc_id"] for r in rows if r["url"] == PAGE.format(4))
        (tmp_path / "list").write_text(f"{line}\n")
        assert main(["forget", str(run), f"--{by}", str(tmp_path / "list")]) == 0
        assert traces(run, [PAGE.format(4), IMAGE.format(4, 4), line]) == []
        assert manifest(run)["notes"]["personal_data"]["email"] == {"values": 1, "documents": 1}
        assert manifest(run)["ledgers"]["documents"]["dropped"] == {"opt_out_service": 1, "forgotten": 1}
        assert main(["validate", str(run)]) == 0
        after = tree(run)
        assert run_again("default", [str(tmp_path / "in.warc")], str(run), 1, [*BASE, *sets]) == 0
        assert tree(run) == after
        assert len(registry.log) == 1
