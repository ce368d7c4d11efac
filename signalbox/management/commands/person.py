"""`manage.py person EMAIL`: make or change an account and its groups."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.actors import Actor
from signalbox import people


class Command(BaseCommand):
    """Exit status 0 if the account is as asked, 1 if it was refused; 2 for wrong usage."""

    help = (
        "Make or change an account and its groups. What is not named stays as it is."
        " The groups operator, approver, auditor and admin have rights; others are for policies."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the address with which the person signs in")
        parser.add_argument("--name", help="how pages and the audit log call them")
        parser.add_argument(
            "--groups", metavar="A,B", help="exactly these groups; an empty text: none"
        )
        parser.add_argument(
            "--make-groups", action="store_true", help="make groups that do not exist yet"
        )
        state = parser.add_mutually_exclusive_group()
        state.add_argument(
            "--deactivate",
            dest="active",
            action="store_false",
            default=None,
            help="nobody signs in with it any more; sessions end at once",
        )
        state.add_argument(
            "--activate", dest="active", action="store_true", default=None, help="the opposite"
        )
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="set the password: the first line of stdin, asked for on a terminal",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        groups = options["groups"]
        wish = people.Wish(
            name=options["name"],
            groups=None if groups is None else _split(groups),
            active=options["active"],
            password=_password() if options["password_stdin"] else None,
        )
        try:
            done = people.change(
                options["email"],
                wish,
                actor=Actor.command("person"),
                make_groups=options["make_groups"],
            )
        except people.BadPerson as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(_said(done))


def _split(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Once more: ") != password:
        raise CommandError("The two passwords differ. Nothing was changed.")
    return password


def _said(done: people.Done) -> str:
    user = done.user
    what = "made" if done.made else "changed" if done.changes else "as asked already"
    groups = ", ".join(user.groups.order_by("name").values_list("name", flat=True))
    notes = [
        f"groups: {groups or 'none, so they may do nothing'}",
        *(["deactivated"] if not user.is_active else []),
        *(
            ["no password: set one with --password-stdin"]
            if user.is_active and not user.has_usable_password()
            else []
        ),
    ]
    name = f" ({user.get_full_name()})" if user.get_full_name() else ""
    return f"{user.email}{name} is {what}; {'; '.join(notes)}."
