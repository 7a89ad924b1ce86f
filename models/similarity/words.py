"""A text as rows of tokens: as open_clip's tokenizers write it, but with the end of a text where that is nearer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.similarity.architecture import Architecture

Row = tuple[int, ...]  # token ids, as many as the model has positions for text

# Of a text, no more than so many characters for each token are read. Tokens of ordinary text have 2 to 6, and
# open_clip's tokenizer takes time in the square of a word's length.
CHARACTERS_PER_TOKEN = 10
REMEMBERED = 1 << 17  # words whose tokens open_clip's tokenizer may keep; it would keep every word of the web


@dataclass(frozen=True)
class Words:
    """`encode` gives the ids of a text, marks left out; `before` and `behind` are the ids around them in a row.

    A row has `length` ids, filled up with `padding` at the `padded` end.
    """

    encode: Callable[[str], Sequence[int]]
    before: Row
    behind: Row
    padding: int
    length: int
    padded: Literal["left", "right"] = "right"

    def first(self, text: str) -> Row | None:
        """The row of a text's first tokens; None where it has none."""
        return self._row(self.encode(_decent(text.lstrip()[: self._characters]))[: self._room])

    def last(self, text: str) -> Row | None:
        """The row of a text's last tokens; None where it has none."""
        return self._row(self.encode(_decent(text.rstrip()[-self._characters :]))[-self._room :])

    @property
    def _room(self) -> int:
        return self.length - len(self.before) - len(self.behind)

    @property
    def _characters(self) -> int:
        return CHARACTERS_PER_TOKEN * self.length

    def _row(self, ids: Sequence[int]) -> Row | None:
        if not ids:
            return None
        row = (*self.before, *ids, *self.behind)
        empty = (self.padding,) * (self.length - len(row))
        return empty + row if self.padded == "left" else row + empty


def _decent(text: str) -> str:
    """A lone surrogate, which tokenizers refuse, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def words(of: Architecture) -> Words:
    """The tokenizer that an architecture names: CLIP's own, or one of transformers.

    One of transformers is a folder beside the architecture's file, or comes from huggingface.co or its cache.
    Raises `UserError` if it is unavailable, or the architecture asks for what is not offered here.
    """
    about = of.config.get("text_cfg", {})
    length, options = int(about.get("context_length", 77)), dict(about.get("tokenizer_kwargs") or {})
    unknown = sorted(options.keys() - {"clean", "strip_sep_token"})
    if unknown or about.get("tokenizer_mode"):  # others read files, download, or run code
        what = f"tokenizer_kwargs.{unknown[0]}" if unknown else "tokenizer_mode"
        raise UserError(f"similarity: model: text_cfg.{what} cannot be served; clean and strip_sep_token can")
    name = about.get("hf_tokenizer_name")
    try:
        found = _of_transformers(_beside(of.folder, name), length, options) if name else _of_clip(length, options)
    except Exception as error:  # many kinds: of HTTP, of the hub, of the disk, of the options
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"similarity: tokenizer {name or 'of CLIP'} cannot be had: {reason}") from None
    if found._room < 1:
        raise UserError(f"similarity: model: text_cfg.context_length {length} leaves no room for text; 3 or more will")
    return found


def _beside(folder: Path | None, name: str) -> str:
    inside = folder and folder / name
    return str(inside) if inside and inside.is_dir() else name


def _of_clip(length: int, options: Mapping[str, Any]) -> Words:
    from open_clip.tokenizer import SimpleTokenizer

    tokenizer = SimpleTokenizer(clean=options.get("clean", "lower"))
    begin, end = tokenizer.all_special_ids
    return Words(_ClipIds(tokenizer), (begin,), (end,), 0, length)


class _ClipIds:
    """The ids of a text by CLIP's tokenizer, from any number of threads."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer, self._marks, self._lock = tokenizer, dict(tokenizer.cache), Lock()

    def __call__(self, text: str) -> list[int]:
        """What a page writes that is a mark to the tokenizer, in any spelling or as entities, is no token of a text."""
        with self._lock:  # the tokenizer looks whether a word is there, then takes it
            if len(self._tokenizer.cache) > REMEMBERED:
                self._tokenizer.cache = dict(self._marks)
            return [i for i in self._tokenizer.encode(text) if i not in self._tokenizer.all_special_ids]


def _of_transformers(name: str, length: int, options: Mapping[str, Any]) -> Words:
    from open_clip.tokenizer import HFTokenizer

    wrapped = HFTokenizer(name, context_length=length, **options)
    tokenizer = wrapped.tokenizer
    probe = tokenizer("a", return_special_tokens_mask=True)
    ids, special = probe["input_ids"], probe["special_tokens_mask"]
    if wrapped.strip_sep_token:  # open_clip writes zeros there
        ids = [0 if i == tokenizer.sep_token_id else i for i in ids]
    first, behind = special.index(0), len(ids) - special[::-1].index(0)
    padding = tokenizer.pad_token_id
    if wrapped.strip_sep_token and padding == tokenizer.sep_token_id:
        padding = 0
    return Words(
        partial(_transformers_ids, wrapped),
        tuple(ids[:first]),
        tuple(ids[behind:]),
        padding,
        length,
        tokenizer.padding_side,
    )


def _transformers_ids(wrapped: Any, text: str) -> list[int]:
    ids = wrapped.tokenizer(wrapped.clean_fn(text), add_special_tokens=False, verbose=False)["input_ids"]
    unknown = wrapped.tokenizer.unk_token_id  # a mark to transformers, yet what an unknown word is written as
    marks = set(wrapped.tokenizer.all_special_ids) - {unknown}
    return [i for i in ids if i not in marks]
