"""The SQL files of the apps: one statement each, named after the verb."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def read(app: str, name: str) -> str:
    """The text of `<app>/sql/<name>.sql`."""
    return resources.files(app).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
