"""The same call in other runs: a second run of one order, told before somebody allows it once more.

A key belongs to one run, so the ledger lets each run do a thing once. Whether two runs mean the
same is for a person to say; here they learn that another one did, or may have done, exactly this.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop

from accounts.models import User
from ledger.models import Effect
from ledger.preview import kinds
from ledger.status import DONE, Status
from runs import visible
from runs.models import Run
from runs.story import Touch, told

MOST = 20
"""Looked at; beyond, the page says so."""
SEE = "ledger.view_effect"


SEEN = {
    True: noop(
        "The run “{title}” did exactly this, with the same arguments, {at}. Approving does it"
        " again."
    ),
    False: noop(
        "The run “{title}” began exactly this, with the same arguments, {at} and may have"
        " done it. Approving does it again."
    ),
}
UNSEEN = {
    True: noop(
        "Another run did exactly this, with the same arguments, {at}. Approving does it again."
    ),
    False: noop(
        "Another run began exactly this, with the same arguments, {at} and may have done it."
        " Approving does it again."
    ),
}
"""By whether it is known to have happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Same:
    """What other runs did with these arguments, the latest first."""

    effects: list[Effect]

    @property
    def count(self) -> str:
        return (
            _("{count} or more").format(count=MOST)
            if len(self.effects) > MOST
            else str(len(self.effects))
        )


def of(run: Run, tool: str, args_hash: str, user: User) -> tuple[Touch, ...]:
    """What another run has done, or may have done, with just these arguments. Two queries at most.

    Empty if none has, or if what was done has been taken back.
    """
    same = _Same(effects=_found(run, tool, args_hash))
    if not same.effects:
        return ()
    latest = same.effects[0]
    seen = visible.to(user).filter(pk=latest.run_id).exists()
    return (_touch(latest, same, user, seen=seen),)


def _found(run: Run, tool: str, args_hash: str) -> list[Effect]:
    happened = Q(status__in=(*DONE, Status.IN_DOUBT)) | Q(status=Status.PENDING, attempts__gt=0)
    taken_back = Q(undone_by__status__in=DONE)
    return list(
        Effect.objects.filter(happened, tool=tool, args_hash=args_hash)
        .exclude(run=run)
        .exclude(taken_back)
        .select_related("run")
        .order_by("-created_at", "-uid")[: MOST + 1]
    )


def _touch(effect: Effect, same: _Same, user: User, *, seen: bool) -> Touch:
    kind = kinds.ELSEWHERE if effect.status in DONE else kinds.MAYBE_ELSEWHERE
    says = (SEEN if seen else UNSEEN)[kind == kinds.ELSEWHERE]
    whole = told(_(says), title=effect.run.title, at=_moment(effect))
    if len(same.effects) > 1:
        more = told(_(" Other runs called it {count} times in all."), count=same.count)
        whole = (*whole, *more)
    return Touch(
        title=effect.tool,
        state=kind,
        says=whole,
        detail=effect.provider_ref if seen else "",
        url=reverse("ledger:effect", args=[effect.uid]) if seen and user.has_perm(SEE) else "",
    )


def _moment(effect: Effect) -> datetime:
    return effect.first_started_at or effect.created_at
