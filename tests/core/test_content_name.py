"""A name says what is in the file only where this pipeline gave it."""

import pytest

from obelics_pipeline.core.content_name import content_name, stated_hash, stem_of

SHA256 = "0123456789abcdef" * 4


@pytest.mark.parametrize("stem", ["crawl-000-fedcba9876543210", "fedcba9876543210", "bucket=3.data", "b=a%2Fb.own"])
def test_a_name_that_was_given_by_content_states_it(stem: str) -> None:
    name = content_name(stem, SHA256, ".parquet")
    assert (stated_hash(name), stem_of(name)) == (SHA256[:12], stem)


@pytest.mark.parametrize(
    "name",
    [
        "index.parquet",
        "train-00000-of-01335-bd1c4a9a5a5b2f2c.parquet",
        "part-0123456789ab.parquet",
        "part-00000-fedcba98-7654-3210-aaaa-0123456789ab.c000.snappy.parquet",
        "part-00000-fedcba98-7654-3210-aaaa-0123456789ab.parquet",
        "crawl-fedcba9876543210-0123456789ab.tar",
        "crawl-fedcba9876543210-0123456789ab.parquet.part",
    ],
)
def test_a_name_that_others_give_states_nothing(name: str) -> None:
    assert stated_hash(name) is None
