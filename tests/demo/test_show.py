"""One document, printed for a person: the same each time, and nothing in it taken for markup."""

import json
import tarfile
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.demo.show import choose, describe, print_document


def document(name: str, images: int, words: int) -> dict[str, Any]:
    texts: list[str | None] = [f"{name} [bold]not markup[/bold]\n\n" + "word " * words]
    sources: list[str | None] = [None]
    metadata: list[dict[str, Any] | None] = [None]
    for n in range(images):
        src = f"http://a.example/{name}-{n}.jpg?w=9"
        texts.append(None)
        sources.append(src)
        metadata.append(
            {"src": src, "original_width": 640, "original_height": 480, "format": "jpeg", "alt_text": "A x"}
        )
    return {"texts": texts, "images": sources, "metadata": metadata}


def write_shard(folder: Path, documents: list[dict[str, Any]]) -> None:
    (folder / "shards").mkdir(parents=True)
    with tarfile.open(folder / "shards" / "shard-000000.tar", "w") as tar:
        for n, value in enumerate(documents):
            for suffix, data in (("json", json.dumps(value).encode()), ("0.jpeg", b"bytes")):
                info = tarfile.TarInfo(f"{n:04}.{suffix}")
                info.size = len(data)
                tar.addfile(info, BytesIO(data))


def printed(folder: Path, **options: Any) -> str:
    out = StringIO()
    print_document(folder, Console(file=out, width=60, **options))
    return out.getvalue()


def test_the_document_with_most_images_is_shown_unless_it_is_too_long() -> None:
    short, rich_in_images, long = document("a", 2, 50), document("b", 4, 60), document("c", 9, 5000)
    assert choose([short, rich_in_images, long]) is rich_in_images
    assert choose([long]) is long


def test_texts_are_printed_as_they_are_and_images_as_a_line(tmp_path: Path) -> None:
    write_shard(tmp_path, [document("tree", 1, 30)])
    lines = printed(tmp_path).splitlines()
    assert lines[0] == "tree [bold]not markup[/bold]"
    assert '[image 640x480 jpeg tree-0.jpg "A x"]' in lines
    assert "\x1b" not in printed(tmp_path)


def test_a_terminal_gets_wrapped_text(tmp_path: Path) -> None:
    write_shard(tmp_path, [document("tree", 1, 30)])
    assert all(len(line) <= 60 or "\x1b" in line for line in printed(tmp_path, force_terminal=True).splitlines())


def test_metadata_may_be_json_in_json(tmp_path: Path) -> None:
    value = document("tree", 1, 30)
    write_shard(tmp_path, [value | {"metadata": json.dumps(value["metadata"])}])
    assert "tree-0.jpg" in printed(tmp_path)


def test_what_is_not_known_of_an_image_is_left_out() -> None:
    assert describe({"src": "http://a.example/b/c.png"}) == "[image c.png]"


@pytest.mark.parametrize("shards", [None, []])
def test_a_run_without_documents_is_told_from_one_with(tmp_path: Path, shards: list[Any] | None) -> None:
    if shards is not None:
        write_shard(tmp_path, shards)
    with pytest.raises(UserError, match=r"no document.*manifest\.json"):
        printed(tmp_path)
