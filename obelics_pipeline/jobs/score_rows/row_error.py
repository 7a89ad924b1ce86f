"""A row that cannot be scored: it costs itself, and is counted by its reason."""

from __future__ import annotations

NOT_UTF8 = "not_utf8"  # the bytes of the row are no text
NOT_JSON = "not_json"  # the line is no JSON object
TOO_LONG = "too_long"
NO_TEXT = "no_text"
WRONG_TYPE = "wrong_type"  # a value that is read is no string, list, …
LENGTHS_DIFFER = "lengths_differ"  # texts, images and metadata have one place for each element of a document
NOT_ALIGNED = "not_aligned"  # a place with both a text and an image, or neither
BROKEN_METADATA = "broken_metadata"  # metadata or general_metadata is a string, and no JSON
SCORE_FAILED = "score_failed"  # a filter raised, or gave no finite number
WORKER_LOST = "worker_lost"  # each worker that was given the row was killed, or took too long

# Characters of a document, and bytes of a line. A page has up to 5 MiB (reading.max_page_bytes), and JSON may write a
# character of one byte as six.
MAX_LENGTH = 32 * 2**20


class RowError(Exception):
    """Why a row has no scores: one of the reasons above, and what is wrong with this one."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)  # both, or it cannot be pickled
        self.reason, self.detail = reason, detail

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason
