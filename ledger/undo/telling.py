"""What the page of a run says about taking its effects back."""

from __future__ import annotations

from django.urls import reverse

from accounts.models import User
from ledger.models import Effect, Incident, UndoPlan
from ledger.status import DONE, UNDOING, UndoStatus
from ledger.undo import ordering, plan
from runs.models import Run
from runs.status import Status
from runs.story import Notice, phrase

UNWANTED = (Status.CANCELLED, Status.FAILED)


def notice(run: Run, user: User) -> Notice | None:
    """How far an order has come; or that a run which did not succeed has left something."""
    if not run.ended:
        return None
    made = plan.latest(run.pk)
    if made is not None and made.status != UndoStatus.DONE:
        return _ordered(made)
    left = Effect.objects.filter(run=run, status__in=DONE, undoes=None).exclude(undo="")
    left = left.exclude(incidents__kind=Incident.Kind.REVERSED)
    count = left.exclude(undone_by__status__in=DONE).count()
    if not count or run.status not in UNWANTED or not user.has_perm(ordering.PERMISSION):
        return None
    effects = (
        "1 effect of this run was done and stays"
        if count == 1
        else (f"{count} effects of this run were done and stay")
    )
    return Notice(
        tone="neutral",
        text=phrase(f"{effects} so. A person can have what is not wanted taken back."),
        url=reverse("ledger:undo", args=[run.pk]),
        action="See what can be undone",
    )


def _ordered(made: UndoPlan) -> Notice:
    state, count = UNDOING[made.status], len(made.effects)
    done = Effect.objects.filter(undoes__uid__in=made.effects, status__in=DONE).count()
    effects = "1 effect" if count == 1 else f"{count} effects"
    text = f"{made.asked_by} has ordered to undo {effects} of this run, {done} so far."
    return Notice(
        tone=state.tone,
        text=phrase(f"{text} {made.error or state.sentence}"),
        url=reverse("ledger:undo", args=[made.run_id]),
        action="See the plan",
    )
