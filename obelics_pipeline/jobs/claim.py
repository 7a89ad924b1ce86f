"""A run's claim to its folder: made before the first piece of work; where a finished run is, if a person agrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location

SHOWN = 5  # differences in the line of a refusal


class Renewed(Exception):
    """A person agreed to other values: the work goes on in a revision of its own."""


class Claim:
    """Makes the folder this run's, once, by `take`.

    Where `changed` says how this run differs from the finished one in the folder, `agrees` is asked before anything
    of it is touched: True or False are a person's answer, None means that there is nobody to ask. Where the finished
    run stays, `plan` tells, for the stage that begins, what would be done, and what is agreed to ends this attempt with
    Renewed. Without a plan the run is changed in place.
    """

    def __init__(
        self,
        folder: Location,
        changed: Sequence[str],
        agrees: Callable[[str], bool | None],
        take: Callable[[], None],
        plan: Callable[[str, int, int], None] | None,
    ) -> None:
        self._folder, self._changed, self._agrees, self._take = folder, changed, agrees, take
        self._plan = plan
        self._taken = False

    def begin(self, stage: str, todo: int, units: int) -> None:
        """Before so many of the units of a stage are done or removed. Raises Renewed, UserError where nobody agrees."""
        if self._taken:
            return
        if self._changed:
            if self._plan is not None:
                self._plan(stage, todo, units)
            redone = f"{stage} ({todo} of {units} units)" if todo else stage
            what = f"{self._folder} holds a finished run; {redone} and all that depends on it would be redone"
            self._ask(f"{what}, {'and its shards replaced' if self._plan is None else 'in a new revision'}")
            if self._plan is not None:
                raise Renewed
        self.take()

    def take(self) -> None:
        """Make the folder this run's, if it is not yet."""
        if not self._taken:
            self._taken = True
            self._take()

    def _ask(self, what: str) -> None:
        agreed = self._agrees(f"{what}. Continue?")
        if agreed is None:
            more = f"; and {len(self._changed) - SHOWN} more" if len(self._changed) > SHOWN else ""
            told = "; ".join(self._changed[:SHOWN]) + more
            raise UserError(f"--output {what}, because of {told}: confirm with --yes, or give another folder")
        if not agreed:
            raise UserError(f"--output {self._folder}: left unchanged; give another folder, or the former values")
