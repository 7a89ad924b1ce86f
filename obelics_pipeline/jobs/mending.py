"""A run that meets a damaged file of its own sets it aside and begins again: the step that wrote it writes it again."""

from __future__ import annotations

from collections.abc import Callable

from obelics_pipeline.core.commit import disown, unit_names
from obelics_pipeline.core.errors import Damaged, Stopped
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revision_place import FOLDER
from obelics_pipeline.stages.fetch.left import ask_again, fetch_again
from obelics_pipeline.stages.fetch.removed_packs import removed_packs


def until_whole(attempt: Callable[[], int], folder: RunFolder, say: Callable[[str], None]) -> int:
    """Call `attempt` until it meets no damaged file; returns its exit code. Finished units are not done again.

    Raises Stopped for a file that is damaged again after it was rewritten, Damaged for a file of another run.
    """
    made_anew: set[str] = set()
    while True:
        try:
            return attempt()
        except Damaged as damaged:
            _rewrite(damaged, folder, made_anew, say)


def _rewrite(damaged: Damaged, folder: RunFolder, made_anew: set[str], say: Callable[[str], None]) -> None:
    for where in damaged.locations:
        name = _name_in(folder, where)
        if not name:
            raise damaged
        if name in made_anew:
            raise Stopped(
                f"{where}: damaged again after it was rewritten; test the disk and the memory of this machine"
            )
        made_anew.add(name)
        if _was_removed(name, folder):
            say(f"{where}: lacks an image that is in no tar; what packs lack is asked for again")
        else:
            say(f"{where}: differs from what the run wrote; writing it again")
        try:
            set_aside(name, folder)
        except Damaged as another:
            _rewrite(another, folder, made_anew, say)


def _name_in(folder: RunFolder, where: str) -> str:
    """The name that a file has in the folder, also where another revision has the file; empty: it is another run's."""
    inside = where.removeprefix(f"{folder.base}/")
    if inside == where:
        return ""
    first, _, rest = inside.partition("/")
    return rest.partition("/")[2] if first == FOLDER else inside


def set_aside(name: str, folder: RunFolder) -> None:
    """Remove a damaged file, by its name within the folder, and what says that it is whole.

    The command of the run then makes it again. Raises Damaged where another file must be set aside before.
    """
    images = f"{folder.images.name}/"
    if _was_removed(name, folder):  # at once: else a run would begin again for each pack
        ask_again(folder.fetch, unit_names(folder.fetch))
    elif name.startswith(images):
        fetch_again(folder.fetch, folder.images, name.removeprefix(images))
    else:
        disown(folder.path / name)


def _was_removed(name: str, folder: RunFolder) -> bool:
    """Whether a file is a pack that was removed on purpose, and has now what the tars have."""
    return name.startswith(f"{folder.images.name}/") and removed_packs(folder) is not None
