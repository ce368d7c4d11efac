"""What the page of a run says about taking its effects back."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from ledger.models import Effect, Incident, UndoPlan
from ledger.status import DONE, UNDOING, UndoStatus
from ledger.undo import ordering, plan
from runs.models import Run
from runs.status import Status
from runs.story import Notice, told

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
    text = ngettext(
        "{count} effect of this run was done and stays so. A person can have what is not wanted"
        " taken back.",
        "{count} effects of this run were done and stay so. A person can have what is not wanted"
        " taken back.",
        count,
    )
    return Notice(
        tone="neutral",
        text=told(text, count=count),
        url=reverse("ledger:undo", args=[run.pk]),
        action=_("See what can be undone"),
    )


def _ordered(made: UndoPlan) -> Notice:
    state, count = UNDOING[made.status], len(made.effects)
    done = Effect.objects.filter(undoes__uid__in=made.effects, status__in=DONE).count()
    text = ngettext(
        "{person} has ordered to undo {count} effect of this run, {done} so far. {now}",
        "{person} has ordered to undo {count} effects of this run, {done} so far. {now}",
        count,
    )
    now = made.error or state.sentence
    return Notice(
        tone=state.tone,
        text=told(text, person=made.asked_by, count=count, done=done, now=now),
        url=reverse("ledger:undo", args=[made.run_id]),
        action=_("See the plan"),
    )
