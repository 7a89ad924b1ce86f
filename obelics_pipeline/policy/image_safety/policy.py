"""The metadata policy: which fields of each kind of metadata are kept."""

from __future__ import annotations

from dataclasses import dataclass

from obelics_pipeline.core.config.image_safety import MetadataPolicy
from obelics_pipeline.policy.image_safety import exif, iptc, xmp


@dataclass(frozen=True)
class Left:
    """Pieces of metadata as a policy leaves them; None where nothing of one stays."""

    policy: MetadataPolicy

    @property
    def texts(self) -> bool:
        """Whether comments and named texts stay, other than those that say where."""
        return self.policy == "strip_location"

    def exif(self, value: bytes) -> bytes | None:
        """EXIF, with or without its prefix."""
        return exif.without_location(value) if self.texts else exif.orientation_alone(value)

    def xmp(self, value: bytes) -> bytes | None:
        """A packet of XMP."""
        return (xmp.without_location(value) if self.texts else None) or xmp.orientation_alone(value)

    def iptc(self, value: bytes) -> bytes | None:
        """Photoshop's resources."""
        return iptc.without_location(value) if self.texts else None
