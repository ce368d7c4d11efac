#!/usr/bin/env python
"""Run one of Signalbox's commands, on the embedded services where no others are configured."""

from __future__ import annotations

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from signalbox.embedded import errors, services

NEEDS_NO_SERVICES = {
    "check",
    "collectstatic",
    "compilemessages",
    "demo",  # starts them itself
    "diffsettings",
    "drill",  # starts its own, to be killed and thrown away
    "findstatic",
    "help",
    "makemessages",
    "services",  # starts them itself
    "translations",
    "version",
}
DEMO = {"DATABASE_URL": "", "BROKER_URL": "", "SIGNALBOX_DEMO": "1"}
"""The demo fills a database with people whose password is known: never one that is configured."""


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command == "demo":
        os.environ.update(DEMO)
    try:
        if not (command in NEEDS_NO_SERVICES or command.startswith("-") or "--help" in sys.argv):
            services.use(settings.STATE_DIR)
        execute_from_command_line(sys.argv)
    except (errors.EmbeddedError, ImproperlyConfigured) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
