"""A filter of a user's own that a config names: where it is, and what it was when the config was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationInfo, model_validator

from obelics_pipeline.core.config.section import Section, Sha256
from obelics_pipeline.core.origin import Origin, origin_of, place_and_name

FORM = "give my_filters.py:MyFilter (a file, seen from the working directory) or package.module:MyFilter"


class OwnFilter(Section):
    """`FILE.py:NAME` or `MODULE:NAME` of a config, with the sha256 of that source.

    A YAML file gives the name alone, or `{name: …, sha256: …}`, which is compared. `source` is the text of a file. It
    travels with the config to worker processes, so that these need no file; it is not written to `config.yaml`. A
    module must be installed where the work is done.
    """

    name: str = Field(description="The file or module, a colon, and the name in it.")
    sha256: Sha256 = Field(description="Of the source; compared where a config gives it.")
    source: str | None = Field(None, description="The text of a file, read from it: never given in YAML.")

    @model_validator(mode="before")
    @classmethod
    def read(cls, value: Any, info: ValidationInfo) -> Any:
        """Read what a name names. JSON is what a driver gives its workers, and has been read before."""
        if info.mode == "json" or isinstance(value, cls):
            return value
        given: dict[str, Any] = {"name": value} if isinstance(value, str) else dict(_mapping(value))
        origin = origin_of(given.get("name"), FORM)
        if given.setdefault("sha256", origin.sha256) != origin.sha256:
            raise ValueError(
                f"{origin.module} has the sha256 {origin.sha256}, not the one that is given; give this one, or none"
            )
        return given | {"source": origin.text}

    @property
    def origin(self) -> Origin:
        """Where its value is."""
        return Origin(*place_and_name(self.name, FORM), self.sha256, self.source)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"names no value of a file or module; {FORM}")
    return value
