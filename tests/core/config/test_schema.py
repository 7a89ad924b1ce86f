"""The JSON Schemas that editors read are those of the models, and the bundled configs are valid by them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from docs.config_schema import FOLDER, models, schemas

ROOT = Path(__file__).parents[3]
BUNDLED = sorted((ROOT / "configs").rglob("*.yaml"))


def test_the_committed_schemas_are_those_of_the_models() -> None:
    committed = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.json")}
    assert committed == dict(schemas()), "run make schema"


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_a_bundled_config_names_its_schema_and_is_valid_by_it(path: Path) -> None:
    text = path.read_text("utf-8")
    found = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert found, "the first line names the schema"
    schema: dict[str, Any] = json.loads((path.parent / found[1]).read_text("utf-8"))
    values = yaml.safe_load(text)
    problems = [f"{'.'.join(map(str, e.path))}: {e.message}" for e in Draft202012Validator(schema).iter_errors(values)]
    assert problems == []


def keys_without_description(model: type[BaseModel]) -> list[str]:
    properties = [("", model.model_json_schema())]
    schema = model.model_json_schema()
    properties += list(schema.get("$defs", {}).items())
    return [
        f"{name}.{key}"
        for name, part in properties
        for key, value in part.get("properties", {}).items()
        if "description" not in value
    ]


def test_every_key_of_a_run_has_a_description() -> None:
    assert keys_without_description(models()["run"]) == []
