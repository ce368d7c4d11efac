"""Calls as the timeline tells them: one whose worker was lost ended with its worker.

That somebody noticed later, or never had to because a webhook had told it all, is no part of the
call.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.speech import later as _
from ledger.models import EffectAttempt
from ledger.status import DONE, OUTCOMES, Outcome, Status
from runs.models import Attempt
from runs.status import Outcome as Driven
from runs.status import State

UNREPORTED = (Outcome.OPEN, Outcome.UNKNOWN)
DONE_AFTER_ALL = State(
    value="done_after_all",
    label=_("Done, known later"),
    tone="ok",
    icon="check",
    sentence=_("Nobody heard how the call ended. It was found out later that it happened."),
)
FAILED_AFTER_ALL = State(
    value="failed_after_all",
    label=_("Failed, known later"),
    tone="bad",
    icon="cross",
    sentence=_("Nobody heard how the call ended. It was found out later that nothing happened."),
)


def every() -> QuerySet[EffectAttempt]:
    """Calls that `end` and `outcome` can tell of, in the query that finds them."""
    lost = Attempt.objects.filter(
        run_id=OuterRef("effect__run_id"), fence=OuterRef("fence"), outcome=Driven.LOST
    )
    return EffectAttempt.objects.annotate(
        last_seen=Subquery(lost.values(at=Coalesce("seen_at", "ended_at"))),
        lost_at=Subquery(lost.values("ended_at")),
    )


def end(call: EffectAttempt) -> datetime | None:
    """When it ended; None: it goes on. Without a report that is when its worker was last seen."""
    lost: datetime | None = getattr(call, "lost_at", None)
    seen: datetime | None = getattr(call, "last_seen", None)
    if lost is None or seen is None or call.outcome not in UNREPORTED:
        return call.ended_at
    if call.ended_at is not None and call.ended_at < lost:
        return call.ended_at
    return max(seen, call.started_at)


def outcome(call: EffectAttempt) -> str:
    """How it ended; of a call that is open though its worker is lost nobody can say."""
    return Outcome.UNKNOWN if call.outcome == Outcome.OPEN and end(call) else call.outcome


def state(call: EffectAttempt) -> State:
    """How it ended, as far as is known by now; the call's effect is at hand."""
    ended, effect = outcome(call), call.effect
    if ended == Outcome.UNKNOWN and call.number == effect.attempts:
        if effect.status in DONE:
            return DONE_AFTER_ALL
        if effect.status == Status.FAILED:
            return FAILED_AFTER_ALL
    return OUTCOMES[ended]
