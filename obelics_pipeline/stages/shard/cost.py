"""What the stage `shard` costs beside its documents: tars of a size that the config has, and the images in them."""

from __future__ import annotations

from obelics_pipeline.core.storage import AT_ONCE
from obelics_pipeline.stages.cost import Ahead, Amounts, Cost

TAR, TAR_PUTS = "shard", 3  # the step that writes a tar, and its puts: the tar, its part of the index, a manifest


def tars(ahead: Ahead) -> Amounts:
    """None of the images was in the sample. They are read as often as documents show them, many at a time."""
    count = (ahead.counts["shard_bytes"] * (1 / ahead.config.shard.target_bytes)).at_least(1)
    found = {"tasks": count, "puts": count * TAR_PUTS}
    if not ahead.config.fetch.enabled:
        return found
    images = ahead.counts["images_in_shards"] * ahead.assumed.image_success
    size = images * ahead.assumed.image_bytes
    return found | {"read": size, "written": size, "gets": images, "wall": images * (ahead.wait / AT_ONCE)}


COST = Cost(beyond=tars, puts_beyond=(TAR,))
