"""What may go wrong with the embedded services. The docstring is the message an operator reads."""

from __future__ import annotations

from pathlib import Path


class EmbeddedError(Exception):
    """The embedded services cannot be used. Read the log in the state folder, or set DATABASE_URL
    and BROKER_URL to services of your own."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))


class ProgramsMissing(EmbeddedError):
    """The programs of the embedded services are not installed here. Run `make setup`, or set
    DATABASE_URL and BROKER_URL to services of your own."""


class NoServerUser(EmbeddedError):
    """PostgreSQL refuses to run as root, and no other user may enter this folder. Run as an
    ordinary user, set SIGNALBOX_STATE to a folder that others may enter, or set DATABASE_URL."""


class BadOptions(EmbeddedError):
    """SIGNALBOX_POSTGRES has something that is no setting. Write names and values of PostgreSQL's
    settings with a space between two, such as shared_buffers=1GB work_mem=16MB."""


class StartFailed(EmbeddedError):
    """An embedded service did not start."""

    def __init__(self, service: str, said: str, log: Path) -> None:
        told = [line for line in said.splitlines() if ": " in line] or ["it said nothing"]
        super().__init__(
            f"The embedded {service} did not start ({told[-1].strip()}). Read {log}; "
            "`make demo-reset` starts over with empty services."
        )


class OtherVersion(EmbeddedError):
    """The data in the state folder was made by another major version of PostgreSQL."""

    def __init__(self, data: Path, found: str, programs: str) -> None:
        super().__init__(
            f"{data} was made by PostgreSQL {found}, but {programs} is installed. Dump it with the "
            "old version and load it with the new one; remove the folder if it holds only a demo."
        )


class NotOurs(EmbeddedError):
    """The folder of the sockets belongs to somebody else."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is not a private folder of this user. Remove it, or set SIGNALBOX_STATE "
            "to a shorter path of your own."
        )


class StillInUse(EmbeddedError):
    """Somebody still uses these services. Stop the demo and the workers first."""


class StartTakesLong(EmbeddedError):
    """Another process has been starting or stopping the embedded services for too long. Look for a
    process that hangs, end it, and try again."""
