"""As whom the programs of the embedded PostgreSQL run: it refuses to be root.

An ordinary user is that user. Root becomes the owner of the data; without data, `postgres` or
`nobody`, whoever may enter the folders; if neither may, root under another number in a user
namespace of its own. So does a user without a name (containers start such), whom initdb refuses.
Permissions of folders that are not ours are never widened.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from signalbox.embedded import errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who runs the programs; `uid` and `gid` are None if nothing has to change."""

    uid: int | None = None
    gid: int | None = None
    prefix: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a program ended and what it printed, both streams together."""

    status: int
    text: str


def run(identity: Identity, *command: str | Path, timeout: float = 90) -> Said:
    """Run one program to its end. 124 is the status of one that took longer than `timeout` seconds.

    Output goes to a file: a daemon that the program leaves behind would keep a pipe open.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    with tempfile.TemporaryFile() as output:
        try:
            status = subprocess.run(  # noqa: S603  (our own programs)
                [*identity.prefix, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=env | {"LC_ALL": "C", "TZ": "UTC"},
                user=identity.uid,
                group=identity.gid,
                extra_groups=None if identity.uid is None else [],
                timeout=timeout,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = 124
        output.seek(0)
        return Said(status=status, text=output.read().decode(errors="replace"))


def choose(state: Path, data: Path, program: Path) -> Identity:
    """Who runs the PostgreSQL that keeps `data`. Raises NoServerUser."""
    if os.geteuid() != 0:
        return Identity() if _has_a_name(os.geteuid()) else _renamed(program) or Identity()
    if data.exists() and (owner := owner_of(data)).uid:
        return owner
    for candidate in [] if data.exists() else _server_users():
        if _may_enter(candidate, state.parent, program):
            return candidate
    inside = _renamed(program)
    if inside is None:
        raise errors.NoServerUser
    return inside


def owner_of(path: Path) -> Identity:
    """Whom `path` was given to; this process's user if there is no such path."""
    if os.geteuid() != 0 or not path.exists():
        return Identity()
    owner = path.stat()
    return Identity(uid=owner.st_uid, gid=owner.st_gid)


def private_folder(identity: Identity, folder: Path) -> None:
    """Have `folder` for `identity` alone, or raise NotOurs: others can write beside it in /tmp."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    ours = found.st_uid in {os.geteuid(), identity.uid}
    if not (stat.S_ISDIR(found.st_mode) and ours and not found.st_mode & 0o077):
        raise errors.NotOurs(folder)
    if identity.uid is not None and identity.gid is not None:
        os.chown(folder, identity.uid, identity.gid)


def let_through(identity: Identity, state: Path) -> None:
    """Let the group of `identity` pass through the state folder, without reading what is in it."""
    if identity.gid is not None and state.stat().st_uid != identity.uid:
        os.chown(state, -1, identity.gid)
        state.chmod(0o710)


def _server_users() -> list[Identity]:
    users = [user for user in pwd.getpwall() if user.pw_name in {"postgres", "nobody"}]
    users.sort(key=lambda user: user.pw_name, reverse=True)
    return [Identity(uid=user.pw_uid, gid=user.pw_gid) for user in users]


def _has_a_name(uid: int) -> bool:
    return any(user.pw_uid == uid for user in pwd.getpwall())


def _may_enter(identity: Identity, folder: Path, program: Path) -> bool:
    return run(identity, "sh", "-c", 'cd "$0" && "$1" --version', folder, program).status == 0


def _renamed(program: Path) -> Identity | None:
    """This user under the number of another one, in a user namespace; None where that is refused.

    For the file system it stays the same user.
    """
    other = next((user for user in pwd.getpwall() if user.pw_uid), None)
    if other is None or not shutil.which("unshare"):
        return None
    numbers = (f"--map-user={other.pw_uid}", f"--map-group={other.pw_gid}")
    inside = Identity(prefix=("unshare", "--user", *numbers))
    return inside if run(inside, program, "--version").status == 0 else None
