"""What forbids sending anything of a run now, each with one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from ledger import stops
from ledger.models import Effect, Stop
from ledger.status import Status
from runs.models import Run
from runs.story import Notice, phrase, told

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
        told.append((_("the run ends"), _cancelled(run)))
    if doubtful is not None:
        told.append((_("{tool} is in doubt").format(tool=doubtful.tool), _doubtful(doubtful, user)))
    if run.read_only:
        told.append((_("the run is read-only"), _read_only()))
    told += [(_("an emergency stop is on"), _stopped(stop, run)) for stop in wide[:1]]
    return Holds(
        notices=tuple(notice for _why, notice in told),
        why=told[0][0] if told else "",
        tools={stop.name: _why(stop) for stop in found if stop.scope == Stop.Scope.TOOL},
    )


def _cancelled(run: Run) -> Notice:
    if run.cancelled_by:
        text = _("This run was cancelled by {person}: it ends instead of going on.")
    else:
        text = _("This run was cancelled: it ends instead of going on.")
    return Notice(tone="warn", text=told(text, person=run.cancelled_by))


def _doubtful(effect: Effect, user: User) -> Notice:
    may = user.has_perm(SETTLE)
    return Notice(
        tone="warn",
        text=told(
            _(
                "A call of {tool} is in doubt. Until somebody settles it, nothing of this run"
                " is sent."
            ),
            tool=effect.tool,
        ),
        url=reverse("ledger:effect", args=[effect.uid]),
        action=_("Settle the effect") if may else _("See the effect"),
    )


def _read_only() -> Notice:
    return Notice(
        tone="warn",
        text=phrase(
            _("This run is read-only since a deadline passed: it may go on, but sends nothing.")
        ),
    )


def _stopped(stop: Stop, run: Run) -> Notice:
    if stop.scope == Stop.Scope.EVERYTHING:
        text = _(
            "An emergency stop is on for everything, set by {person}: {reason}. Nothing is"
            " sent until it is lifted."
        )
    else:
        text = _(
            "An emergency stop is on for the agent {agent}, set by {person}: {reason}."
            " Nothing is sent until it is lifted."
        )
    return Notice(
        tone="warn",
        text=told(text, agent=run.agent, person=stop.set_by, reason=stop.reason.rstrip(".")),
        url=reverse("ledger:stops"),
        action=_("Emergency stops"),
    )


def _why(stop: Stop) -> str:
    return _("an emergency stop for it is on, set by {person}: {reason}").format(
        person=stop.set_by, reason=stop.reason.rstrip(".")
    )
