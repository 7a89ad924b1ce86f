"""YAML that somebody wrote, as plain values: within bounds, and with no key twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

# Far beyond every config: those that come with the package have up to 10 KB, 322 values and 7 levels.
MOST_BYTES = 2**20
MOST_VALUES = 50_000  # keys included; an alias counts as much as what it stands for
MOST_LEVELS = 50  # of lists and mappings within each other; an alias has those of what it stands for
MOST_DIGITS = 64  # characters of a whole number: one of 64 bits has up to 64 of them
INTEGERS = range(-(2**63), 2**63)  # what other readers of JSON and Parquet hold


class NotYaml(Exception):
    """What is wrong with a text, in a few words. `line` says where, counted from 1; None: with all of it."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def load(text: str | bytes) -> Any:
    """The values of a YAML text of one document; None of an empty one. Raises NotYaml."""
    if len(text) > MOST_BYTES:
        raise NotYaml(f"longer than {MOST_BYTES:,} bytes")
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        return BoundedLoader(decoded).get_single_data()
    except UnicodeDecodeError as error:
        raise NotYaml(f"not UTF-8 ({error.reason} at byte {error.start:,})") from None
    except yaml.reader.ReaderError as error:
        line = decoded.count("\n", 0, error.position) + 1
        raise NotYaml(f"the character U+{error.character:04X} is not allowed", line) from None
    except ValueError as error:  # of PyYAML's scanner, for "\\U00110000"
        raise NotYaml(str(error)) from None
    except yaml.MarkedYAMLError as error:
        parts = [part for part in (error.context, error.problem) if part]
        raise NotYaml(", ".join(parts)[:300], error.problem_mark.line + 1 if error.problem_mark else None) from None


class BoundedLoader(yaml.SafeLoader):
    """PyYAML's safe loader, with bounds on what a text can cost, and without keys that are there twice.

    It is the pure Python one: libyaml's goes down with the process where a text is nested too deep. Raises
    yaml.YAMLError, whatever the text is.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._level = self._values = 0
        self._sizes: dict[yaml.Node, tuple[int, int]] = {}  # values and levels of each node that is whole

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """As PyYAML's, within the bounds."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        is_alias, before = self.check_event(yaml.AliasEvent), self._values
        self._level += 1
        self._count(1, 1, mark)
        node = super().compose_node(parent, index)
        assert node is not None  # only a document is none
        if is_alias:
            self._values = before
            self._count(*self._size(node, mark), mark)
        else:
            levels = 1 + max((self._sizes[inner][1] for inner in _inner(node)), default=0)
            self._sizes[node] = self._values - before, levels
        self._level -= 1
        return node

    def _count(self, values: int, levels: int, mark: yaml.Mark) -> None:
        """Count a node of so many values and levels that begins at the level at hand."""
        self._values += values
        if self._values > MOST_VALUES:
            raise ComposerError(None, None, f"more than {MOST_VALUES:,} values, those of aliases counted", mark)
        if self._level - 1 + levels > MOST_LEVELS:
            raise ComposerError(None, None, f"more than {MOST_LEVELS} levels of lists and mappings", mark)

    def _size(self, node: yaml.Node, mark: yaml.Mark) -> tuple[int, int]:
        """The values and levels of what an alias stands for."""
        if node not in self._sizes:
            raise ComposerError(None, None, "an alias stands within what it names", mark)
        return self._sizes[node]

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """As PyYAML's, which of equal keys would take the last in silence."""
        node = super().compose_mapping_node(anchor)
        assert node is not None
        first: dict[tuple[str, str], int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            of_it = key.tag, key.value
            if of_it in first:
                raise ComposerError(
                    None, None, f"the key {key.value!r} is there twice, first in line {first[of_it]}", key.start_mark
                )
            first[of_it] = key.start_mark.line + 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """As PyYAML's, which lets Python's own errors pass where a value is not what its tag says."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError):
            what = f"{str(node.value)[:40]!r} is no {node.tag.rpartition(':')[2]}"
            raise ConstructorError(None, None, what, node.start_mark) from None

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """As PyYAML's, of a number that other readers hold as well."""
        if len(node.value) <= MOST_DIGITS + 2 and (found := super().construct_yaml_int(node)) in INTEGERS:
            return found
        raise ConstructorError(None, None, f"{node.value[:40]!r} is no whole number of 64 bits", node.start_mark)

    def construct_yaml_str(self, node: yaml.ScalarNode) -> str:
        """As PyYAML's, of a text that can be written: "\\ud800" is half of a character."""
        found: str = super().construct_yaml_str(node)
        found.encode()  # raises a ValueError
        return found


BoundedLoader.add_constructor("tag:yaml.org,2002:str", BoundedLoader.construct_yaml_str)
BoundedLoader.add_constructor("tag:yaml.org,2002:int", BoundedLoader.construct_yaml_int)


def _inner(node: yaml.Node) -> Iterator[yaml.Node]:
    """The nodes directly within a node."""
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value
