"""Where the embedded services of a state folder are found. Computes addresses; starts nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from django.core.exceptions import ImproperlyConfigured

SOCKET_PATH_LIMIT = 85
"""Longest folder in which a unix socket still has a legal name (the kernel allows 107 bytes)."""


def sockets(state: Path) -> Path:
    """The folder of the unix sockets: inside `state`, or the temporary directory if too long."""
    inside = state.resolve() / "sockets"
    digest = hashlib.sha256(str(inside).encode()).hexdigest()[:16]
    beside = Path(tempfile.gettempdir()).resolve() / f"signalbox-{os.getuid()}-{digest}"
    return next((path for path in (inside, beside) if _fits(path)), Path("/tmp") / beside.name)  # noqa: S108


def short_name(state: Path) -> str:
    """A few characters that tell this state folder from others, fit for a name."""
    return hashlib.sha256(str(state.resolve()).encode()).hexdigest()[:8]


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder)) <= SOCKET_PATH_LIMIT


def database_url(state: Path, name: str = "signalbox") -> str:
    return f"postgres://signalbox@{quote(str(sockets(state)), safe='')}/{name}"


def broker_url(state: Path) -> str:
    return f"redis+socket://{sockets(state) / 'broker.sock'}"


def secret_key(state: Path, configured: str) -> str:
    """The configured key, or one made once for this state folder and kept there with mode 0600.

    Raises ImproperlyConfigured if the folder cannot be used.
    """
    return configured or _kept(state / "secret-key", lambda: secrets.token_urlsafe(50))


def signing_key(state: Path, configured: str) -> str:
    """The same for the key that signs exports and the audit log: 32 random bytes in base64."""
    return configured or _kept(state / "audit-signing-key", _random_key)


def _random_key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()


def _kept(path: Path, make: Callable[[], str]) -> str:
    try:
        return _kept_key(path, make)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path.parent} cannot be used: {error.strerror}."
            " Set SIGNALBOX_STATE to another folder."
        ) from error


def _kept_key(path: Path, make: Callable[[], str]) -> str:
    state = path.parent
    try:
        return path.read_text()
    except FileNotFoundError:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = state / f"{path.name}.{os.getpid()}"
        made.touch(mode=0o600)
        made.write_text(make())
        try:
            os.link(made, path)  # fails if another process was first: then its key counts
        except FileExistsError:
            pass
        finally:
            made.unlink()
        return path.read_text()


def postgres(state: Path) -> Path:
    """All of the embedded PostgreSQL except its socket; belongs to the user that runs it."""
    return state.resolve() / "postgres"


def broker_log(state: Path) -> Path:
    return state.resolve() / "broker.log"


def environment(state: Path) -> dict[str, str]:
    """Variables that make a child process use the embedded services of `state` and nothing else."""
    return {"SIGNALBOX_STATE": str(state.resolve()), "DATABASE_URL": "", "BROKER_URL": ""}
