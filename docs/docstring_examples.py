"""Shows the examples of docstrings as code in the Python reference. mkdocstrings calls it (mkdocs.yml, extensions)."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)  # to the next blank line, as doctest reads it


class DocstringExamples(griffe.Extension):
    """Puts the examples of every docstring into code fences; Markdown would show `>>>` as a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called once for each module, class and function."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    """A docstring whose examples are fenced blocks of Python."""
    return EXAMPLE.sub(lambda found: f"```python\n{found[0]}\n```", docstring)
