"""Take away what ended runs need no longer, as far as settings ask for it; or say what would go."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.actors import Actor
from audit.canonical import Json
from audit.management import output
from runs import ports
from runs.retention import passes
from runs.retention.passes import Due


class Command(BaseCommand):
    help = (
        "Erase payloads and checkpoints of runs that ended long ago, as the settings *_KEEP_*_DAYS"
        " ask for it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--dry-run", action="store_true", help="only say what would go")
        what.add_argument("--apply", action="store_true", help="erase it; there is no way back")
        kinds = [each.kind for each in ports.keepers()]
        parser.add_argument("--only", choices=kinds, default="", help="this class alone")
        output.add_json_option(parser)

    def handle(self, *, dry_run: bool, only: str, json: str, **_: object) -> None:
        if not passes.configured(only):
            raise CommandError(
                "No age is set, so everything is kept. Set RUNS_KEEP_HISTORY_DAYS,"
                " RUNS_KEEP_STATES_DAYS, RUNS_KEEP_PAYLOADS_DAYS, LEDGER_KEEP_PAYLOADS_DAYS or"
                " APPROVALS_KEEP_PAYLOADS_DAYS."
            )
        if dry_run:
            self._would(passes.due(only), json)
        else:
            self._apply(only, json)

    def _would(self, due: list[Due], json: str) -> None:
        for each in due if json != output.STDOUT else ():
            self.stdout.write(
                f"{each.label}, {each.days:g} day{'s' * (each.days != 1)} after the end:"
                f" {each.runs} runs, {each.rows} rows, {each.bytes} bytes"
            )
            if each.oldest and each.newest:
                self.stdout.write(
                    f"  ended from {each.oldest:%Y-%m-%d} to {each.newest:%Y-%m-%d};"
                    f" such as {', '.join(each.examples)}"
                )
        output.write_json(
            {"applied": False, "due": [_plain(each) for each in due]}, json, self.stdout
        )

    def _apply(self, only: str, json: str) -> None:
        gone = passes.apply(actor=Actor.command("retain"), only=only)
        for kind, done in gone.items() if json != output.STDOUT else ():
            self.stdout.write(
                f"{kind}: {done.runs} runs, {done.rows} rows, {done.bytes} bytes erased"
            )
        if not gone and json != output.STDOUT:
            self.stdout.write("Nothing was due.")
        erased: dict[str, Json] = {
            kind: {"runs": done.runs, "rows": done.rows, "bytes": done.bytes}
            for kind, done in gone.items()
        }
        output.write_json({"applied": True, "erased": erased}, json, self.stdout)


def _plain(due: Due) -> Json:
    return {
        "kind": due.kind,
        "days": due.days,
        "runs": due.runs,
        "rows": due.rows,
        "bytes": due.bytes,
        "oldest": due.oldest.isoformat() if due.oldest else None,
        "newest": due.newest.isoformat() if due.newest else None,
        "examples": list(due.examples),
    }
