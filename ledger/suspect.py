"""What is known of the worker that made a call which nobody heard the end of.

A person who says "it did not happen" allows a further call. If the worker of the first one is only
frozen, it may still send it. So the page says what is known, and what is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.speech import later as _
from audit.models import ClockTimestamp
from ledger.models import EffectAttempt
from ledger.queries import Detail
from runs import workers
from runs.models import Lease, Worker
from runs.status import State

HOLDS = State(
    value="holds",
    label=_("Still drives the run"),
    tone="bad",
    icon="triangle",
    sentence=_("It holds the lease, so its answer may still come. Wait for it."),
)
ALIVE = State(
    value="alive",
    label=_("Alive"),
    tone="warn",
    icon="triangle",
    sentence=_(
        "The worker runs. If the process that made the call hangs in it, it can still send"
        " it. Look on the machine for the process before you allow another attempt."
    ),
)
QUIET = State(
    value="quiet",
    label=_("Quiet"),
    tone="warn",
    icon="hourglass",
    sentence=_(
        "Nothing has been heard of the worker. If its machine is only frozen or cut off, it"
        " can still send the call. Make sure that it is down before you allow another"
        " attempt."
    ),
)
ENDED = State(
    value="ended",
    label=_("Known to have ended"),
    tone="ok",
    icon="check",
    sentence=_("The worker has signed off, so nothing of this call can be on its way any more."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """The last call of an effect in doubt and whoever made it."""

    call: EffectAttempt
    state: State
    seen_at: datetime | None
    """When the worker last said that it is there; None if it has signed off."""
    fence_now: int
    overdue: bool
    """The call must have ended by now, unless its process is frozen."""


def of(detail: Detail) -> Suspect | None:
    """None if the effect was never called."""
    if not detail.calls:
        return None
    call = detail.calls[-1]
    worker = Worker.objects.filter(name=worker_of(call)).first()
    lease = Lease.objects.annotate(now=ClockTimestamp()).get(pk=detail.effect.run_id)
    return Suspect(
        call=call,
        state=judge(call, lease, worker, lease.now),
        seen_at=worker.seen_at if worker else None,
        fence_now=lease.fence,
        overdue=lease.now > call.timeout_at,
    )


def worker_of(call: EffectAttempt) -> str:
    """The name of the worker whose process made the call."""
    return call.holder.rpartition(":")[0]


def judge(call: EffectAttempt, lease: Lease, worker: Worker | None, now: datetime) -> State:
    """What is known of that worker, given the run's lease and the worker's row, if there is one."""
    if lease.fence == call.fence and lease.expires_at is not None and lease.expires_at > now:
        return HOLDS
    if worker is None:
        return ENDED
    return ALIVE if now - worker.seen_at < workers.alive_for() else QUIET
