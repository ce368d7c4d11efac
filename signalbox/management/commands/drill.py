"""Kill workers at every dangerous moment, and compare what was done with what was recorded."""

from __future__ import annotations

import argparse
import difflib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.canonical import Json
from audit.management import output
from signalbox.drills import catalogue
from signalbox.drills.report import Report
from signalbox.embedded import errors, places, services

STOPPING = 30.0
"""Seconds that an interrupted drill gets to end its processes."""


class Command(BaseCommand):
    """Exit status 0: no violation; 1: some, or it could not be played; 2: wrong usage."""

    help = "Kill drills on scratch services. They touch nothing that is configured."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--list", action="store_true", help="name the drills and what each does"
        )
        parser.add_argument(
            "--only", metavar="NAME", action="append", default=[], help="play this drill"
        )
        parser.add_argument(
            "--trials", metavar="N", type=_at_least_one, default=1, help="times per class (1)"
        )
        parser.add_argument("--logs", metavar="DIR", default="", help="keep the workers' logs here")
        output.add_json_option(parser)

    def handle(self, **options: Any) -> None:
        if options["list"]:
            self._list(options["json"])
            return
        names = [_known(name) for name in options["only"]]
        names = names or [drill.name for drill in catalogue.DRILLS]
        try:
            report = _played(names, trials=options["trials"], logs=options["logs"])
        except errors.EmbeddedError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as interrupt:
            raise CommandError("Interrupted. Everything is stopped and removed.") from interrupt
        if options["json"] != output.STDOUT:
            for line in report.lines():
                self.stdout.write(line)
        output.write_json(report.told(), options["json"], self.stdout)
        if report.violations:
            sys.exit(1)

    def _list(self, to: str) -> None:
        if to != output.STDOUT:
            for drill in catalogue.DRILLS:
                self.stdout.write(f"{drill.name}\n    {drill.moment}\n    For: {drill.safeguard}")
        shown: list[Json] = [
            {"name": drill.name, "moment": drill.moment, "safeguard": drill.safeguard}
            for drill in catalogue.DRILLS
        ]
        output.write_json({"drills": shown}, to, self.stdout)


def _at_least_one(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return number


def _known(name: str) -> str:
    if catalogue.find(name) is None:
        names = [drill.name for drill in catalogue.DRILLS]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise CommandError(f"There is no drill {name!r}.{hint} See drill --list.", returncode=2)
    return name


def _played(names: list[str], *, trials: int, logs: str) -> Report:
    """Make the scratch services, have a process of its own conduct, and read its report."""
    with ExitStack() as stack:
        # The default action would leave the services behind.
        before = signal.signal(signal.SIGTERM, _told_to_stop)
        stack.callback(signal.signal, signal.SIGTERM, before)
        state = stack.enter_context(services.scratch())
        report = state / "report.json"
        line = [
            str(state),
            logs or str(state / "logs"),
            str(report),
            str(trials),
            str(random.SystemRandom().randrange(1_000_000)),
            *names,
        ]
        conductor = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-m", "signalbox.drills", *line],
            cwd=settings.BASE_DIR,
            env=_environment(state),
            stdout=sys.stderr.fileno(),
        )
        stack.callback(_end, conductor)
        if conductor.wait() != 0 or not report.exists():
            raise CommandError("The drill could not be played.")
        return Report.read(report.read_text())


def _environment(state: Path) -> Mapping[str, str]:
    path = os.environ.get("PYTHONPATH", "")
    return (
        dict(os.environ)
        | places.environment(state)
        | {
            "DJANGO_SETTINGS_MODULE": "signalbox.drills.settings",
            "DRILLS_ARMED": "",
            # Children of a fork server look nowhere else.
            "PYTHONPATH": os.pathsep.join(filter(None, (str(settings.BASE_DIR), path))),
        }
    )


def _told_to_stop(_: int, __: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; the rest is removing
    raise CommandError("The drill was told to stop. Everything is stopped and removed.")


def _end(conductor: subprocess.Popen[bytes]) -> None:
    """Have it stop what it has started; kill it if that takes too long."""
    if conductor.poll() is None:
        conductor.terminate()
        try:
            conductor.wait(STOPPING)
        except subprocess.TimeoutExpired:
            conductor.kill()
            conductor.wait()
