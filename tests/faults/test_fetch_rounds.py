"""Runs whose fetch units have too little time: they are done in rounds, killed between two, and publish the same."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.report.funnel import funnel_of
from obelics_pipeline.inspect.report.opened import read_run
from obelics_pipeline.jobs.damage import survey
from tests.faults.damaged_run import World
from tests.faults.inline import Inline

ROUNDS = ("fetch.threads=1", "fetch.unit_seconds=1e-6")  # an image each


class Dying(Inline):
    """Ends with the third round of fetching."""

    def _each(self, function: Callable[[Any], Any], waiting: deque[Any], /) -> Iterator[tuple[Any, Any]]:
        for item, outcome in super()._each(function, waiting):
            if getattr(item, "stage", "") == "fetch" and outcome.notes["left"] == 5:
                raise Stopped("killed")
            yield item, outcome


def results(output: Path) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """The tars, and the index without their names."""
    tars = {path.name: path.read_bytes() for path in output.glob("shards/*.tar")}
    return tars, pq.read_table(output / "index.parquet").to_pylist()


def test_a_run_in_rounds_that_is_killed_between_two_publishes_the_same(
    world: World, finished: Path, tmp_path: Path
) -> None:
    seen, output = len(world.site.log), tmp_path / "rounds"
    with pytest.raises(Stopped):
        world.run(output, sets=ROUNDS, engine=Dying)
    run = RunFolder(output)
    assert not survey(run).damaged
    urls = funnel_of(read_run(str(output))).urls
    assert urls is not None and (urls.kept, urls.title) == (3, "Distinct image URLs that were asked for, so far")
    assert not list((output / "fetch" / "answers").glob("*"))
    assert world.run(output, sets=ROUNDS) == 0
    assert results(output) == results(finished)
    images = Counter(request.path for request in world.site.log[seen:] if request.path != "/robots.txt")
    assert len(images) == 8 and set(images.values()) == {1}
    assert not survey(run).damaged
    asked = len(world.site.log)
    assert world.run(output) == 0 and len(world.site.log) == asked  # how long a unit lasts changes no result
