"""A head is read up to a cap, whatever the number and the length of its lines."""

import http.client
import io
from types import SimpleNamespace

import pytest

from obelics_pipeline.net.head import MAX_HEAD_BYTES, BoundedResponse


def answered(content: bytes) -> BoundedResponse:
    response = BoundedResponse(SimpleNamespace(makefile=lambda _mode: io.BytesIO(content)))  # type: ignore[arg-type]
    response.begin()
    return response


def lines(count: int, size: int) -> bytes:
    return b"".join(b"X-%05d: " % n + b"a" * (size - 11) + b"\r\n" for n in range(count))


def test_a_head_below_the_cap_is_read_and_its_body_has_another() -> None:
    body = b"b" * 2 * MAX_HEAD_BYTES
    response = answered(b"HTTP/1.1 200 OK\r\n" + lines(3, 60_000) + b"\r\n" + body)
    assert len(response.headers["X-00002"]) > 50_000
    assert response.read() == body


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n" + lines(5, 60_000) + b"\r\n",
        b"HTTP/1.1 200 OK\r\n" + lines(90, 3000) + b"\r\n",
        (b"HTTP/1.1 100 Continue\r\n" + lines(50, 1000) + b"\r\n") * 6 + b"HTTP/1.1 200 OK\r\n\r\n",
    ],
    ids=["long lines", "many lines", "many heads"],
)
def test_a_larger_head_is_refused(head: bytes) -> None:
    assert len(head) > MAX_HEAD_BYTES
    with pytest.raises(http.client.HTTPException, match="head has more"):
        answered(head)
