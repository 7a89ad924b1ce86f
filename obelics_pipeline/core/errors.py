"""The two ways a run can stop that are not a bug, each with its exit code and one line for the person."""

import errno
import os

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
WRONG_LOCATION = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST,
               errno.ENAMETOOLONG, errno.ELOOP)  # fmt: skip


class UserError(Exception):
    """The command line, the config or the environment is wrong: exit code 2.

    The message is one line: what is wrong, where, which values are valid, what to do.
    """

    exit_code = 2


class Stopped(Exception):
    """The run stopped without harm (disk full, credentials lost, Ctrl-C): exit code 3; the same command goes on."""

    exit_code = 3


class Damaged(Stopped):
    """Files of a run are missing or hold other bytes than the run wrote. Nothing that was read from them is used.

    `locations` are their paths or URLs. The command of the run writes them again.
    """

    def __init__(self, *locations: str) -> None:
        super().__init__(*locations)
        self.locations = locations

    def __str__(self) -> str:
        return (
            f"{', '.join(self.locations)}: differs from what the run wrote; remove it, then run the command of that "
            "run again, which writes it again"
        )


def answer_to(error: OSError) -> UserError | Stopped | None:
    """The message for an error of a disk or a store that no other code handled; None if a person can do nothing.

    What names a URL is what a store's client could not mend by trying again: see `access.reaching`.
    """
    where = str(error.filename or "")
    if error.errno in DISK_FULL:
        return Stopped(f"{where or 'the disk'}: {os.strerror(error.errno)}; make room, then run the same command again")
    if error.errno in WRONG_LOCATION and where:
        return UserError(f"{where}: {error.strerror}; give a path that exists and can be used")
    if "://" in where:
        return Stopped(f"{where}: the store failed ({error.strerror}); run the same command again to continue")
    return None
