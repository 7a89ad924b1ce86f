"""A few-shot task in a folder: `task.json`, `examples.jsonl` and the files of its images.

    task.json       {"name": "colours", "capabilities": ["colour"], "shots": [0, 4, 8], "templates": ["…{answer}", …]}
    examples.jsonl  {"id": "1", "image": "1.png", "question": "Which colour?", "choices": ["red", "blue"], "answer": 0}

`answer` is the place of the right choice; `image` may be null; an example with `"shot": true` is shown and not asked;
one may have `capabilities` of its own. Of a task of the registry task.json need only say the name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.experiments.evaluate.registry import CAPABILITIES, KNOWN, SHOTS

ABOUT, EXAMPLES = "task.json", "examples.jsonl"
LEAST_TEMPLATES = 3
ANSWER, QUESTION = "{answer}", "{question}"


class Example(Section):
    """One question, with what may be answered."""

    id: str
    image: str | None = None
    question: str = ""
    choices: Annotated[tuple[str, ...], Field(min_length=2)]
    answer: Annotated[int, Field(ge=0)]
    capabilities: tuple[str, ...] = ()
    shot: bool = False

    @model_validator(mode="after")
    def right_choice_is_there(self) -> Example:
        """The answer is one of the choices."""
        if self.answer >= len(self.choices):
            raise ValueError(f"answer is {self.answer}; there are choices 0 to {len(self.choices) - 1}")
        return self


class About(Section):
    """The content of task.json."""

    name: str
    capabilities: tuple[str, ...] = ()
    shots: tuple[Annotated[int, Field(ge=0)], ...] = ()
    templates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """A task that was read. `sha256` names all that it holds: two scores are of the same task if it is the same."""

    folder: Path
    about: About
    asked: tuple[Example, ...]
    shown: tuple[Example, ...]
    sha256: str

    def image(self, example: Example) -> bytes | None:
        """The bytes of an example's image. Raises UserError where the file is gone."""
        if example.image is None:
            return None
        try:
            return (self.folder / example.image).read_bytes()
        except OSError as error:
            raise UserError(f"{self.folder / example.image}: cannot be read ({error.strerror}); put it back") from None

    def shots(self, example: Example, n: int) -> list[Example]:
        """The `n` examples shown before one: drawn by their ids alone, the first of them the same for any `n`."""
        drawn = sorted(self.shown, key=lambda one: hashlib.sha256(f"{example.id}\0{one.id}".encode()).digest())
        return drawn[:n]

    def capabilities(self, example: Example) -> tuple[str, ...]:
        """What an example asks for."""
        return example.capabilities or self.about.capabilities


def read_task(folder: Path) -> Task:
    """A task from its folder. Raises UserError, in one line, for what is missing or wrong."""
    about = _about(folder)
    path = folder / EXAMPLES
    examples = []
    for number, line in enumerate(_read(path).decode("utf-8", "replace").splitlines(), 1):
        try:
            examples.append(Example.model_validate_json(line))
        except ValidationError as error:
            raise UserError(f"{path}: line {number}: {_format_error(error)}") from None
    _refuse(about, examples, folder)
    asked, shown = (tuple(e for e in examples if e.shot is shot) for shot in (False, True))
    task = Task(folder, about, asked, shown, "")
    digest = hashlib.sha256(about.model_dump_json().encode())
    for example in examples:
        digest.update(example.model_dump_json().encode())
    for example in examples:
        digest.update(task.image(example) or b"")
    return replace(task, sha256=digest.hexdigest())


def _about(folder: Path) -> About:
    path = folder / ABOUT
    try:
        about = About.model_validate_json(_read(path))
    except ValidationError as error:
        raise UserError(f"{path}: {_format_error(error)}") from None
    known = KNOWN.get(about.name)
    usual: dict[str, Any] = {"shots": known.shots if known else SHOTS}
    if known:
        usual |= {"capabilities": known.capabilities, "templates": known.templates}
    return about.model_copy(update={key: value for key, value in usual.items() if not getattr(about, key)})


def _refuse(about: About, examples: Sequence[Example], folder: Path) -> None:
    """Raise UserError for a task that cannot be asked."""
    path = folder / ABOUT
    if len(about.templates) < LEAST_TEMPLATES:
        raise UserError(
            f"{path}: {len(about.templates)} templates; give {LEAST_TEMPLATES} or more: scores differ by the wording"
        )
    for template in about.templates:
        if not template.endswith(ANSWER) or template.count(ANSWER) != 1:
            raise UserError(f"{path}: template {template!r} must end with {ANSWER}, and have it once")
    named = {*about.capabilities, *(c for example in examples for c in example.capabilities)}
    wrong = sorted(named - set(CAPABILITIES))
    if wrong or not about.capabilities:
        said = f"no capability {wrong[0]!r}" if wrong else "no capabilities"
        raise UserError(f"{path}: {said}; there are: {', '.join(CAPABILITIES)}")
    most, shown = max(about.shots), sum(example.shot for example in examples)
    if shown < most:
        raise UserError(f'{folder / EXAMPLES}: {shown} examples with "shot": true, and {most} shots are wanted')
    if shown == len(examples):
        raise UserError(f'{folder / EXAMPLES}: no example is asked; leave "shot" out of some')
    if len({example.id for example in examples}) < len(examples):
        raise UserError(f"{folder / EXAMPLES}: two examples have one id; give each its own")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); docs/evaluate.md shows a task") from None


def _format_error(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}"
