"""Stamps: short texts that change when a page may have. Reading one is far cheaper than the page.

1. What pages are about has stamps of its own: one run; what is asked of people; all runs. So that
   a page of one run is not made anew because another has changed.
2. Whatever is written changes the stamp of all runs. A table that belongs to a run is found by its
   foreign keys, and then changes no page of another run. What belongs to none, such as people,
   groups, policies and stops, changes every stamp.
3. Stamps are read at most once in FRESH seconds in a process: one statement for all of them
   (sql/stamp.sql), and one for each run whose page is open (sql/stamp_of_run.sql). The latter looks
   at the rows. The former takes PostgreSQL's word for how many were written, up to ten seconds
   late, and looks at the newest audit entries, which count at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from django.apps import apps
from django.core.cache import caches
from django.db import DatabaseError, connection
from django.db.models import Model

from runs import dispatch, signs, standing, statements, workers
from runs.fleet import health
from runs.models import Intervention, Run

FRESH = 1
"""Seconds for which a stamp is not read again."""
BEATING = (
    *("runs_lease", "runs_worker", "runs_pulse", "ledger_toolbox", "ledger_pace"),
    *("django_session", "usersessions_usersession", "signalbox_cache"),
)
"""Tables that are written to all the time and tell nothing by that."""
CHECKPOINTS = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
"""LangGraph's tables, which belong to runs without saying so."""
TOLD = ("audit_entry", "audit_seal", "audit_signature", "audit_anchor")
"""They grow with whatever is told; pages of one run show their own entries."""
OVERVIEW, LIST = "/", "/runs/"
ALL_RUNS = (OVERVIEW, LIST)
"""Lists of all runs. The list says when leases end and what their holders do; the overview, only
that no step has moved."""
ASKED = ("/approvals/", "/me/waiting/")
"""What is asked of people, as a list and as a number."""
OF_RUN = re.compile(r"^/runs/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamps:
    """Each changes with what it is named after."""

    everything: str
    apart: str
    """What belongs to no run."""
    asked: str
    """What is asked of people, and what belongs to no run."""
    beats: str
    """Leases, with every beat."""
    still: str
    """Leases in which no step has moved for so long that the run may have stalled."""

    def of(self, path: str) -> str:
        """Changes when the page there may have; empty if the database does not say."""
        if path in ALL_RUNS:
            return f"{self.everything} {self.beats if path == LIST else self.still}"
        if path in ASKED:
            return self.asked
        of_run = OF_RUN.match(path)
        if of_run is None:
            return self.everything
        own = _kept(f"stamp-{of_run[1]}", lambda: _of_run(of_run[1]))
        return f"{self.apart} {own}" if own is not None else ""


def now() -> Stamps | None:
    """None if the database does not say."""
    return _kept("stamps", _read)


def of(path: str) -> str:
    """Changes when the page there may have; empty if the database does not say."""
    stamps = now()
    return stamps.of(path) if stamps else ""


def ask(name: str, **params: Any) -> list[tuple[Any, ...]] | None:
    """The rows that a statement of ours returns; None if the database does not say."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statements.read("signalbox", name), params)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
    except DatabaseError:
        return None
    return rows


@cache
def of_runs() -> frozenset[str]:
    """The tables that belong to runs, by foreign keys from one to the next, and LangGraph's."""
    found: set[type[Model]] = {Run}
    known = 0
    while known != len(found):
        known = len(found)
        found |= {
            model
            for model in apps.get_models(include_auto_created=True)
            if any(field.related_model in found for field in model._meta.concrete_fields)
        }
    return frozenset({model._meta.db_table for model in found} | {*CHECKPOINTS})


def _asked() -> list[str]:
    """The tables from which the lists of approvals are made, of those that belong to runs."""
    ours = {model._meta.db_table for model in apps.get_app_config("approvals").get_models()}
    return sorted(of_runs() & (ours | {Intervention._meta.db_table}))


def _kept(name: str, read: Callable[[], Found | None]) -> Found | None:
    """What `read` says, or said less than FRESH seconds ago."""
    kept: Found | None = caches["polls"].get(name)
    if kept is None:
        kept = read()
        if kept is not None:
            caches["polls"].set(name, kept, FRESH)
    return kept


def _read() -> Stamps | None:
    rows = ask(
        "stamp",
        beating=list(BEATING),
        of_runs=[*of_runs(), *TOLD],
        asked=_asked(),
        alive_for=workers.alive_for(),
        late_after=signs.LATE,
        long=health.LONG,
        stall_after=standing.soonest_stall(),
    )
    if rows is None:
        return None
    ((everything, apart, asked, beats, still),) = rows
    there = dispatch.reachable()
    return Stamps(
        everything=f"{everything}.{there}",
        apart=f"{apart}.{there}",
        asked=f"{asked}.{there}",
        beats=str(beats),
        still=str(still),
    )


def _of_run(run_id: str) -> str | None:
    rows = ask("stamp_of_run", run=run_id)
    return rows[0][0] if rows else None
