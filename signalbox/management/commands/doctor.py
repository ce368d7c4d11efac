"""`manage.py doctor`: each part in order, or what to do."""

from __future__ import annotations

import dataclasses
import sys

from django.core.management.base import BaseCommand, CommandParser

from audit.management import output
from signalbox import doctor


class Command(BaseCommand):
    """Exit status 0 if everything is in order, 1 if something is not."""

    help = "Examine database, saver tables, strict resume, broker, beat, leases and settings."
    requires_system_checks = ()  # the doctor reports what they find

    def add_arguments(self, parser: CommandParser) -> None:
        output.add_json_option(parser)

    def handle(self, *, json: str, **_: object) -> None:
        findings = []
        for finding in doctor.examine():
            findings.append(finding)
            if json != output.STDOUT:
                mark = "ok  " if finding.ok else "TODO"
                said = f"{mark} {finding.part}: {finding.says.rstrip('.')}"
                self.stdout.write(said if finding.ok else f"{said}. {finding.todo}")
        well = all(finding.ok for finding in findings)
        output.write_json(
            {
                "ok": well,
                "findings": [dataclasses.asdict(each) | {"ok": each.ok} for each in findings],
            },
            json,
            self.stdout,
        )
        if not well:
            sys.exit(1)
