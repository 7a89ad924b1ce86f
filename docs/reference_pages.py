"""The generated pages of the site: commands, config keys and decisions. mkdocs calls `on_files` (mkdocs.yml, hooks).

The pages exist in the built site only, so they cannot differ from the code.
"""

from __future__ import annotations

import argparse
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

ROOT = Path(__file__).resolve().parent.parent


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of docs/. Called by mkdocs once for each build."""
    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> Iterator[tuple[str, str]]:
    """Path below docs/ and Markdown of each generated page."""
    from obelics_pipeline.core.config.run import RunConfig
    from obelics_pipeline.training.experiments.ablate.experiment import Experiment
    from obelics_pipeline.training.plan.recipe import Recipe
    from obelics_pipeline.training.train.config import TrainConfig

    yield "reference/commands.md", commands_page()
    yield "reference/python.md", python_page()
    yield "reference/config.md", config_page("Config of a run", "obelics run", "default.yaml", RunConfig)
    yield "reference/plan-config.md", config_page("Recipe of a plan", "obelics plan", "training/plan.yaml", Recipe)
    yield (
        "reference/training-config.md",
        config_page("Config of a training", "obelics train", "training/flamingo.yaml", TrainConfig),
    )
    yield (
        "reference/ablation-config.md",
        config_page("Config of an ablation", "obelics ablate", "training/ablate-filters.yaml", Experiment),
    )


FURTHER = (  # modules that pages and examples import beside the public API
    "obelics_pipeline.core.document",
    "obelics_pipeline.core.folder.RunFolder",
    "obelics_pipeline.core.config.run.RunConfig",
    "obelics_pipeline.filters.registry",
    "obelics_pipeline.filters.text.Text",
    "obelics_pipeline.inspect.run_tables.documents",
    "obelics_pipeline.training.plan.plan_file",
)


def python_page() -> str:
    """The public API and further modules, from their docstrings (mkdocstrings)."""
    import obelics_pipeline

    modules = {name: f"obelics_pipeline.{module}.{name}" for name, module in obelics_pipeline._MODULES.items()}
    public = [
        f"::: {modules[name]}\n    options: {{ show_root_full_path: false, heading_level: 3 }}"
        for name in obelics_pipeline.__all__
        if name in modules and modules[name].rpartition(".")[0] not in FURTHER
    ]
    return "\n\n".join(
        [
            "# Python",
            "Generated from docstrings. [In Python](../api.md) shows how the parts fit together.",
            "## Public API",
            "All of these are imported from `obelics_pipeline`, and `filters` and `Document` below.",
            *public,
            "## Further modules",
            "These may change in any release.",
            *(f"::: {name}\n    options: {{ heading_level: 3 }}" for name in FURTHER),
            "",
        ]
    )


def commands_page() -> str:
    """Every command with its purpose, usage and options, from the parser of the command line."""
    from obelics_pipeline.cli.main import make_parser

    lines = [
        "# Commands",
        "",
        "Generated from the command line's parser. `obelics COMMAND --help` prints the same.",
        "",
    ]
    lines += [
        "Exit codes: 0 done; 1 done, but some units failed; 2 wrong command or config; 3 stopped: run it again.",
        "",
    ]
    for name, parser in _commands(make_parser()):
        lines += [f"## {name}", "", cell(parser.description or ""), "", "```text", _usage(parser), "```", ""]
        rows = [row for action in parser._actions if (row := _option(action))]
        if rows:
            lines += ["| argument | default | meaning |", "|---|---|---|", *rows, ""]
    return stacked("\n".join(lines))


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Name and parser of each command that can be called, those within `obelics fit` too."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in dict.fromkeys(action.choices.values()):
                nested = list(_commands(child))
                yield from nested or [(child.prog, child)]


def _usage(parser: argparse.ArgumentParser) -> str:
    return parser.format_usage().removeprefix("usage: ").strip()


DEFAULT = re.compile(r"(?:;? \(default:? |; default:? )([^()]*(?:\([^()]*\))?[^()]*)\)")  # has a column of its own


def _option(action: argparse.Action) -> str:
    """The table row of one argument; empty for --help and for hidden ones."""
    if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
        return ""
    names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    if action.option_strings and action.metavar and not action.choices:
        names += f" {action.metavar if isinstance(action.metavar, str) else ' '.join(action.metavar)}"
    default = action.default
    shown = "" if default in (None, False, argparse.SUPPRESS) or default == [] else f"`{plain(default)}`"
    help_text = (action.help or "").replace("%(default)s", str(default)).replace("%%", "%")
    said = DEFAULT.search(help_text)
    if said:
        shown, help_text = shown or cell(said[1]), DEFAULT.sub("", help_text)
    if action.choices:
        help_text += f"; one of {', '.join(str(choice) for choice in action.choices)}"
    return f"| `{names}` | {shown} | {cell(help_text.removeprefix('; '))} |"


def config_page(title: str, command: str, bundled: str, model: type[BaseModel]) -> str:
    """Every key of a config with type, default and description, from the pydantic model."""
    comments = bundled_comments(ROOT / "configs" / bundled)
    lines = [f"# {title}", "", f"Generated from the models that `{command}` checks a file with. "]
    lines += [
        f"`configs/{bundled}` is a bundled one. A key is written with its sections: `--set section.key=value`. A file "
        "with `extends: NAME` at its top is laid over that config: mappings are joined, other values replaced.",
        "",
    ]
    lines += _section("", model, comments, seen=(), shown={})
    return stacked("\n".join(lines))


def stacked(page: str) -> str:
    """A page whose tables become a list on a narrow screen (docs/stylesheets/site.css); its title stays outside."""
    title, rest = page.split("\n", 1)
    return f'{title}\n\n<div class="stacked" markdown>\n{rest}\n</div>\n'


def _section(
    path: str, model: type[BaseModel], comments: dict[str, str], seen: tuple[type, ...], shown: dict[type, str]
) -> list[str]:
    """The table of one section, then those of its own sections. `shown` has the first path of each model.

    A deep section whose keys the page has already is left out, and its first place is named.
    """
    lines = [f"## {path or 'At the top'}", ""]
    if model in shown and path.count(".") > 2:
        first = shown[model]
        return [*lines, f"The keys of [`{first}`](#{anchor(first)}).", ""]
    shown.setdefault(model, path)
    doc = cell(re.sub(r"\s+", " ", (model.__doc__ or "").strip()))
    lines += [doc, "", "| key | type | default | meaning |", "|---|---|---|---|"]
    below: list[str] = []
    for name, field in model.model_fields.items():
        key = f"{path}.{name}" if path else name
        described = field.description or comments.get(name, "") or section_doc(field)
        lines.append(f"| `{key}` | `{type_name(field.annotation)}` | {default_of(field)} | {cell(described)} |")
        for inner, suffix in models_in(field.annotation):
            if inner not in (*seen, model):
                below += _section(key + suffix, inner, comments, (*seen, model), shown)
    return [*lines, "", *below]


def anchor(heading: str) -> str:
    """The anchor that Markdown gives a heading of one word."""
    return re.sub(r"[^\w-]", "", heading).lower()


def models_in(annotation: Any, suffix: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Sections within a type; the suffix says where they stand in a mapping (`.NAME`) or a list (`[]`)."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, suffix
        return
    origin = typing.get_origin(annotation)
    more = ".NAME" if origin is dict else "[]" if origin in (list, tuple) else ""
    for part in typing.get_args(annotation):
        yield from models_in(part, suffix + more)


def section_doc(field: FieldInfo) -> str:
    """The first sentence of the docstring of a section, for a field that has no description of its own."""
    for model, _ in models_in(field.annotation):
        return (model.__doc__ or "").strip().split("\n")[0]
    return ""


def type_name(annotation: Any) -> str:
    """A type as a reader of YAML thinks of it: `number`, `one of …`, `list of text`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_name(arguments[0])
    if origin is typing.Literal:
        return " or ".join(str(argument) for argument in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(type_name(argument) for argument in arguments))
    if origin in (list, tuple, set, frozenset):
        inner = " or ".join(dict.fromkeys(type_name(argument) for argument in arguments if argument is not Ellipsis))
        return f"list of {inner}"
    if origin is dict:
        return f"mapping of {type_name(arguments[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null", Path: "path"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def default_of(field: FieldInfo) -> str:
    """The default of a key as YAML has it; `required` where there is none."""
    value = field.get_default(call_default_factory=True) if not field.is_required() else PydanticUndefined
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, BaseModel):
        return ""
    return f"`{plain(value)}`"


def plain(value: Any) -> str:
    """A value in one line of YAML, without the marks of Python."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple | set | frozenset):
        shown = [plain(item) for item in value]
        return f"[{', '.join(shown[:8])}{', …' if len(shown) > 8 else ''}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {plain(item)}" for key, item in value.items()) + "}"
    return cell(str(value).replace(str(Path.home()), "~")) or '""'


def bundled_comments(path: Path) -> dict[str, str]:
    """The comments of a bundled YAML by key: the words for keys whose model has none."""
    found = re.findall(r"^ *(\w+):[^#\n]*# (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {key: comment[:1].upper() + comment[1:] for key, comment in found}


def cell(text: str) -> str:
    """A text that stands in a table cell or a paragraph as it is: no markup of HTML, no cell borders, one line."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;").strip()
