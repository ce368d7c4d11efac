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

RUNS: tuple[tuple[str, dict[str, object]], ...] = (
    ("refund_desk", {"order_id": "A-1001"}),
    ("refund_desk", {"order_id": "A-1002"}),
    ("refund_desk", {"order_id": "A-1003"}),
    ("refund_workflow", {"order_id": "A-1004"}),
)


def seed() -> None:
    """Have the people of the demo and, the first time, its runs."""
    people()
    for agent, given in RUNS:
        key = f"demo-{agent}-{given['order_id']}"
        admission.start(agent, given, actor=_ada(), key=key)


def people() -> None:
    """Have everybody, with the demo's password and exactly the groups of the table above."""
    with transaction.atomic():
        for person in PEOPLE:
            _person(person)


def _person(person: Person) -> None:
    user = User.objects.filter(email=person.email).first()
    if user is None:
        user = User.objects.create_user(
            person.email, PASSWORD, first_name=person.name, is_demo=True
        )
    members = [Group.objects.get_or_create(name=name)[0] for name in person.groups]
    user.groups.set(members)


def _ada() -> Actor:
    return Actor.person(User.objects.get(email=PEOPLE[0].email), entry="demo")
