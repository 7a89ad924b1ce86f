"""Which images of a document open_flamingo's loader takes, by its rules and about how many tokens a text has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.flamingo_record import without_special

# Its defaults (2.0.1 and main): tokens that it cuts a text to, and --mmc4_max_num_images.
MAX_TOKENS = 256
MAX_IMAGES = 6
BYTES_PER_TOKEN = 4  # of English text with the tokenizers of GPT-NeoX, LLaMA and OPT: 4 to 4.5; so this errs to fewer

BEYOND, OVER = "beyond_256_tokens", "over_6_images"


@dataclass(frozen=True, slots=True)
class Loaded:
    """How many images of a document are read, and how many are not, by the reason."""

    images: int
    beyond: int  # after what it cuts off
    over: int  # of a document with more images than it takes, from the last that it would take on


def loaded(texts: Sequence[str | None], files: Sequence[str | None]) -> Loaded:
    """What is read of a document. Of one with more than 6 images it keeps 5: it cuts the text before the sixth mark."""
    n_files = sum(file is not None for file in files)
    most = MAX_IMAGES if n_files <= MAX_IMAGES else MAX_IMAGES - 1
    images = beyond = over = 0
    tokens = 0.0
    for text, file in zip(texts, files, strict=True):
        if file is not None:
            tokens += 2  # <|endofchunk|><image>
            if images + beyond == most:
                over += 1
            elif tokens > MAX_TOKENS:
                beyond += 1
            else:
                images += 1
        elif text is not None:
            tokens += len(without_special(text).encode()) / BYTES_PER_TOKEN
    return Loaded(images, beyond, over)


class LoaderLedgers:
    """The ledgers of what the loader will read: documents and images that are in the tars."""

    def __init__(self) -> None:
        self.documents, self.images = Ledger("documents_read"), Ledger("images_read")

    def add(self, found: Loaded) -> None:
        """Count a document."""
        self.documents.keep() if found.images else self.documents.drop(BEYOND)
        self.images.keep(found.images)
        for reason, n in ((BEYOND, found.beyond), (OVER, found.over)):
            if n:
                self.images.drop(reason, n)
