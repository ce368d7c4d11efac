"""Write the head of the audit log down where the database's owner cannot change it."""

from __future__ import annotations

from dataclasses import asdict

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.actors import Actor
from audit import anchors
from audit.errors import AuditError
from audit.management import output


class Command(BaseCommand):
    help = "Sign the head of the audit log and write it to AUDIT_ANCHOR_FILE, mail and webhook."

    def add_arguments(self, parser: CommandParser) -> None:
        output.add_json_option(parser)
        parser.add_argument(
            "--accept-unsigned",
            action="store_true",
            help="vouch for what was sealed without a key until now; needs --reason",
        )
        parser.add_argument("--reason", default="", help="why; recorded")

    def handle(self, *, json: str, accept_unsigned: bool, reason: str, **options: object) -> None:
        if accept_unsigned and not reason.strip():
            raise CommandError("Say why you vouch for what nobody signed: --reason.", returncode=2)
        try:
            made = anchors.make(
                actor=Actor.command("anchor"), accept_unsigned=accept_unsigned, reason=reason
            )
        except AuditError as error:
            raise CommandError(str(error)) from error
        if json != output.STDOUT:
            self.stdout.write(f"Anchored at place {made.seq}: {made.line.decode().strip()}")
        output.write_json({**asdict(made)}, json, self.stdout)
