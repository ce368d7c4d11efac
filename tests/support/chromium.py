"""The Chromium of this machine, for tests marked `page`."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]
"""For `playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)`."""


def find() -> str | None:
    """Its path, or None where none is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)
