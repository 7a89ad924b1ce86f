"""The common ground of every config section: frozen, and strict about keys it does not know."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the config. Unknown keys are refused; every value carries its unit and its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)
