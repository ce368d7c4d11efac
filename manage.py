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
    "demo",  # starts them itself, in the state folder of the demo
    "diffsettings",
    "drill",  # starts its own, to be killed and thrown away
    "findstatic",
    "help",
    "makemessages",
    "services",
    "version",
}


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.settings")
    asks_for_help = len(sys.argv) < 2 or sys.argv[1].startswith("-") or "--help" in sys.argv
    if not asks_for_help and sys.argv[1] not in NEEDS_NO_SERVICES:
        try:
            services.use(settings.STATE_DIR)
        except (errors.EmbeddedError, ImproperlyConfigured) as error:
            sys.stderr.write(f"{error}\n")
            return 1
    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
