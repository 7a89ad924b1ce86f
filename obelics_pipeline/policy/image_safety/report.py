"""Telling the operator of a match: a line in a file of theirs, a function of theirs. Never in a run's own output."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.image_safety import AbuseReportConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.unit import digest

Event = Mapping[str, Any]


class Reporter:
    """Reports matches, each at least once: before anything notes that its image was dealt with.

    A match of the same image, address and listed hash is the same report (`id`), and is in the file once.
    """

    def __init__(self, config: AbuseReportConfig) -> None:
        """Raises UserError where the hook cannot be found."""
        self._file = None if config.file is None else Path(config.file).expanduser()
        self._hook = None if config.hook is None else hook(config.hook, "image_safety.report.hook")

    def __call__(self, event: Event) -> None:
        """Report one match. Raises UserError where it cannot be: then its image is not done."""
        id_ = digest(event["url"], event["sha256"], event["listed"])
        told = {"id": id_, "time": _now(), **event}
        if self._file is not None and self._has(id_):
            return
        if self._hook is not None:
            try:
                self._hook(told)
            except Exception as error:
                raise UserError(
                    f"image_safety.report.hook: a match could not be reported ({type(error).__name__}); mend it and "
                    "run the same command again"
                ) from None
        if self._file is not None:
            self._add(told)

    def _has(self, id_: str) -> bool:
        assert self._file is not None
        try:
            with self._file.open("rb") as file:
                return any(f'"id": "{id_}"'.encode() in line for line in file)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unwritable(self._file, error) from None

    def _add(self, told: Event) -> None:
        assert self._file is not None
        try:
            handle = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                os.fchmod(file.fileno(), 0o600)
                if not self._has(str(told["id"])):
                    size = file.seek(0, 2)
                    torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
                    file.write(b"\n" * torn + json.dumps(told).encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(self._file, error) from None


def check_report(config: AbuseReportConfig, folder: object) -> None:
    """Raise UserError for a report in the run's folder, a report that cannot be written, or a hook that is not a
    function.
    """
    if config.hook is not None:
        hook(config.hook, "image_safety.report.hook")
    if config.file is None:
        return
    path = Path(config.file).expanduser().resolve()
    if isinstance(folder, Path) and path.is_relative_to(folder.resolve()):
        raise UserError(f"image_safety.report.file: {config.file} is in the run's folder, which is to be published")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(f"image_safety.report.file: {config.file} cannot be written to")


def hook(place: str, setting: str) -> Callable[..., Any]:
    """The function of `package.module:function`. Raises UserError if there is no such function."""
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UserError(f"{setting}: {place} cannot be imported: {error}") from None
    if not callable(found):
        raise UserError(f"{setting}: {place} is no function")
    function: Callable[..., Any] = found
    return function


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _unwritable(path: Path, error: OSError) -> UserError:
    return UserError(
        f"image_safety.report.file: {path} cannot be written to: {error.strerror}; correct the setting and run again"
    )
