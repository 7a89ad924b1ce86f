"""Tombstones of other corpora."""

from typing import Annotated

from pydantic import Field

ForgottenFolders = Annotated[
    tuple[str, ...],
    Field(
        description="Folders of other runs that obelics forget has edited, or their tombstones (forgotten/). "
        "What obelics forget removed there is left out here, as is always what it removed from this run. Paths or "
        "URLs; docs/forget.md."
    ),
]
