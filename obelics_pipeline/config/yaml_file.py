"""A YAML file of settings: read, laid over with `--set`, and held to its sections, with errors in one line."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from obelics_pipeline.errors import UserError

Settings = TypeVar("Settings", bound=BaseModel)


def load_settings(model: type[Settings], path: Path, overrides: Sequence[str], noun: str, example: str) -> Settings:
    """The settings of a file, with `key.sub=value` overrides over them. `noun` says what the file is: a recipe.

    Raises `UserError`, in one line, for a missing file, broken YAML, an unknown key or a value out of range; `example`
    is shown where an override has no value.
    """
    values = read_yaml(path, noun, tuple(model.model_fields))
    for override in overrides:
        lay_over(values, override, example)
    return validated(model, values, str(path), noun)


def validated(model: type[Settings], values: dict[str, Any], path: str, noun: str) -> Settings:
    """Values as the model has them. Raises `UserError`, in one line."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise UserError(one_line(error, model, path, noun)) from None


def read_yaml(path: Path, noun: str, keys: Sequence[str]) -> dict[str, Any]:
    """The mapping that a file holds; an empty file is an empty one. Raises UserError."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise UserError(f"{noun} {where}: not valid YAML: {getattr(error, 'problem', error)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{noun} {path}: cannot be read: {error}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"{noun} {path}: must be a mapping of sections ({', '.join(keys)})")
    return values


def lay_over(values: dict[str, Any], override: str, example: str) -> None:
    """Set one value, `key.sub=value`, whose text is YAML. Raises UserError."""
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise UserError(f"--set {override}: must be KEY=VALUE, e.g. --set {example}")
    *parents, last = key.strip().split(".")
    for name in parents:
        child = values.setdefault(name, {})
        if child is None:
            child = values[name] = {}
        if not isinstance(child, dict):
            raise UserError(f"--set {override}: {name} is not a section")
        values = child
    try:
        values[last] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UserError(f"--set {override}: the value is not valid YAML") from None


def one_line(error: ValidationError, model: type[BaseModel], path: str, noun: str) -> str:
    """The first problem, with its place, the valid values and the nearest key; and how many more there are."""
    problems = error.errors()
    first = problems[0]
    place = ".".join(str(p) for p in first["loc"])
    if first["type"] == "extra_forbidden":
        valid = _keys_at(model, first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), valid, n=1)
        message = f"unknown key {place}; valid keys here: {', '.join(valid)}"
        message += f"; did you mean {near[0]}?" if near else ""
    else:
        message = f"{place}: {first['msg'].removeprefix('Value error, ')}, got {first['input']!r}"[:400]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{noun} {path}: {message}{more}"


def _keys_at(root: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The valid keys of the section at a place of the settings."""
    model: Any = root
    for step in place:
        field = model.model_fields.get(str(step)) if isinstance(model, type) and issubclass(model, BaseModel) else None
        if field is None:  # inside a mapping of filters: the next model is the mapping's value type
            continue
        model = _model_of(field.annotation)
    return list(model.model_fields)


def _model_of(annotation: Any) -> Any:
    """The model that an annotation such as `dict[str, Threshold]` holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in reversed(getattr(annotation, "__args__", ())):
        found = _model_of(argument)
        if found is not None:
            return found
    return None
