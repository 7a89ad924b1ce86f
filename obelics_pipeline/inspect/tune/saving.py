"""Writing a tuned config: the file that it came from, letter by letter, except the values that differ."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.yaml_file import checked, extended
from obelics_pipeline.core.config.yaml_text import BoundedLoader, NotYaml, load
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import create, write_bytes

_THERE = "is there already; choose another name, or replace it"
KeyPath = tuple[str, ...]  # the keys that lead to a value


def save(path: Path, source: str, config: RunConfig, original: RunConfig, replace: bool = False) -> None:
    """Write `source`, the YAML text of `original`, as one of `config`, if it reads back as that.

    No link is followed: one that is there is replaced itself, if anything is. Raises UserError where the file is there
    and not to be replaced, where it cannot be written, and where the text is written in a way that cannot be edited.
    """
    if not replace and os.path.lexists(path):
        raise UserError(f"{path}: {_THERE}")
    text = edited(source, changes(original.model_dump(mode="json"), config.model_dump(mode="json")))
    if _read(text, path) != config:
        raise UserError(f"{path}: the edited config would be read with other values; edit the file by hand")
    try:
        if replace:
            write_bytes(path, text.encode())
        elif not create(path, text.encode()):
            raise UserError(f"{path}: {_THERE}")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def _read(text: str, path: Path) -> RunConfig:
    try:
        return checked(RunConfig, extended(load(text) or {}, path), str(path))
    except NotYaml as error:
        raise UserError(f"{path}: the config would be no YAML ({error}); edit it by hand") from None


def changes(before: Any, now: Any, key_path: KeyPath = ()) -> dict[KeyPath, Any]:
    """The values of two trees of mappings that differ, by their keys; None for a value that was removed."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return {} if before == now else {key_path: now}
    found: dict[KeyPath, Any] = {}
    for key in [*now, *(key for key in before if key not in now)]:
        found |= changes(before.get(key), now.get(key), (*key_path, key))
    return found


def edited(text: str, values: dict[KeyPath, Any]) -> str:
    """A YAML text with other values for some keys. Raises UserError for a key that cannot be edited in it."""
    for key_path, value in values.items():
        text = _with(text, key_path, value)
    return text


def _with(text: str, key_path: KeyPath, value: Any) -> str:
    node = yaml.compose(text, BoundedLoader)
    if node is None:
        return f"{text}{_inline(_nested(key_path, value))[2:-2]}\n"
    for depth, key in enumerate(key_path):
        if not isinstance(node, yaml.MappingNode):
            return _replaced(text, node, _nested(key_path[depth:], value))
        found = next((v for k, v in node.value if k.value == key), None)
        if found is None:
            return _inserted(text, node, key, _nested(key_path[depth + 1 :], value))
        node = found
    return _replaced(text, node, value)


def _nested(key_path: Sequence[str], value: Any) -> Any:
    for key in reversed(key_path):
        value = {key: value}
    return value


def _replaced(text: str, node: yaml.Node, value: Any) -> str:
    """The text with another value instead of a node; an empty one stands right behind its colon."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        line = node.start_mark.line + 1
        raise UserError(f"the config's line {line} begins a block of several lines; edit it by hand")
    start, end = node.start_mark.index, node.end_mark.index
    space = " " if start == end else ""
    return f"{text[:start]}{space}{_inline(value)}{text[end:]}"


def _inserted(text: str, node: yaml.MappingNode, key: str, value: Any) -> str:
    """The text with a further key at the end of a mapping."""
    entry = f"{_inline(key)}: {_inline(value)}"
    if node.flow_style:
        if not node.value:
            return f"{text[: node.start_mark.index]}{{ {entry} }}{text[node.end_mark.index :]}"
        at = node.value[-1][1].end_mark.index
        return f"{text[:at]}, {entry}{text[at:]}"
    at = _end_of_line(text, _last(node).end_mark.index)
    return f"{text[:at]}\n{' ' * node.start_mark.column}{entry}{text[at:]}"


def _last(node: yaml.Node) -> yaml.Node:
    """The last node within a block that ends where its text does."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _inline(value: Any) -> str:
    """A value as YAML on one line. Keys of a mapping whose value equals None are left out: that means the same."""
    text = yaml.safe_dump(_plain(value), default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    text = text.removesuffix("\n").removesuffix("\n...")
    return f"{{ {text[1:-1]} }}" if text.startswith("{") and text != "{}" else text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(of_it) for key, of_it in value.items() if of_it not in (None, {})}
    return int(value) if isinstance(value, float) and value.is_integer() else value
