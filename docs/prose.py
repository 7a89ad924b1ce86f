"""The prose check: `make prose`. Phrases that a stranger must read twice, and sentences that are too long.

It reads the Markdown pages, and the docstrings and messages of the code.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "SECURITY.md", "docs/**/*.md")
CODE = ("obelics_pipeline", "filters", "models", "beam_jobs")
MOST_WORDS = 40  # of a sentence. Guides of plain English advise 15 to 20 on average (gov.uk: 25 at most)

# Each phrase, and what to write in its place.
PHRASES = {
    r"\bis none\b(?! of)": "say what it is, or that it is missing",
    r"\bwhat is none\b": "name the thing that is skipped",
    r"\bpassed over\b": "skipped",
    r"\b(taken?|takes|took|taking) back\b": "remove",
    r"\brehears\w*": "dry run",
    r"\bwhat became of\b|\bwhat becomes of\b|\bcame of\b|\bcomes of it\b": "the outcome, the result",
    r"\b(is|are) asked of\b": "say who sends which request, or what is measured",
    r"\bto be told\b": "say who calls it with what",
    r"\bsays? nothing of\b": "does not mention, or has no entry for",
    r"\bhow manieth\b": "the index, or the position",
    r"\bof which there (is|are)\b": "start a new sentence",
    r"(?:(?<=[.;:] )|\A)who(ever)? (?=[^?.]*\.)": "a noun: 'a person who', 'a site that'",
    r"\bwhoever\b": "a noun: 'a person who', 'the process that'",
    r"\bis had\b|\bto be had\b": "available",
    r"\bnor are\b|\bnor is\b|\bneither does\b": "start a new sentence with the subject",
    r"\bbut for\b": "except",
    r"\bso that none\b": "so that no NOUN",
    r"\bas it (comes|stands|lies)\b": "say what happens to it: 'unchanged', 'as written'",
    r"\bis told\b|\bare told\b|\btold of\b": "reported, printed or shown",
    r"\bnobody's\b|\bsomebody else's\b": "name the owner",
    r"\bthat very\b|\bthe very\b": "the same",
    r"\banew\b": "again",
    r"\bhence\b|\bthereof\b|\bwherein\b|\bthereby\b|\bupon\b": "a plain word: so, of it, in which, on",
    r"\butili[sz]e": "use",
    r"\bin order to\b": "to",
    r"\bleverag(e|es|ed|ing)\b": "use",
    r"\b(simply|obviously|of course)\b": "leave it out",
}
MESSAGES = {"UserError", "Stopped"}  # their text is what a person reads


class Finding(NamedTuple):
    """A place that breaks a rule: file below the repository, line from 1, rule, what is there, what to do."""

    path: str
    line: int
    rule: str
    found: str
    advice: str


def findings() -> Iterator[Finding]:
    """Everything that breaks a rule, in the order of files and lines."""
    for path in sorted({path for pattern in PAGES for path in ROOT.glob(pattern)}):
        yield from check(str(path.relative_to(ROOT)), page_prose(path.read_text("utf-8")))
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT)
            if not any((ROOT / parent).is_symlink() for parent in inside.parents):  # each file once
                yield from check(str(inside), code_prose(path.read_text("utf-8")))


def check(path: str, prose: Iterator[tuple[int, str]]) -> Iterator[Finding]:
    """What breaks a rule in texts of a file, each given with its first line."""
    for line, written in prose:
        text = re.sub(r"``?[^`\n]+``?", lambda m: "CODE".ljust(len(m[0])), written)  # code is no prose: one word
        for phrase, advice in PHRASES.items():
            for found in re.finditer(phrase, text, re.IGNORECASE):
                at = line + text.count("\n", 0, found.start())
                yield Finding(path, at, f"phrase {phrase}", found[0], advice)
        for at, sentence in sentences(text):
            words = len(sentence.split())
            if words > MOST_WORDS:
                start = " ".join(sentence.split()[:8])
                yield Finding(path, line + at, "long", f"{words} words: {start} …", f"split it: at most {MOST_WORDS}")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences of a text, each with the number of lines before it."""
    start = 0
    for end in re.finditer(r"(?<=[.!?:;])[)\"”']?\s+|\n\s*\n", text):
        yield text.count("\n", 0, start + leading(text[start:])), text[start : end.start() + 1]
        start = end.end()
    yield text.count("\n", 0, start), text[start:]


def leading(text: str) -> int:
    """How many characters of white space a text begins with."""
    return len(text) - len(text.lstrip())


def page_prose(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs and list items of a Markdown page, each with its first line; no code, no tables, no link targets."""
    fenced = False
    block: list[str] = []
    first = 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        ends = fenced or not line.strip() or line.startswith(("    ", "|", "#", "!", "```", "\t"))
        begins = re.match(r"\s*([-*]|\d+\.) ", line) is not None
        if (ends or begins) and block:
            yield first, "\n".join(block)
            block = []
        if not ends:
            first = first if block else number
            block.append(re.sub(r"\]\([^)]*\)", "]", line))


def code_prose(source: str) -> Iterator[tuple[int, str]]:
    """Docstrings, and the messages of errors that a person reads, each with its first line."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first.lineno, first.value.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MESSAGES and node.args:
            yield node.lineno, message_text(node.args[0])


def message_text(node: ast.expr) -> str:
    """The words of a message; what is put into it counts as one word."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(part.value if isinstance(part, ast.Constant) else "VALUE" for part in values)
        case ast.BinOp(left=left, right=right):
            return message_text(left) + message_text(right)
    return ""


def main() -> int:
    """Print what breaks a rule; exit code 1 if anything does."""
    found = list(findings())
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.found!r}. {finding.advice}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
