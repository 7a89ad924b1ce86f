"""A config of one of ours in a YAML file: found, read, overridden by `--set`, checked, each error in one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.config.yaml_text import MOST_BYTES, NotYaml, load
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.core.redacted import OPTIONS, redacted

Whole = TypeVar("Whole", bound=Section)
EXTENDS = "extends"  # the key of a file that names the config under it


def bundled_configs() -> Path:
    """The folder of the configs that come with the package."""
    return Path(__file__).parents[2] / "configs"


def read_config(kind: type[Whole], path: str, overrides: Sequence[str] = (), bundled: Path | None = None) -> Whole:
    """Read a YAML file, or a bundled config by name, lay `key.sub=value` overrides over it, and check all of it.

    `bundled` is the folder of the bundled ones (default: `bundled_configs()`). Raises `UserError`, in one line, for a
    missing file, broken YAML, an unknown key or a value out of range.
    """
    values = read_values(find_config(path, bundled), list(kind.model_fields), bundled)
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
    """The resolved config as YAML, without secrets: what is written beside the output that it made."""
    return yaml.safe_dump(
        redacted(without_source(config.model_dump(mode="json"))), sort_keys=False, allow_unicode=True, width=120
    )


def differences(old: dict[str, Any], config: Section) -> list[str]:
    """Which values of a config differ from older ones, each as `key: old -> new`; secrets are not compared.

    A key that an earlier version did not have counts as its default.
    """
    dumped = (type(config)().model_dump(mode="json"), old, config.model_dump(mode="json"))
    usual, before, now = (_flat(redacted(without_source(values))) for values in dumped)
    keys = [key for key in now if before.get(key, usual.get(key)) != now[key]]
    keys += [key for key in before if key not in now]
    shown = [
        key for key in keys if before.get(key) or now.get(key)
    ] or keys  # an empty value beside others says nothing
    return [f"{key}: {before.get(key)} -> {now.get(key)}" for key in shown]


def without_source(value: Any) -> Any:
    """The values of a config less the source of a user's own filters, which travels to workers and has a sha256."""
    if not isinstance(value, dict):
        return value
    left_out = {"source"} if {"name", "sha256", "source"} == value.keys() else set()
    return {key: without_source(child) for key, child in value.items() if key not in left_out}


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        return {prefix: value}
    return {k: v for name, child in value.items() for k, v in _flat(child, f"{prefix}.{name}".lstrip(".")).items()}


def find_config(path: str, folder: Path | None = None) -> Path:
    """The file that a path, or the name of a bundled config of `folder`, means. Raises UserError."""
    given, folder = Path(path), folder or bundled_configs()
    try:
        if given.is_file():
            return given
        is_folder = given.is_dir()
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise UserError(f"config {path[:200]}: cannot be read: {error.strerror}") from None
    bundled = folder / f"{given.name.removesuffix('.yaml')}.yaml"
    if bundled.is_file() and (given.parent == Path() or given.parent.name == folder.name):
        return bundled
    names = ", ".join(sorted(p.stem for p in folder.glob("*.yaml")))
    what = "is a folder" if is_folder else "no such file"
    raise UserError(f"config {path}: {what}; give a YAML file or the name of a bundled config ({names})")


def read_values(path: Path, sections: Sequence[str], bundled: Path | None = None) -> dict[str, Any]:
    """What a YAML file holds, unchecked, over the config that it extends.

    Raises `UserError` where a file cannot be read or is no mapping.
    """
    return extended(_values_of(path, sections), path, sections, bundled)


def extended(
    values: dict[str, Any], path: Path, sections: Sequence[str] = (), bundled: Path | None = None
) -> dict[str, Any]:
    """Values of the file `path`, laid over those of the config that its key `extends` names, if it has one.

    Raises `UserError` where there is no such config, or it extends one itself.
    """
    if EXTENDS not in values:
        return values
    base = _values_of(find_config(str(values[EXTENDS]), bundled), sections)
    if EXTENDS in base:
        raise UserError(f"config {path}: {EXTENDS}: {values[EXTENDS]} extends a config itself; name {base[EXTENDS]}")
    whole: dict[str, Any] = _joined(base, {key: value for key, value in values.items() if key != EXTENDS})
    return whole


def _values_of(path: Path, sections: Sequence[str]) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            values = load(file.read(MOST_BYTES + 1))
    except NotYaml as error:
        where = f"{path}:{error.line}" if error.line else str(path)
        raise UserError(f"config {where}: not valid YAML: {error}") from None
    except OSError as error:
        raise UserError(f"config {path}: cannot be read: {error.strerror}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"config {path}: must be a mapping of sections ({', '.join(sections)})")
    return values


def _joined(base: Any, values: Any) -> Any:
    """Mappings are joined, key by key; any other value takes the place of the one below it."""
    if not (isinstance(base, dict) and isinstance(values, dict)):
        return values
    return base | {key: _joined(base.get(key), value) for key, value in values.items()}


def _lay_over(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    shown = " ".join(override[:200].split())
    if not equals or not key.strip():
        raise UserError(f"--set {shown}: must be KEY=VALUE, such as section.key=8")
    *parents, last = key.strip().split(".")
    for name in parents:
        child = values.setdefault(name, {})
        if child is None:
            child = values[name] = {}
        if not isinstance(child, dict):
            raise UserError(f"--set {shown}: {name} is not a section")
        values = child
    try:
        values[last] = load(text)
    except NotYaml as error:
        raise UserError(f"--set {shown}: the value is not valid YAML: {error}") from None


def _one_line(error: ValidationError, path: str, kind: type[Section]) -> str:
    """The first problem, with its place, the valid values and the nearest key; and how many more there are."""
    problems = error.errors()
    first = problems[0]
    place = ".".join(str(p) for p in first["loc"])[:200]
    if first["type"] == "extra_forbidden":
        valid = _keys_at(kind, first["loc"][:-1])
        near = did_you_mean(str(first["loc"][-1]), valid)
        message = f"unknown key {place}{near}; valid keys here: {', '.join(valid)}"
    elif not place:  # a rule over sections says which keys it is about
        message = str(first["msg"]).removeprefix("Value error, ")
    else:
        given = f", got {first['input']!r}" if OPTIONS not in first["loc"] else ""  # it may be a secret
        message = f"{place}: {first['msg'].removeprefix('Value error, ')}{given}"[:400]
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
