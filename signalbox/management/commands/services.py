"""Run the embedded services by themselves, or say where they are."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from signalbox.embedded import errors, places, postgres, services, valkey


class Command(BaseCommand):
    help = "Hold the embedded services until Ctrl-C (up), or say how they are (status)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["up", "status"])

    def handle(self, *args: object, **options: object) -> None:
        if options["action"] == "status":
            self._status()
        else:
            self._up()

    def _up(self) -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        try:
            services.use(settings.STATE_DIR)
        except errors.EmbeddedError as error:
            raise CommandError(str(error)) from error
        self._say_addresses()
        self.stdout.write("Running until Ctrl-C.")
        try:
            signal.pause()
        except KeyboardInterrupt:
            self.stdout.write("")

    def _status(self) -> None:
        self._say_addresses()
        for name, configured, ready in (
            ("database", settings.DATABASE_URL, postgres.ready),
            ("broker", settings.BROKER_URL, valkey.ready),
        ):
            if configured:
                word = "not embedded"
            else:
                word = "running" if ready(settings.STATE_DIR) else "stopped"
            self.stdout.write(f"{name}: {word}")

    def _say_addresses(self) -> None:
        if not settings.DATABASE_URL:
            self.stdout.write(f"DATABASE_URL={places.database_url(settings.STATE_DIR)}")
        if not settings.BROKER_URL:
            self.stdout.write(f"BROKER_URL={places.broker_url(settings.STATE_DIR)}")
