"""Prove the audit log, or name the entry that is wrong."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from accounts.actors import Actor
from audit import anchors, daily, verify
from audit.errors import AuditError
from audit.management import output


class Command(BaseCommand):
    help = (
        "Prove that no sealed entry of the audit log was altered, removed, added or moved, by its"
        " chain, its signatures and the anchors that were kept; or name each one that was."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        output.add_json_option(parser)
        parser.add_argument(
            "--noted",
            metavar="SEQ:HASH",
            type=_head,
            help="a head that an earlier run printed: the chain must go through it",
        )
        parser.add_argument(
            "--anchor",
            metavar="FILE",
            type=Path,
            action="append",
            default=[],
            help="anchors kept elsewhere, through which the chain must go; may be repeated",
        )

        parser.add_argument(
            "--record", action="store_true", help="record in the log that it was proved, or not"
        )

    def handle(
        self,
        *,
        json: str,
        noted: verify.Head | None,
        anchor: list[Path],
        record: bool,
        **options: object,
    ) -> None:
        try:
            also = [one for path in anchor for one in anchors.read(path)]
            report = verify.verify(noted, also=also, progress=self._progress)
        except AuditError as error:
            raise CommandError(str(error), returncode=2) from error
        except DatabaseError as error:
            first = str(error).partition("\n")[0]
            raise CommandError(
                f"The audit log cannot be read: {first}. Check DATABASE_URL, run manage.py"
                " migrate.",
                returncode=2,
            ) from error
        if record:
            daily.record(report, actor=Actor.command("verify_audit"))
        if json != output.STDOUT:
            self._say(report)
        output.write_json(
            {
                "ok": report.ok,
                "checked": report.checked,
                "signed": report.signed,
                "unsealed": report.unsealed,
                "anchors": report.anchors,
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
            f"The audit log {verdict}. {report.checked} entries are sealed, {report.signed} of"
            f" them signed, {report.unsealed} not sealed yet. Anchors met: {report.anchors}."
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
