"""Signalbox's settings for tests: a state folder of their own, whatever else runs in this checkout.

Two test runs at once get a folder each (`.signalbox-test`, `.signalbox-test-2`, …), so neither
drops the other's database. Workers of pytest-xdist and other children of one run share its folder.
"""

from __future__ import annotations

import fcntl
import os
from itertools import count
from pathlib import Path

CHOSEN = "SIGNALBOX_TEST_STATE"


def _choose() -> Path:
    beside = Path(os.environ.get("SIGNALBOX_STATE") or Path(__file__).parent.parent / ".signalbox")
    for number in count(1):
        folder = beside.with_name(f"{beside.name}-test" + (f"-{number}" if number > 1 else ""))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken = os.open(folder / "tests.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(taken)
        else:
            return folder.resolve()  # the lock is kept until this process ends
    raise AssertionError


if CHOSEN not in os.environ:
    os.environ[CHOSEN] = str(_choose())
os.environ["SIGNALBOX_STATE"] = os.environ[CHOSEN]

from signalbox.settings import *  # noqa: E402, F403  (only now does the environment say where)

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
"""Fast; that real ones are slow is tested against signalbox.settings."""

for _name in ("polls", "told", "inquiries"):
    CACHES[_name] |= {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}  # noqa: F405
"""Tests change what pages show within a second, and in transactions that never end."""
