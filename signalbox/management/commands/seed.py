"""Fill an empty database with runs, effects and audit entries, to try Signalbox under load."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs.models import Run


class Command(BaseCommand):
    """Exit status 0: done; 1: not possible; 2: wrong usage."""

    help = (
        "Fill an empty database for trials of load: about ten effects and twelve audit entries a"
        " run, with made-up people and times."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--runs", metavar="N", type=_enough, default=100_000, help="(100000)")
        parser.add_argument(
            "--steps", metavar="N", type=_enough, default=5_000, help="of the longest run (5000)"
        )

    def handle(self, **options: Any) -> None:
        if Run.objects.exists():
            raise CommandError("The database has runs already. Seed one that is empty.")
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, "-m", "signalbox.seed", str(options["runs"]), str(options["steps"])],
            cwd=settings.BASE_DIR,
            env=dict(os.environ) | {"DJANGO_SETTINGS_MODULE": "signalbox.seed.settings"},
            check=False,
        )
        if done.returncode:
            raise CommandError("The database could not be seeded.")
        self.stdout.write(f"{Run.objects.count():,} runs are there.")


def _enough(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1000000")
    return number
