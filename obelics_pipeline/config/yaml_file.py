"""A config of one of ours in a YAML file: found, read, overridden by `--set`, checked, each error in one line."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from obelics_pipeline.config.section import Section
from obelics_pipeline.errors import UserError

Whole = TypeVar("Whole", bound=Section)


def bundled_configs() -> Path:
    """The folder of the configs that come with the package: inside it where installed, else at the checkout's root."""
    installed = Path(__file__).parents[1] / "configs"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "configs"


def read_config(kind: type[Whole], path: str, overrides: Sequence[str] = (), bundled: Path | None = None) -> Whole:
    """Read a YAML file, or a bundled config by name, lay `key.sub=value` overrides over it, and check all of it.

    `bundled` is the folder of the bundled ones (default: `bundled_configs()`). Raises `UserError`, in one line, for a
    missing file, broken YAML, an unknown key or a value out of range.
    """
    values = read_values(find_config(path, bundled), list(kind.model_fields))
    for override in overrides:
        _lay_over(values, override)
    return checked(kind, values, path)


def checked(kind: type[Whole], values: dict[str, Any], origin: str) -> Whole:
    """The config that values come to. Raises `UserError`, in one line that names their origin."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise UserError(_one_line(error, origin, kind)) from None


def dump_config(config: Section) -> str:
    """The resolved config as YAML: what is written beside the output that it made."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)


def differences(old: dict[str, Any], config: Section) -> list[str]:
    """Which values of a config differ from older ones, each as `key: old -> new`."""
    before, now = _flat(old), _flat(config.model_dump(mode="json"))
    keys = [key for key in now if before.get(key) != now[key]] + [key for key in before if key not in now]
    return [f"{key}: {before.get(key)} -> {now.get(key)}" for key in keys]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        return {prefix: value}
    return {k: v for name, child in value.items() for k, v in _flat(child, f"{prefix}.{name}".lstrip(".")).items()}


def find_config(path: str, folder: Path | None = None) -> Path:
    """The file that a path, or the name of a bundled config of `folder`, means. Raises UserError."""
    given, folder = Path(path), folder or bundled_configs()
    if given.is_file():
        return given
    bundled = folder / f"{given.name.removesuffix('.yaml')}.yaml"
    if bundled.is_file() and (given.parent == Path() or given.parent.name == folder.name):
        return bundled
    names = ", ".join(sorted(p.stem for p in folder.glob("*.yaml")))
    raise UserError(f"config {path}: no such file; give a YAML file or the name of a bundled config ({names})")


def read_values(path: Path, sections: Sequence[str]) -> dict[str, Any]:
    """What a YAML file holds, unchecked. Raises `UserError` where it cannot be read or is no mapping."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise UserError(f"config {where}: not valid YAML: {getattr(error, 'problem', error)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"config {path}: cannot be read: {error}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"config {path}: must be a mapping of sections ({', '.join(sections)})")
    return values


def _lay_over(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise UserError(f"--set {override}: must be KEY=VALUE, such as section.key=8")
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


def _one_line(error: ValidationError, path: str, kind: type[Section]) -> str:
    """The first problem, with its place, the valid values and the nearest key; and how many more there are."""
    problems = error.errors()
    first = problems[0]
    place = ".".join(str(p) for p in first["loc"])
    if first["type"] == "extra_forbidden":
        valid = _keys_at(kind, first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), valid, n=1)
        message = f"unknown key {place}; valid keys here: {', '.join(valid)}"
        message += f"; did you mean {near[0]}?" if near else ""
    elif not place:  # a rule over sections says which keys it is about
        message = str(first["msg"]).removeprefix("Value error, ")
    else:
        message = f"{place}: {first['msg'].removeprefix('Value error, ')}, got {first['input']!r}"[:400]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"config {path}: {message}{more}"


def _keys_at(kind: type[Section], place: tuple[int | str, ...]) -> list[str]:
    """The valid keys of the section at a place of the config."""
    model: Any = kind
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
