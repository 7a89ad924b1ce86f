"""What other corpora took back."""

from typing import Annotated

from pydantic import Field

ForgottenFolders = Annotated[
    tuple[str, ...],
    Field(
        description="Folders of other runs that obelics forget met, or folders of tombstones (forgotten/ of a run): "
        "what was taken back there is left out here. What was taken back in a run's own folder always is. Paths or "
        "URLs; docs/forget.md."
    ),
]
