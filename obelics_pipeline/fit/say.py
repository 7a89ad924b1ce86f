"""How a fit tells a person what it does: it is given each line."""

from collections.abc import Callable

Say = Callable[[str], None]
