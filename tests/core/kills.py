"""The end of a process before any one of its calls, as a kill would have it."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

import pytest


class Killed(BaseException):
    """The process ends here."""


@contextmanager
def killed_at(step: int, of: object, calls: Collection[str]) -> Iterator[list[int]]:
    """The process ends before number `step` of its calls to these methods of an object; how many it made.

    Names that the object lacks are left out. Once killed it makes none of them, whatever it does to clean up.
    """
    made = [0]

    def killing(real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **how: object) -> object:
            if made[0] >= step:
                made[0] = step + 1
                raise Killed
            made[0] += 1
            return real(*arguments, **how)

        return call

    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        for name in calls:
            if hasattr(of, name):
                patch.setattr(of, name, killing(getattr(of, name)))
        yield made
