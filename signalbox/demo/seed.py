"""The people and the first runs of the demo. Seeding again adds only what is missing.

There is something to do for everybody: refunds that wait for finance, one effect in doubt (the
carrier did not answer), and one run that an emergency stop keeps parked since. None of it is
written by hand: workers drive these runs like all others, and the provider misbehaves as `FAULTS`
say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db import transaction

from accounts import groups
from accounts.actors import Actor
from accounts.errors import AccountsError
from accounts.models import User
from ledger import stops
from ledger.errors import LedgerError
from ledger.models import Effect
from ledger.status import Status
from runs import admission
from runs.errors import RunsError
from runs.models import Run

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
    Person(name="Adi", groups=(groups.ADMIN,), does="admin: policies, and what an operator may"),
    Person(name="Dee", groups=(), does="may nothing"),
)

SLOW = "10366"
"""A refund below the limit, so nobody is asked, at a provider that answers late."""
SLOW_SECONDS = 20
TOOL, CARRIER = "carrier.collect", "bookings@carrier.example"
"""As in `agents.returns_desk.carrier`, which only workers load."""
DOUBTFUL, STOPPED = "10388", "10405"
"""Returns: the carrier's answer to the first is lost, so Ada stops bookings before the second."""
FAULTS = (
    {
        "match": {"path": "/v1/refunds", "order_id": SLOW},
        "fault": f"delay_after:{SLOW_SECONDS}",
    },
    {"match": {"to": CARRIER, "order_id": DOUBTFUL}, "fault": "drop_after"},
)
"""How the provider misbehaves, in this demo and for ever: see `agents.fakepay.faults`."""
RUNS = (
    ("refund_desk", "10377"),  # small: refunded without asking
    ("refund_desk", "10382"),
    ("refund_desk", "10391"),
    ("refund_workflow", "10410"),
    ("returns_desk", DOUBTFUL),
)
"""Agent and order. Some orders are left for people who want to start a refund themselves."""


def faults() -> list[str]:
    """`FAULTS`, each as fakepay takes it at its start."""
    return [json.dumps(fault) for fault in FAULTS]


def seed() -> None:
    """Have the people of the demo and, the first time, its runs."""
    people()
    for agent, order in RUNS:
        _start(agent, order)


def follow_up() -> bool:
    """What can only be seeded once a call is in doubt; False while it is not.

    Ada sees that the carrier is silent and stops bookings; then somebody else sends something back.
    """
    if Run.objects.filter(idempotency_key=_key(STOPPED)).exists():
        return True
    if not Effect.objects.filter(tool=TOOL, status=Status.IN_DOUBT).exists():
        return False
    try:
        if not stops.on().filter(name=TOOL).exists():
            stops.set("tool", TOOL, actor=_ada(), reason="The carrier does not answer.")
        _start("returns_desk", STOPPED)
    except (AccountsError, LedgerError, RunsError):
        pass  # somebody was quicker, or has taken rights away: then it is left out
    return True


def _start(agent: str, order: str) -> None:
    admission.start(agent, {"order_id": order}, actor=_ada(), key=_key(order))


def _key(order: str) -> str:
    return f"demo-{order}"


def _ada() -> Actor:
    return Actor.person(User.objects.get(email=PEOPLE[0].email), entry="demo")


def people() -> None:
    """Have everybody. Who exists already is left as they are: it may be somebody else."""
    with transaction.atomic():
        for person in PEOPLE:
            if not User.objects.filter(email=person.email).exists():
                user = User.objects.create_user(
                    person.email, PASSWORD, first_name=person.name, is_demo=True
                )
                user.groups.set(Group.objects.get_or_create(name=name)[0] for name in person.groups)
