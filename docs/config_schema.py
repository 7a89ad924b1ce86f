"""Writes the JSON Schemas of the configs into configs/schema: `make schema`. Editors complete and check YAML by them.

A test holds the committed files equal to the models (tests/core/config/test_schema.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from obelics_pipeline.core.config import yaml_file

FOLDER = Path(__file__).resolve().parent.parent / "configs/schema"


def models() -> dict[str, type[BaseModel]]:
    """The model of each schema, by the name of its file."""
    from obelics_pipeline.core.config.run import RunConfig
    from obelics_pipeline.training.experiments.ablate.experiment import Experiment
    from obelics_pipeline.training.plan.recipe import Recipe
    from obelics_pipeline.training.train.config import TrainConfig

    return {"run": RunConfig, "plan": Recipe, "train": TrainConfig, "ablate": Experiment}


EXTENDS = {"type": "string", "description": "A bundled config by name, or a file: what this one is laid over."}


def schemas() -> Iterator[tuple[str, str]]:
    """File name and JSON of each schema. Values may be left out where a key has a default."""
    for name, model in models().items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
        schema["properties"] |= {yaml_file.EXTENDS: EXTENDS}
        yield f"{name}.json", json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in schemas():
        (FOLDER / name).write_text(text, "utf-8")
