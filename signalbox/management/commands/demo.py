"""Run Signalbox with everything it needs on this machine, ready to be tried."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from signalbox.demo import ports, session
from signalbox.embedded import errors


class Command(BaseCommand):
    help = "Run the demo on embedded services until Ctrl-C."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reset", action="store_true", help="remove all that it has stored")
        parser.add_argument(
            "--port", type=_port, default=session.WEB_PORT, help="first port to try for the pages"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["reset"]:
                self._reset()
            else:
                session.run(
                    settings.STATE_DIR.resolve(),
                    settings.BASE_DIR,
                    first_port=options["port"],
                    say=self._say,
                    progress=self._progress,
                )
        except (errors.EmbeddedError, ports.NoFreePort, session.DemoError) as error:
            raise CommandError(str(error)) from error

    def _reset(self) -> None:
        state = settings.STATE_DIR.resolve()
        removed = session.reset(state)
        self._say(f"Removed {state}." if removed else "There is nothing to remove.")

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _progress(self, text: str) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"{text} …", str)  # plain: Django paints what goes here red


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= ports.LAST:
        raise ArgumentTypeError(f"{text} is no port. Choose one from 1 to {ports.LAST}.")
    return int(text)
