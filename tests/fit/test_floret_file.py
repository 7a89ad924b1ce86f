"""A file that is not laid out as expected must be refused, not mangled."""

import struct

import pytest

from obelics_pipeline.fit.floret_file import to_fasttext

HEAD = struct.pack("<2i11i", 793712314, 12, *range(11))
REST = struct.pack("<id", 100, 1e-4)


def test_two_arguments_go_and_all_else_stays() -> None:
    assert to_fasttext(HEAD + struct.pack("<2i", 1, 0) + REST + b"the rest") == HEAD + REST + b"the rest"


@pytest.mark.parametrize("data", [b"", HEAD, HEAD + REST + b"x" * 99, b"\0" * 200])
def test_another_layout_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="floret"):
        to_fasttext(data)
