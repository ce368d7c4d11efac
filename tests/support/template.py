"""A migrated database that test databases are copied from, so that only the first run migrates.

It is named after what the migrations say and the versions of all packages: edit one, and the next
run migrates anew. Migrations are asked for in each copy as well, and find nothing to do.
"""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import Error, connection

BEGIN = "signalbox_template_"
ROOT = Path(settings.BASE_DIR)


@cache
def name() -> str:
    files = sorted(ROOT.glob("*/migrations/*.py"))
    read = hashlib.sha256()
    for path in (*files, ROOT / "constraints.txt"):
        read.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return BEGIN + read.hexdigest()[:16]


def use() -> None:
    """Have Django copy it, if there is one."""
    if name() in _all():
        connection.settings_dict["TEST"]["TEMPLATE"] = name()


def keep() -> None:
    """Keep a copy of the test database, which nobody has written to yet; earlier ones go."""
    known = _all()
    if name() in known:
        return
    made = connection.settings_dict["NAME"]
    connection.close()
    quoted = connection.ops.quote_name
    with connection._nodb_cursor() as cursor, contextlib.suppress(Error):
        # Another worker may be first.
        cursor.execute(f"CREATE DATABASE {quoted(name())} TEMPLATE {quoted(made)}")
        for other in known:
            cursor.execute(f"DROP DATABASE {quoted(other)}")


def _all() -> set[str]:
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [BEGIN])
        return {each for (each,) in cursor.fetchall()}
