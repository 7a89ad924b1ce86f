"""A document of a shard as the trainer reads it: token ids, which of them are predicted, which image each looks at.

The form is that of `models.flamingo.layout`, with the language model's end token behind it. Plan and trainer lay out by
this module alone: what was counted is what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.models.flamingo.layout import END_OF_CHUNK, IMAGE, Given, Marks, Piece, lay_out

PAD = "<PAD>"  # open_flamingo's own; the order of the three is its too, so that its checkpoints have the same ids
MARKS = (END_OF_CHUNK, IMAGE, PAD)

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a language model, and those that a Flamingo adds.

    `encode` gives a text's tokens, no mark among them. `words` is how many the language model has embeddings for; the
    `added` ones have the ids behind these, in order. `literals` are what a tokenizer would take for marks if a page
    wrote them.
    """

    encode: Callable[[str], Sequence[int]]
    begin: int
    image: int
    end_of_chunk: int
    end: int
    pad: int
    literals: tuple[str, ...]
    words: int
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentTokens:
    """A laid out document of n tokens.

    `ids` int64 (n); `targets` bool (n), the tokens that are to be predicted: text, the end of a chunk, the end of the
    document, never the first token; `image_of` int32 (n), the number of the last `<image>` mark at or before a token,
    -1 before the first; `n_bytes` of the text in UTF-8.
    """

    ids: Ids
    targets: Flags
    image_of: Numbers
    n_images: int
    n_bytes: int


class SpanOfDocument(Protocol):
    """Tokens of a document that stand together in a row; see `span_tokens`."""

    @property
    def token_start(self) -> int:
        """The first token."""

    @property
    def token_stop(self) -> int:
        """Behind the last token."""

    @property
    def image_start(self) -> int:
        """The number of its first image; of the carried one where `carried`."""

    @property
    def image_stop(self) -> int:
        """Behind its last image."""

    @property
    def carried(self) -> bool:
        """Whether its first tokens look at an image whose mark is in the span before."""


def open_vocabulary(folder: Path) -> Vocabulary:
    """The vocabulary of a language model in a folder as transformers saves it.

    Marks that the tokenizer lacks, or that the language model has no embedding for, get ids behind the model's words.
    Raises `UserError` where there is no tokenizer, or it has no token to end a document with.
    """
    mend_torchvision()
    from transformers import AutoConfig, AutoTokenizer

    if not folder.is_dir():
        raise UserError(f"language model: {folder} is no folder; give one as transformers' save_pretrained writes it")
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # of many kinds: a missing file, JSON, another version
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"language model: {folder} holds no tokenizer and config that can be read: {reason}") from None
    words = config.get_text_config().vocab_size
    end = tokenizer.eos_token_id
    if end is None or end >= words:
        raise UserError(f"language model: {folder}: the tokenizer has no end token; set eos_token in its config")
    begin = tokenizer.bos_token_id
    known = {token: i for token, i in tokenizer.get_vocab().items() if i < words}
    pad = tokenizer.pad_token if tokenizer.pad_token in known and tokenizer.pad_token_id != end else PAD
    marks = (END_OF_CHUNK, IMAGE, pad)
    added = tuple(mark for mark in marks if mark not in known)
    ids = {mark: known.get(mark, words + added.index(mark) if mark in added else -1) for mark in marks}
    special = {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab(), *marks}
    begin = end if begin is None or begin >= words else begin
    return Vocabulary(
        encode=partial(_encode, tokenizer, words, frozenset({begin, end, *ids.values()})),
        begin=begin,
        image=ids[IMAGE],
        end_of_chunk=ids[END_OF_CHUNK],
        end=end,
        pad=ids[pad],
        literals=tuple(sorted(special)),
        words=words,
        added=added,
    )


def _encode(tokenizer: Any, words: int, shunned: frozenset[int], text: str) -> Sequence[int]:
    """Tokens of a text, without those that stand for something else or that the language model does not know."""
    ids: Sequence[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return [i for i in ids if i < words and i not in shunned]


def document_tokens(record: Mapping[str, Any], vocabulary: Vocabulary) -> DocumentTokens:
    """Lay out the JSON of a shard's record. An image without a file is left out, as if it had never been there.

    Its optional key `given` has a value for each text: true for one that is read and not learned (a question, in data
    for instruction tuning). Such a text is no target; all else of the data set is as of any other.
    """
    marks = Marks(vocabulary.begin, vocabulary.image, vocabulary.end_of_chunk)
    layout = lay_out(_pieces(record), vocabulary.encode, marks, vocabulary.literals)
    ids = np.append(layout.ids, vocabulary.end)
    targets = np.append(layout.scored | (layout.ids == vocabulary.end_of_chunk), True)
    image_of = np.cumsum(ids == vocabulary.image, dtype=np.int32) - np.int32(1)
    return DocumentTokens(ids, targets, image_of, len(layout.images), layout.n_bytes)


def _pieces(record: Mapping[str, Any]) -> list[Piece]:
    """Texts and the numbers of images, in page order; texts between which no image is left are joined.

    Texts that are `given` in the record, and the others, are not.
    """
    out: list[Piece] = []
    paragraphs: list[str] = []
    n_images = 0
    given = record.get("given") or [False] * len(record["texts"])
    for text, name, asked in zip(record["texts"], _files(record), given, strict=True):
        if text is not None:
            if paragraphs and isinstance(paragraphs[-1], Given) != bool(asked):
                out += _joined(paragraphs)
                paragraphs = []
            paragraphs.append(Given(text) if asked else text)
        elif name is not None:
            out += [*_joined(paragraphs), n_images]
            paragraphs = []
            n_images += 1
    return [*out, *_joined(paragraphs)]


def _joined(paragraphs: Sequence[str]) -> list[Piece]:
    """Of one kind; as one piece."""
    whole = PARAGRAPH_SEPARATOR.join(paragraphs)
    return [Given(whole) if isinstance(paragraphs[0], Given) else whole] if paragraphs else []


def _files(record: Mapping[str, Any]) -> Sequence[str | None]:
    """One entry for each text or image; a shard that was written without images has no files."""
    files: Sequence[str | None] = record.get("files") or [None] * len(record["texts"])
    return files


def span_tokens(tokens: DocumentTokens, span: SpanOfDocument, vocabulary: Vocabulary) -> tuple[Ids, Flags, Numbers]:
    """Ids, targets, and the image of each token counted within the span (-1: none), with the token that leads it.

    The first span of a document begins with the document's own first token. Any other is led by one that is no target:
    `<image>` where the image before it is carried, else the token that begins a document. So every target of a
    document is a target in just one of the spans that it is cut into, with something to be predicted from.
    """
    cut = slice(span.token_start, span.token_stop)
    ids, targets = tokens.ids[cut], tokens.targets[cut]
    seen = tokens.image_of[cut]
    image_of = np.where((seen >= span.image_start) & (seen < span.image_stop), seen - span.image_start, -1)
    if span.token_start:
        lead = vocabulary.image if span.carried else vocabulary.begin
        ids, targets = np.append(lead, ids), np.append(False, targets)
        image_of = np.append(0 if span.carried else -1, image_of)
    return ids.astype(np.int64), targets.astype(np.bool_), image_of.astype(np.int32)
