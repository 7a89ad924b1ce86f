"""The common ground of every config section: frozen, and strict about keys it does not know."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]  # of a file, in hexadecimal
DataType = Literal["auto", "float32", "bfloat16", "float16"]  # of a model's parameters


class Section(BaseModel):
    """A part of the config. Unknown keys are refused; every value carries its unit and its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)
