"""The common ground of every config section: frozen, and strict about keys it does not know."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]  # of a file, in hexadecimal


class Section(BaseModel):
    """A part of the config. Unknown keys are refused; every value carries its unit and its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)
