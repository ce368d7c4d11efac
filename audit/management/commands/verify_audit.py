"""Prove the audit log, or name the entry that is wrong."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from audit import verify
from audit.management import output


class Command(BaseCommand):
    help = "Prove that no sealed entry of the audit log was altered, removed, added or moved."

    def add_arguments(self, parser: CommandParser) -> None:
        output.add_json_option(parser)
        parser.add_argument(
            "--noted",
            metavar="SEQ:HASH",
            type=_head,
            help="a head that an earlier run printed: the chain must go through it",
        )

    def handle(self, *, json: str, noted: verify.Head | None, **options: object) -> None:
        try:
            report = verify.verify(noted, progress=self._progress)
        except DatabaseError as error:
            first = str(error).partition("\n")[0]
            raise CommandError(
                f"The audit log cannot be read: {first}. Check DATABASE_URL, run manage.py migrate."
            ) from error
        if json != output.STDOUT:
            self._say(report)
        output.write_json(
            {
                "ok": report.ok,
                "checked": report.checked,
                "unsealed": report.unsealed,
                "problems": [dataclasses.asdict(problem) for problem in report.problems],
                "head": dataclasses.asdict(report.head) if report.head else None,
            },
            json,
            self.stdout,
        )
        if not report.ok:
            sys.exit(1)

    def _say(self, report: verify.Report) -> None:
        for problem in report.problems:
            self.stdout.write(problem.what)
        verdict = "is intact" if report.ok else f"is NOT intact: {len(report.problems)} problems"
        self.stdout.write(
            f"The audit log {verdict}. {report.checked} entries are sealed, "
            f"{report.unsealed} not yet."
        )
        if report.head:
            noted = f"{report.head.seq}:{report.head.hash}"
            self.stdout.write(f"Keep this elsewhere and hand it in next time: --noted {noted}")

    def _progress(self, checked: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{checked} entries", ending="")


def _head(text: str) -> verify.Head:
    if not re.fullmatch(r"[0-9]+:[0-9a-f]{64}", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not SEQ:HASH as verify_audit prints it, such as 120:9f86…"
        )
    seq, _, seal_hash = text.partition(":")
    return verify.Head(seq=int(seq), hash=seal_hash)
