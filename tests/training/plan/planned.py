"""Plans of made-up documents, written without runs or a tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.training.plan.build import held_out_rows, ordered
from obelics_pipeline.training.plan.chance import draws
from obelics_pipeline.training.plan.command import _finished
from obelics_pipeline.training.plan.documents import HELD_OUT, KEY_OF_HELD_OUT
from obelics_pipeline.training.plan.form import write_plan
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.plan.tokenizer import Tokenizer

from .made import VOCABULARY, documents_from, drawn, recipe


def planned(folder: Path, n: int = 150, first: int = 0, repeat: int = 1, tokenizer: str = "00", **values: Any) -> Plan:
    """The plan of n documents, whose ids and draws begin at `first`."""
    documents = documents_from(drawn(n, first))
    for name in ("doc_id", "url"):
        at = documents.index.column_names.index(name)
        ids = np.char.add(f"{name}-", np.arange(first, first + n).astype(str))
        documents.index = documents.index.set_column(at, name, [ids])
    wish = recipe({"web": {"repeat": repeat}}, held_out=0.1, **values)
    documents.leave_out(draws(documents.content[:, 0], KEY_OF_HELD_OUT) < 0.1, HELD_OUT)
    gone = np.zeros(n, np.bool_)
    rows, held = ordered(wish, documents, gone), held_out_rows(wish, documents, gone)
    write_plan(folder, *_finished(wish, Tokenizer(VOCABULARY, "lm", tokenizer), documents, gone, rows, held))
    return open_plan(folder)
