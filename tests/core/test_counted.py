"""A count agrees with its noun."""

import pytest

from obelics_pipeline.core.counted import counted


@pytest.mark.parametrize(
    ("n", "said"), [(0, "0 units"), (1, "1 unit"), (2, "2 units"), (1204, "1,204 units"), (21, "21 units")]
)
def test_only_one_is_singular(n: int, said: str) -> None:
    assert counted(n, "units") == said
