"""`obelics card`: write what a corpus is beside its shards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.storage import Location, file_sha256, location
from obelics_pipeline.inspect.card.contents import contents_of
from obelics_pipeline.inspect.card.croissant import croissant
from obelics_pipeline.inspect.card.opens import Layout, what_opens
from obelics_pipeline.inspect.card.page import card, in_a_sentence
from obelics_pipeline.inspect.card.responsible import responsible
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.explain.written import write_all
from obelics_pipeline.inspect.report.funnel import funnel_of
from obelics_pipeline.inspect.report.opened import read_run

CARD, CROISSANT = "README.md", "croissant.json"  # as the Hugging Face hub names the first


def write_card(folder: str, said: Statement, output: str | None = None) -> Sequence[Location]:
    """Write both files into the folder of a finished run, or into `output`; returns where.

    In a store that is the folder of its current revision: the tars and the index that the card is of lie there.
    Raises UserError where no finished run is, or its index cannot be read.
    """
    import duckdb

    run = read_run(folder)
    manifest = run.manifest
    if manifest is None:
        raise UserError(f"{folder}: the run there has not finished; run its command again to finish it")
    names = manifest.promises.score_names
    base = location(folder)
    home = base if isinstance(base, Path) else run.folder.path  # on a disk its names mean the current revision
    try:
        contents = contents_of(run.folder, names, run.config.consent.licence.active)
        opens = what_opens(home, manifest.counts()["documents"])
        index = demand_index(run.folder.path).schema()
    except (OSError, pa.ArrowException, duckdb.Error) as error:
        why = str(error).splitlines()[0][:200]
        raise UserError(f"{folder}: cannot be read ({why}); see obelics validate") from None
    funnel = funnel_of(run)
    text = card(run, manifest, funnel, contents, Layout(opens), said, file_sha256(run.folder.config))
    languages = [row.name for row in contents.languages if row.name]
    further = responsible(run, funnel, contents, said)
    about = croissant(manifest, index, languages, said, in_a_sentence(manifest, contents), further)
    target = home if output is None else location(output)
    files = {CARD: text, CROISSANT: json.dumps(about, ensure_ascii=False, indent=1) + "\n"}
    write_all(target, files)
    return [target / name for name in files]
