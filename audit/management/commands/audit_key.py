"""Show the public keys that verify exports and anchors, or make a new signing key."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import signing
from audit.canonical import Json
from audit.errors import NoSigningKey
from audit.management import output


class Command(BaseCommand):
    help = "Show the public keys that verify what Signalbox signs; with --new make a signing key."

    def add_arguments(self, parser: CommandParser) -> None:
        output.add_json_option(parser)
        parser.add_argument("--new", action="store_true", help="make a key, and keep it nowhere")

    def handle(self, *, json: str, new: bool, **options: object) -> None:
        if new:
            private, public = signing.make()
            self.stdout.write(f"AUDIT_SIGNING_KEY={private}")
            self.stderr.write(
                f"A new key. Its public half is {public.text}. Set the line above for all processes"
                " and keep it secret; add the public half of the former key to AUDIT_PUBLIC_KEYS."
            )
            return
        try:
            own = signing.own()
        except NoSigningKey as error:
            raise CommandError(str(error)) from error
        others = [key for key in signing.known().values() if key.id != own.id]
        if json != output.STDOUT:
            self.stdout.write(f"Signs now:  {own.text}  (key {own.id})")
            for key in others:
                self.stdout.write(f"Counts too: {key.text}  (key {key.id})")
        shown: list[Json] = [
            {"id": key.id, "public": key.text, "signs": key is own} for key in (own, *others)
        ]
        output.write_json({"keys": shown}, json, self.stdout)
