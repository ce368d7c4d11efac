"""What somebody is expected to do about a run now, as notices above its pages."""

from __future__ import annotations

from django.urls import reverse

from accounts.models import User
from runs import fleet, offers, ports
from runs.models import Run
from runs.queries import Row
from runs.status import PARKS, Park, Status
from runs.story import Notice, phrase


def of(row: Row, user: User) -> list[Notice]:
    """The most pressing first."""
    run = row.run
    told = [notice for story in ports.stories() if (notice := story.notice(run, user))]
    if run.cancel_asked_at and not run.ended:
        text = phrase(f"{run.cancelled_by} asked to cancel ", run.cancel_asked_at)
        why = phrase(f": {run.cancel_reason.rstrip('.')}. It ends at its next step.")
        told.append(Notice(tone="neutral", text=text + why))
    if run.status == Status.PARKED and run.park_reason not in _TOLD_ABOVE:
        told.append(_parked(run, user))
    if row.standing.stuck or row.standing.stalled:
        told.append(_still(row, user))
    if run.status == Status.FAILED:
        told.append(Notice(tone="bad", text=phrase(f"{run.error_class}: {run.error}")))
    if run.ended:
        told += _erased(run)
    return told


def _erased(run: Run) -> list[Notice]:
    """What retention has taken away of it."""
    labels = {keeper.kind: keeper.label for keeper in ports.keepers()}
    gone = list(run.erasures.order_by("at", "pk"))
    if not gone:
        return []
    named = ", ".join(labels.get(each.kind, each.kind).lower() for each in gone)
    text = phrase(f"Erased because the run ended long ago: {named}; last ", gone[-1].at, ".")
    return [Notice(tone="neutral", text=text)]


_TOLD_ABOVE = (Park.EFFECT_IN_DOUBT, Park.EMERGENCY_STOP, Park.DRIFT)
"""Reasons for being parked that the ledger explains, with the way to what it waits for."""


def _parked(run: Run, user: User) -> Notice:
    park = PARKS[run.park_reason]
    control = offers.answer_to_park(user, run)
    return Notice(
        tone=park.tone,
        text=phrase(f"{park.label}. {park.sentence}", f" {run.park_detail}"),
        url=reverse(control.route, args=[run.pk]) if control else "",
        action=f"{control.label}…" if control else "",
    )


def _still(row: Row, user: User) -> Notice:
    state = row.standing.main.state
    if row.standing.stalled:
        text = f"{state.sentence} If it hangs it is given up; stopping that worker is quicker."
        return Notice(
            tone=state.tone,
            text=phrase(text),
            url=reverse("runs:workers"),
            action="See the workers",
        )
    may = user.has_perm("runs.force_resume_run")
    return Notice(
        tone=state.tone,
        text=phrase(f"{state.sentence} {_who_takes_it(row.run)}"),
        url=reverse("runs:resume", args=[row.run.pk]) if may else "",
        action="Force resume…" if may else "",
    )


def _who_takes_it(run: Run) -> str:
    """What happens to a run that nobody drives."""
    if run.agent not in fleet.offered():
        known = "that knows this agent " if fleet.alive() else ""
        return f"No worker {known}is alive, so nothing happens until one is started."
    if not fleet.sweeper_sign().well:
        return "The sweeper, which would hand it to another worker, does not run."
    return "The sweeper hands it to another worker."
