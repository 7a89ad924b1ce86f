"""Honest and generated documents as files of texts, to train other models on: `obelics fit farm-texts`."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from obelics_pipeline import __version__
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import TEMPORARY, file_sha256
from obelics_pipeline.fit.farm_detector.families import Made
from obelics_pipeline.fit.farm_detector.marked_text import plain
from obelics_pipeline.fit.farm_detector.sources import Sources
from obelics_pipeline.fit.say import Say

HONEST, GENERATED, RECORD = "honest.jsonl.gz", "generated.jsonl.gz", "farm_texts.json"
_SEED = 4  # not that of the documents that a detector learns from
_LEVEL = 6  # of gzip: 9 takes three times as long for 1 % less


def make_farm_texts(sources: Sources, output: Path, documents: int, say: Say) -> None:
    """Write a file of each kind, lines {"text", "source"} with the family as the source, and what made them.

    Half of the documents are honest. The same sources give the same bytes. Raises UserError, in one line, for what the
    person can mend.
    """
    material = sources.load(say)
    families = material.families()
    honest = documents // 2
    parts: dict[str, tuple[Callable[[Random], Made], int]] = {
        HONEST: (families.honest, honest),
        GENERATED: (families.generated, documents - honest),
    }
    record = {"model": "documents of farm families", "documents": documents, **material.description()}
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=output) as scratch:
            told = {}
            for name, (make, count) in parts.items():
                came = _write(Path(scratch) / name, make, count)
                told[name] = {"texts": dict(sorted(came.items())), "sha256": file_sha256(Path(scratch) / name)}
            record |= {"versions": {"obelics-pipeline": __version__}, "files": told}
            text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
            (Path(scratch) / RECORD).write_text(text, encoding="utf-8")
            for name in (*parts, RECORD):
                os.replace(Path(scratch) / name, output / name)
    except OSError as error:
        raise UserError(f"{error.filename or output}: {error.strerror or error}") from None
    for name, (_, count) in parts.items():
        say(f"wrote {output / name}: {count:,} documents")


def _write(path: Path, make: Callable[[Random], Made], count: int) -> Counter[str]:
    """So many documents, a line each; returns how many there are of each source."""
    random = Random(_SEED)
    came: Counter[str] = Counter()
    with path.open("xb") as raw, gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as file:
        for _ in range(count):
            made = make(random)
            source = made.family or "honest"
            line = json.dumps({"text": plain(made.text), "source": source}, ensure_ascii=False)
            file.write(f"{line}\n".encode("utf-8", "replace"))
            came[source] += 1
    return came
