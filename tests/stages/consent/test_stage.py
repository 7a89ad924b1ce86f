"""The buckets of an opt-out service: what is known of each is learnt by one listing."""

from pathlib import Path

from obelics_pipeline.core.config.consent import OptOutServiceConfig
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.inspect.check.meter import metered, so_far
from obelics_pipeline.stages.consent.stage import answer_units

SERVICE = OptOutServiceConfig(name="registry", url="https://registry.example/check")


def test_the_answers_are_listed_once_whatever_the_number_of_buckets(tmp_path: Path) -> None:
    folder = metered(tmp_path)

    def listed(buckets: int) -> int:
        before = so_far().puts  # stores charge for a listing as for a put
        questions = Partitions(folder, {str(bucket): [f"{bucket}.parquet"] for bucket in range(buckets)})
        assert len(answer_units(questions, folder, SERVICE)) == buckets
        return so_far().puts - before

    assert listed(40) == listed(1)
