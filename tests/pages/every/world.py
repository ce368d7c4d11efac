"""One Signalbox with something of everything, in which every page has something to show.

A page of the table names what it is about; here that name has the arguments of its address. To give
a new page something to show, add it to the file of its area, under a new name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings

from accounts.actors import Actor
from accounts.models import SavedView, User
from audit import seal, trail
from audit.verbs import VERBS
from tests.pages.every import of_effects, of_requests, of_runs
from tests.support import driven
from tests.support.people import person

SHAPES = (
    *("batched", "batched_four", "per_call", "inbox", "ours", "plain"),
    *("typed_bool", "typed_names", "typed_model", "typed_every_kind"),
)
"""Agents of tests.support.agents: one or two for each shape of question."""
REFUNDS = {
    "name": "small refunds",
    "agent": "refund_desk",
    "group": "finance",
    "deadline": timedelta(hours=24),
    "risk": "low",
    "bulk": True,
    "editable": ["amount_cents"],
    "reject_reasons": ["Wrong amount", "No receipt"],
    "summary": "Refund {amount} for order {args.order_id}",
    "masked": ["args.iban: treasury"],
}
DEFAULT = {
    "name": "default",
    "group": "finance",
    "groups": ["legal"],
    "deadline": timedelta(hours=1),
    "editable": driven.EDITABLE,
    "reauthenticate_within": timedelta(minutes=10),
}
CHANGED = {
    "RUNS_SWEEP_RULES": [],
    "RUNS_AGENTS": [
        *settings.RUNS_AGENTS,
        *(
            {
                "name": name,
                "graph": f"tests.support.agents.{name}",
                "version": "1",
                "title": f"Ask in the way of {name}",
            }
            for name in SHAPES
        ),
    ],
    "APPROVALS_POLICIES": [REFUNDS],
    "APPROVALS_DEFAULT": DEFAULT,
    "LEDGER_HOOK_SECRETS": {"fakepay": ["s" * 20]},
    # A proof of identity must not run out while all pages are looked at.
    "ACCOUNT_REAUTHENTICATION_TIMEOUT": 3600,
}


@dataclass(slots=True)
class World:
    """Who is in it, and by name what the addresses of its pages take."""

    people: dict[str, User] = field(default_factory=dict)
    of: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # Any: arguments of `reverse`

    def put(self, name: str, *args: Any) -> None:
        if name in self.of:
            raise ValueError(f"two things are called {name}")
        self.of[name] = args


@contextmanager
def built() -> Iterator[World]:
    """The world, as long as it is needed; the database must be open, and empty."""
    with (
        pytest.MonkeyPatch.context() as patch,
        override_settings(**CHANGED),
        driven.agents_listened_to(patch),
    ):
        world = World(people=_people())
        of_runs.add(world)
        of_requests.add(world, SHAPES)
        of_effects.add(world)
        _the_rest(world)
        yield world


def _people() -> dict[str, User]:
    """Ada operates, Ben and Eve approve, Cy audits, Rut administers, Fay has a passkey."""
    return {
        "Ada": person("Ada", last_name="Marsh"),
        "Ben": person("Ben", "finance"),
        "Eve": person("Eve", "finance", "approver"),
        "Cy": person("Cy"),
        "Rut": person("Rut", "finance", is_staff=True),
        "Fay": person("Fay", "finance", "approver"),
        "Dee": person("Dee"),
    }


def _the_rest(world: World) -> None:
    """Saved filters, and one entry of every kind in the audit log."""
    ada = world.people["Ada"]
    for path, query in (("/runs/", "status=failed"), ("/ledger/", "status=in_doubt")):
        view = SavedView.objects.create(owner=ada, path=path, query=query, name="Mine", shared=True)
        world.put(f"view of {path}", view.pk)
    actor, (run_id,) = Actor.person(ada, entry="page"), world.of["waiting"]
    for verb in VERBS:
        trail.record(
            verb,
            actor=actor,
            target=(verb.partition(".")[0], str(run_id)),
            run_id=run_id,
            reason="Because it was asked for.",
            data={"note": "x" * 80, "more": {"a": [1, 2.5, None]}},
        )
    seal.seal()
    trail.record("run.started", actor=actor, target=("run", "not sealed yet"))
