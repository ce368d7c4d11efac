"""The sweeper: finds what nobody looks at, and rings. It reads and rings, and drives nothing.

1. One catch-all rule finds every run that is due and has no live lease, whatever brought it there.
2. Rules of the layers above (named in RUNS_SWEEP_RULES) fire deadlines and doubtful effects.
3. Two sweepers do no harm. A rule that raises does not keep the others from their turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop as noop

from runs import dispatch, statements, workers
from runs.models import Pulse, Run

logger = logging.getLogger(__name__)

MOST = 200
"""Runs rung for in one pass, oldest first."""


def sweep() -> None:
    """One pass over every rule."""
    done: dict[str, object] = {}
    failed = []
    for name, rule in _rules():
        try:
            done[name] = rule()
        except Exception:
            logger.exception("sweep rule %s failed", name)
            failed.append(name)
    rang = done.pop("runs", 0)
    did = sum(count for count in done.values() if isinstance(count, int))
    note = {"rang": rang, "did": did, "failed": failed}
    Pulse.objects.update_or_create(name="sweeper", defaults={"at": Now(), "note": note})


def ring_due() -> int:
    """Ring for every run that is due and that nobody drives; how many the broker took.

    Where only some workers have a run's version, one of them is rung: each that has not would take
    the lease and hand the run on, pass after pass, while the right one is busy.
    """
    due = find_due()
    runs = Run.objects.filter(pk__in=due).values_list("pk", "agent", "agent_version")
    wanted = {run_id: (agent, version) for run_id, agent, version in runs}
    offers = workers.Offers.now() if due else workers.Offers({})
    rung = 0
    for run_id in due:
        if not dispatch.ring_now(
            run_id, cause=noop("found by the sweeper"), to=offers.only(*wanted[run_id])
        ):
            break  # the broker is away; the next pass tries again
        rung += 1
    return rung


def find_due() -> list[UUID]:
    return [run_id for run_id, _ in due()]


def due() -> list[tuple[UUID, datetime]]:
    """Up to MOST runs that are due and that nobody drives, each with when it last changed."""
    with connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "find_due"), {"most": MOST})
        found: list[tuple[UUID, datetime]] = cursor.fetchall()
    return found


def _rules() -> list[tuple[str, Callable[[], object]]]:
    above = [(name, import_string(name)) for name in settings.RUNS_SWEEP_RULES]
    return [*above, ("runs", ring_due)]
