"""`manage.py start AGENT --input JSON [--key K]`: accept a run and print its id."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.actors import Actor
from accounts.errors import AccountsError
from runs import admission, errors


class Command(BaseCommand):
    """Exit status 0 and the run's id on stdout; 1 if it was refused; 2 for wrong usage."""

    help = "Accept a run for an agent and print its id. A worker drives it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", help="name of a registered agent")
        parser.add_argument("--input", required=True, help="the graph's input, as JSON")
        parser.add_argument("--key", help="the same key again returns the first run")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            given = admission.read(options["input"])
        except errors.BadInput as exc:
            raise CommandError(f"--input: {exc}", returncode=2) from exc
        try:
            run = admission.start(
                options["agent"], given, actor=Actor.command("start"), key=options["key"]
            )
        except (errors.RunsError, AccountsError) as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write(str(run.id))
