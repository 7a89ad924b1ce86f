"""How closely the machines are watched."""

from pathlib import Path

from pydantic import Field, NonNegativeInt, PositiveFloat

from obelics_pipeline.core.config.section import Section


class HealthConfig(Section):
    """Watching the machines of a training."""

    timeout_seconds: PositiveFloat = Field(
        1800.0, description="Seconds without a step after which a process writes its stacks and ends; 0 is not allowed."
    )
    canary_steps: NonNegativeInt = Field(
        50, description="A fixed micro-batch is run on all ranks at every so many steps, and compared; 0: never."
    )
    weight_steps: NonNegativeInt = Field(
        1,
        description="After so many updates the bits of the weights are summed, and again before the next one, and "
        "their norms held against what an update can do; 0: never. Benchmark: benchmarks/guarding.py --cost.",
    )
    kernel_log: Path | None = Field(
        Path("/dev/kmsg"), description="Where the driver's messages are read from; null: nowhere."
    )
    deny: tuple[str, ...] = Field((), description="GPUs (UUID or serial) and host names that are not to be used.")
    burn_seconds: float = Field(0.0, ge=0, description="Seconds of multiplying matrices before the start.")
