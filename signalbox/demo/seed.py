"""The people and the first runs of the demo. Seeding again adds only what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db import transaction

from accounts import groups
from accounts.actors import Actor
from accounts.models import User
from runs import admission

PASSWORD = "signalbox-demo"  # noqa: S105  (printed in the banner; worthless outside demo mode)
FINANCE = "finance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody of the demo: what they are for, and the groups that let them."""

    name: str
    groups: tuple[str, ...]
    does: str

    @property
    def email(self) -> str:
        return f"{self.name.lower()}@demo.example"


PEOPLE = (
    Person(name="Ada", groups=(groups.OPERATOR,), does="operator: starts and unsticks runs"),
    Person(name="Ben", groups=(groups.APPROVER, FINANCE), does="approver in finance"),
    Person(name="Bea", groups=(groups.APPROVER, FINANCE), does="approver in finance"),
    Person(name="Cy", groups=(groups.AUDITOR,), does="auditor: reads what happened"),
    Person(name="Adi", groups=(groups.ADMIN,), does="admin: accounts and policies"),
    Person(name="Dee", groups=(), does="may nothing"),
)

RUNS = (
    ("refund_desk", "10377"),  # small: refunded without asking
    ("refund_desk", "10382"),
    ("refund_desk", "10391"),
    ("refund_workflow", "10410"),
)
"""Agent and order. Some orders are left for people who want to start a refund themselves."""


def seed() -> None:
    """Have the people of the demo and, the first time, its runs."""
    people()
    ada = Actor.person(User.objects.get(email=PEOPLE[0].email), entry="demo")
    for agent, order in RUNS:
        admission.start(agent, {"order_id": order}, actor=ada, key=f"demo-{order}")


def people() -> None:
    """Have everybody. Who exists already is left as they are: it may be somebody else."""
    with transaction.atomic():
        for person in PEOPLE:
            if not User.objects.filter(email=person.email).exists():
                user = User.objects.create_user(
                    person.email, PASSWORD, first_name=person.name, is_demo=True
                )
                user.groups.set(Group.objects.get_or_create(name=name)[0] for name in person.groups)
