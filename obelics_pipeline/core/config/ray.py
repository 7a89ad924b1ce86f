"""What the run asks of a Ray cluster. Nothing here changes a byte of the output."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from obelics_pipeline.core.config.section import Section


class RayConfig(Section):
    """Resources of `--engine ray`. The address of a cluster is given on the command line."""

    cpus_per_unit: PositiveFloat = Field(
        1.0, description="CPUs that Ray sets aside for a unit of work; a unit computes on one."
    )
    memory_per_unit_bytes: NonNegativeInt = Field(
        0,
        description="Memory that Ray sets aside for a unit, in bytes; 0: none. A worker is kept below 700 MB, so "
        "734003200 is right for nodes with less than 1 GB per CPU.",
    )
    in_flight: PositiveFloat = Field(
        2.0,
        ge=1.0,
        description="Units handed to Ray at a time, as a multiple of those that the cluster can run, where --workers "
        "does not say how many. What waits there asks an autoscaler for nodes.",
    )
    start_seconds: PositiveFloat = Field(
        600.0,
        description="How long the run waits for a node that fits its units, at the start or after nodes were lost, "
        "before it stops; the same command goes on.",
    )
    shuffle_partitions: PositiveInt = Field(
        32, description="Pieces that Ray Data cuts rows into when it regroups them; one is held in memory at a time."
    )
    object_store_bytes: PositiveInt = Field(
        512 * 2**20,
        ge=80 * 2**20,  # what Ray accepts
        description="Shared memory of a Ray that the run starts itself; a cluster has its own.",
    )
    actors: PositiveInt | None = Field(
        None, description="Workers that hold a model; null: as many as the cluster's GPUs serve, one where it has none."
    )
    cpus_per_actor: PositiveFloat = Field(0.5, description="CPUs that Ray sets aside for a worker with a model.")
    gpus_per_actor: NonNegativeFloat | None = Field(
        None,
        description="GPUs that Ray sets aside for a worker with a model: 1.0, a fraction to share one, 0 for none; "
        "null: 1.0 where the cluster has a GPU.",
    )
