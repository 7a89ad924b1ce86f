"""Plans and training runs in the formats that they are written in, over a curation run, without any training."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

ROWS_PER_STEP = 8
WORDS = 5000
LOSS = 3.0  # of an ordinary document


def make_plan(folder: Path, curated: Path, repeats: int = 1) -> Path:
    """A plan of a run's documents, one a row, as often as asked for."""
    index = pq.read_table(curated / "index.parquet").to_pylist()
    names = ("offset", "length", "doc_id", "url", "warc_filename", "warc_record_offset", "warc_record_length")
    n = len(index)
    documents = pa.table(
        {
            "dataset": pa.array([0] * n, pa.int16()),
            "shard": pa.array([str(curated / "shards" / row["shard"]) for row in index]).dictionary_encode(),
            **{name: pa.array([row[name] for row in index]) for name in names},
            "content_sha256": pa.array([row["content_sha256"] for row in index]),
            "n_tokens": pa.array([40 + 13 * i % 200 for i in range(n)], pa.int32()),
            "n_images": pa.array([row["n_files"] for row in index], pa.int32()),
            "ids_crc32": pa.array([0] * n, pa.uint32()),
            "n_target_bytes": pa.array([100] * n, pa.int32()),
            "reason": pa.nulls(n, pa.string()),
        }
    )
    folder.mkdir(parents=True)
    with pa.ipc.new_file(folder / "documents.arrow", documents.schema) as writer:
        writer.write_table(documents)
    about = {
        "format": "obelics-plan-1",
        "tokenizer": {"words": WORDS},
        "rows_per_step": ROWS_PER_STEP,
        "rows": n * repeats,
        "steps": -(-n * repeats // ROWS_PER_STEP),
        "datasets": [{"name": "web", "documents": n, "repeat": repeats}],
        "id": "0" * 64,
    }
    (folder / "plan.json").write_text(json.dumps(about))
    return folder


@dataclass
class Made:
    """A training run that is written step by step. `bad` are losses of documents that are not ordinary."""

    folder: Path
    documents: int
    bad: Mapping[int, float] = field(default_factory=dict)
    attempt: int = 1
    lines: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)

    def begin(self, plan: Path) -> Made:
        self.folder.mkdir(parents=True)
        (self.folder / "plan.txt").write_text(f"{plan}\n{'0' * 64}\n")
        (self.folder / "config.yaml").write_text("rate: 0.001\n")
        self.note("start", 0, parent=None, from_step=0)
        return self

    def note(self, kind: str, step: int, why: str = "", **values: Any) -> None:
        number = len(self.entries) + 1
        entry = {"number": number, "attempt": self.attempt, "step": step, "kind": kind, "why": why, "evidence": {}}
        self.entries.append(entry | values)

    def train(self, first: int, last: int, high: Mapping[int, float] = {}, **more: Any) -> Made:
        """Steps; `high` is what the loss of all is higher by at a step."""
        rows: list[dict[str, Any]] = []
        for step in range(first, last + 1):
            chance = random.Random(1000 * self.attempt + step)
            cursor = (step - 1) * ROWS_PER_STEP
            mine: list[dict[str, Any]] = []
            wild = high.get(step, 0.0)
            for row in range(cursor, cursor + ROWS_PER_STEP):
                document, n = row % self.documents, 20 + (37 * row) % 180
                mean = LOSS + high.get(step, 0.0) + chance.gauss(0, 0.2 + 2 / math.sqrt(n))
                mean = self.bad.get(document, mean)
                mine.append(
                    {
                        "step": step, "row": row, "span": row, "document": document, "repeat": row // self.documents,
                        "n_targets": n, "loss_sum": mean * n, "el2n_sum": 0.3 * mean * n, "log_z_sum": 5.0 * n,
                    }
                )  # fmt: skip
            rows += mine
            targets = sum(row["n_targets"] for row in mine)
            loss = sum(row["loss_sum"] for row in mine) / targets
            rms = 1 + chance.random() / 10 + 9 * wild
            self.lines.append(
                {
                    "attempt": self.attempt, "step": step, "cursor": cursor, "rows": ROWS_PER_STEP, "lr": 0.001,
                    "loss": loss, "log_z": 5 + chance.gauss(0, 0.05) + wild,
                    "grad_norm": 1 + chance.random() / 10 + 5 * wild,
                    "applied": True, "tokens": targets + 20, "targets": targets, "images": 3,
                    "datasets": {"web": {"loss": loss, "targets": targets}},
                    "activations": {"0.fc2": {"rms": rms, "max": 9.0}} if step % 2 else {},
                    "time": {"step": 2.0, "data": 0.1},
                }
                | more
            )  # fmt: skip
        place = self.folder / f"accounts/attempt-{self.attempt:05d}/rank-00000"
        place.mkdir(parents=True, exist_ok=True)
        schema = pa.schema(
            [("step", pa.int32()), ("row", pa.int64()), ("span", pa.int64()), ("document", pa.int64()),
             ("repeat", pa.int16()), ("n_targets", pa.int32()), ("loss_sum", pa.float32()), ("el2n_sum", pa.float32()),
             ("log_z_sum", pa.float32())]
        )  # fmt: skip
        pq.write_table(pa.Table.from_pylist(rows, schema), place / f"steps-{first:08d}-{last:08d}.parquet")
        return self

    def again(self, kind: str, from_step: int, why: str = "", **more: Any) -> Made:
        """A further attempt that goes on after a step."""
        parent, self.attempt = self.attempt, self.attempt + 1
        if kind == "rollback":
            more |= {"to_step": from_step, "cursor": from_step * ROWS_PER_STEP}
        self.note(kind, from_step, why, parent=parent, from_step=from_step, **more)
        return self

    def written(self) -> Path:
        (self.folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        (self.folder / "ledger.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in self.entries))
        return self.folder


def steps_of(lines: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    return [(line["attempt"], line["step"]) for line in lines]
