"""Shards as their readers see them: through `webdataset`, and through Hugging Face `datasets`."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.flamingo_record import plain_members
from obelics_pipeline.core.shards.record import content_sha256
from obelics_pipeline.core.shards.webdataset_parts import webdataset_parts

Row = Mapping[str, Any]


def webdataset_problems(path: Path, rows: Sequence[Row]) -> Iterator[str]:
    """Where `webdataset` reads other documents than the index lists, in order."""
    for row, sample in zip_longest(rows, webdataset_samples(path)):
        if row is None or sample is None or sample[0] != row["doc_id"]:
            yield _other_document("webdataset", row, sample and sample[0])
            return
        if _content(sample[0], plain_members(sample[1])) != row["content_sha256"]:
            yield f"document {row['doc_id']}: webdataset reads other members or bytes than were written"


def webdataset_samples(path: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The samples of a tar as `webdataset` groups them: key, and bytes by member name after the key.

    The file is opened here and nothing is decoded, so that neither its URL schemes (`pipe:`) nor its decoders (pickle)
    come into play, whatever members are called. Holds one document in memory, as every reader of it does.
    """
    read = webdataset_parts().tariterators
    with path.open("rb") as stream:
        for sample in read.group_by_keys(read.tar_file_expander(iter([{"url": path.name, "stream": stream}]))):
            yield sample["__key__"], {name: data for name, data in sample.items() if not name.startswith("__")}


def datasets_problems(
    path: Path, rows: Sequence[Row], members: Iterable[str], score_names: Sequence[str]
) -> Iterator[str]:
    """Where `datasets.load_dataset("webdataset", ...)` reads other rows than the index lists, in order.

    `members` are the names of the shard's members after the key. They are given as features, because `datasets` infers
    its columns from five samples and refuses samples that differ in them. It reads as a stream: otherwise it copies the
    shard to its cache and maps the copy into memory, which grows with the shard.
    """
    images = sorted(set(members) - {"json"})
    with _loaded(path, images, score_names) as table:
        for row, seen in zip_longest(rows, table):
            if row is None or seen is None or seen["__key__"] != row["doc_id"]:
                yield _other_document("datasets", row, seen and seen["__key__"])
                return
            found = {"json": to_json(seen["json"]).encode()}
            found |= {name: seen[name]["bytes"] for name in images if seen[name] is not None}
            if _content(seen["__key__"], found) != row["content_sha256"]:
                yield f"document {row['doc_id']}: datasets reads other values than were written"


def features(images: Iterable[str], score_names: Iterable[str]) -> Any:
    """The columns of a shard for `datasets`: the record's JSON as a struct, and the bytes of each image member."""
    from datasets import Features, Image, Value

    string, strings = Value("string"), [Value("string")]
    record = {
        "doc_id": string,
        "texts": strings,
        "images": strings,
        "metadata": string,
        "general_metadata": string,
        "files": strings,
        "scores": {name: Value("float64") for name in score_names},
        "language": string,
    }
    columns = {"__key__": string, "__url__": string, "json": record}
    return Features(columns | {name: Image(decode=False) for name in images})


@contextmanager
def _loaded(path: Path, images: Sequence[str], score_names: Sequence[str]) -> Iterator[Any]:
    """A shard loaded by `datasets`, without network, torch, progress bars or a trace in the user's cache."""
    import datasets

    config = datasets.config
    before = config.HF_HUB_OFFLINE, config.TORCH_AVAILABLE, datasets.is_progress_bar_enabled()
    config.HF_HUB_OFFLINE, config.TORCH_AVAILABLE = True, False
    datasets.disable_progress_bars()
    try:
        with tempfile.TemporaryDirectory(prefix="obelics-validate-") as cache:
            yield datasets.load_dataset(
                "webdataset",
                data_files={"train": [str(path)]},
                features=features(images, score_names),
                split="train",
                cache_dir=cache,
                streaming=True,
            )
    finally:
        config.HF_HUB_OFFLINE, config.TORCH_AVAILABLE = before[:2]
        if before[2]:
            datasets.enable_progress_bars()


def _content(key: str, members: Mapping[str, bytes]) -> str:
    return content_sha256((f"{key}.{name}", hashlib.sha256(data).hexdigest()) for name, data in members.items())


def _other_document(reader: str, row: Row | None, key: str | None) -> str:
    place = "after the last document" if row is None else f"document {row['doc_id']}"
    return f"{place}: {reader} reads " + ("nothing" if key is None else f"document {ascii(key)[:80]}")
