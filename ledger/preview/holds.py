"""What forbids sending anything of a run now, each with one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse

from accounts.models import User
from ledger import stops
from ledger.models import Effect, Stop
from ledger.status import Status
from runs.models import Run
from runs.story import Notice, phrase

SETTLE = "ledger.settle_effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """What holds the run as a whole, and stops of single tools."""

    notices: tuple[Notice, ...]
    why: str
    """Why nothing of this run is sent; empty: it is."""
    tools: dict[str, str]
    """Tools that are stopped by name, and why."""

    def of(self, tool: str) -> str:
        """Why this tool may not be called; empty: it may."""
        return self.why or self.tools.get(tool, "")


def on(run: Run, user: User) -> Holds:
    """Two queries."""
    doubtful = Effect.objects.filter(run=run, status=Status.IN_DOUBT).order_by("created_at").first()
    found = list(
        stops.on().filter(
            Q(scope=Stop.Scope.EVERYTHING)
            | Q(scope=Stop.Scope.AGENT, name=run.agent)
            | Q(scope=Stop.Scope.TOOL)
        )
    )
    wide = [stop for stop in found if stop.scope != Stop.Scope.TOOL]
    told: list[tuple[str, Notice]] = []
    if run.cancel_asked_at is not None:
        told.append(("the run ends", _cancelled(run)))
    if doubtful is not None:
        told.append((f"{doubtful.tool} is in doubt", _doubtful(doubtful, user)))
    if run.read_only:
        told.append(("the run is read-only", _read_only()))
    told += [("an emergency stop is on", _stopped(stop, run)) for stop in wide[:1]]
    return Holds(
        notices=tuple(notice for _, notice in told),
        why=told[0][0] if told else "",
        tools={stop.name: _why(stop) for stop in found if stop.scope == Stop.Scope.TOOL},
    )


def _cancelled(run: Run) -> Notice:
    by = f" by {run.cancelled_by}" if run.cancelled_by else ""
    return Notice(
        tone="warn", text=phrase(f"This run was cancelled{by}: it ends instead of going on.")
    )


def _doubtful(effect: Effect, user: User) -> Notice:
    may = user.has_perm(SETTLE)
    return Notice(
        tone="warn",
        text=phrase(
            f"A call of {effect.tool} is in doubt. Until somebody settles it, nothing of this run"
            " is sent."
        ),
        url=reverse("ledger:effect", args=[effect.uid]),
        action="Settle the effect" if may else "See the effect",
    )


def _read_only() -> Notice:
    return Notice(
        tone="warn",
        text=phrase(
            "This run is read-only since a deadline passed: it may go on, but sends nothing."
        ),
    )


def _stopped(stop: Stop, run: Run) -> Notice:
    what = "everything" if stop.scope == Stop.Scope.EVERYTHING else f"the agent {run.agent}"
    return Notice(
        tone="warn",
        text=phrase(
            f"An emergency stop is on for {what}, set by {stop.set_by}: {stop.reason.rstrip('.')}."
            " Nothing is sent until it is lifted."
        ),
        url=reverse("ledger:stops"),
        action="Emergency stops",
    )


def _why(stop: Stop) -> str:
    return f"an emergency stop for it is on, set by {stop.set_by}: {stop.reason.rstrip('.')}"
