"""Django's entry for the drills, in their own settings only: makes the process one that can die."""

from __future__ import annotations

import time
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings
from django.utils.module_loading import import_string

TABLES_THERE = "tables-are-there"
"""A file in the folder of armed points, once the database can be used."""


class DrillsConfig(AppConfig):
    name = "signalbox.drills"
    label = "drills"

    def ready(self) -> None:
        armed: str = getattr(settings, "DRILLS_ARMED", "")
        if not armed:
            return
        folder = Path(armed)
        # By name, because models cannot be imported while Django loads this file.
        import_string("signalbox.drills.arming.install")(folder)
        # Loading takes seconds, so workers are started before the tables are there.
        while not (folder / TABLES_THERE).exists():
            time.sleep(0.05)
