"""A row that gives no document, or cannot be scored: it costs itself, and is counted by its reason."""

from __future__ import annotations

NOT_UTF8 = "not_utf8"  # the bytes of the row are no text, or a string in it has no UTF-8
NOT_JSON = "not_json"  # the line, or the member of a tar, is no JSON object
TOO_LONG = "too_long"
TOO_LARGE = "row_too_large"
NO_TEXT = "no_text"
NO_URL = "no_url"  # the row does not say which page it is of
WRONG_TYPE = "wrong_type"  # a value that is read is no string, list, …
LENGTHS_DIFFER = "lengths_differ"  # texts, images and metadata have one place for each element of a document
NOT_ALIGNED = "not_aligned"  # a place with both a text and an image, or neither
BROKEN_METADATA = "broken_metadata"  # metadata or general_metadata is a string, and no JSON
BAD_INDEX = "bad_index"  # an image is matched to a text that the row does not have
BROKEN_IMAGE = "broken_image"  # an image in the row is no base64
REPEATED_ID = "repeated_id"  # an earlier row of the same unit has the same id
DAMAGED_ROWS = "damaged_rows"  # rows of a Parquet file that cannot be read
UNREADABLE_REST = "unreadable_rest"  # the file cannot be read to its end
WORKER_DIED = "worker_died"  # each worker that read these rows was killed, or took too long
SCORE_FAILED = "score_failed"  # a filter raised, or gave no finite number
WORKER_LOST = "worker_lost"  # each worker that was given the row was killed, or took too long

# Characters of a document, and bytes of a line. A page has up to 5 MiB (reading.max_page_bytes), and JSON may write a
# character of one byte as six.
MAX_LENGTH = 32 * 2**20


class RowError(Exception):
    """What is wrong with a row: one of the reasons above, and a detail for people."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)  # both, or it cannot be pickled
        self.reason, self.detail = reason, detail

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason
