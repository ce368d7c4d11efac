"""Check an export against the keys that this installation knows."""

from __future__ import annotations

import sys

from django.core.management.base import BaseCommand, CommandParser

from audit import signing
from audit.canonical import Json
from audit.exports import verify_export
from audit.management import output


class Command(BaseCommand):
    help = "Prove that an export is what this installation handed out, or say what is wrong."

    def add_arguments(self, parser: CommandParser) -> None:
        output.add_json_option(parser)
        parser.add_argument("file", help="the .zip that was downloaded")
        parser.add_argument(
            "--key",
            metavar="PUBLIC_KEY",
            action="append",
            default=[],
            help="a public key that counts too; may be repeated",
        )

    def handle(self, *, json: str, file: str, key: list[str], **options: object) -> None:
        keys = [known.text for known in signing.known().values()]
        result: dict[str, Json] = {"ok": True, "problem": None, "manifest": None}
        try:
            manifest = verify_export.check(file, [*keys, *key])
            says = f"The export is intact: {manifest['file']['rows']} rows."
            result["manifest"] = manifest
        except verify_export.Wrong as wrong:
            says = str(wrong)
            result |= {"ok": False, "problem": says}
        if json != output.STDOUT:
            self.stdout.write(says)
        output.write_json(result, json, self.stdout)
        if not result["ok"]:
            sys.exit(1)
