"""From a WARC record to a training shard of interleaved image-text documents, and back."""

__version__ = "0.1.0"
