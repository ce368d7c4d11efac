"""What of a run can be taken back, the last effect first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F

from accounts.speech import later as _
from ledger import shown, status
from ledger.models import Effect, Incident, UndoPlan
from ledger.status import Status, UndoStatus
from runs.masking import BARE, Cloak
from runs.status import State

WILL = State(
    value="will",
    label=_("Will be taken back"),
    tone="info",
    icon="retry",
    sentence=_("It is done, and its tool says what takes it back."),
)
STAYS = State(
    value="stays",
    label=_("Stays"),
    tone="neutral",
    icon="slash",
    sentence=_("It is done, and its tool names nothing that takes it back."),
)
GONE = State(
    value="gone",
    label=_("Taken back by its provider"),
    tone="neutral",
    icon="retry",
    sentence=_("Its provider tells that it was taken back, so it is not taken back once more."),
)
FIRST = State(
    value="first",
    label=_("Settle first"),
    tone="warn",
    icon="triangle",
    sentence=_("Nobody knows whether it happened. Nothing of the run is taken back before."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One effect of the run, and what can be done about it."""

    effect: Effect
    state: State
    by: Effect | None
    """The effect that takes it back, if one was tried."""
    preview: str

    @property
    def will(self) -> bool:
        return self.state is WILL

    @property
    def doubtful(self) -> bool:
        return self.state is FIRST


def steps(run_id: UUID, cloak: Cloak = BARE) -> list[Step]:
    """What the run did or may have done, the last first. What did not happen is left out."""
    called = Effect.objects.filter(run_id=run_id, undoes=None, attempts__gt=0)
    effects = called.select_related("undone_by").prefetch_related("calls", "incidents")
    latest_first = effects.order_by(F("first_started_at").desc(nulls_last=True), "-created_at")
    found = [_step(effect, cloak) for effect in latest_first]
    return [step for step in found if step is not None]


def willing(found: Iterable[Step]) -> list[Effect]:
    """Those that would be taken back, in this order."""
    return [step.effect for step in found if step.will]


def seen(effects: Iterable[Effect]) -> str:
    """A short name for exactly these effects, by which a form says what its person was shown."""
    return hashlib.sha256(" ".join(str(each.uid) for each in effects).encode()).hexdigest()[:16]


def latest(run_id: UUID) -> UndoPlan | None:
    """The last order for this run."""
    return UndoPlan.objects.filter(run_id=run_id).order_by("-asked_at", "-pk").first()


def at_work(run_id: UUID) -> UndoPlan | None:
    return UndoPlan.objects.filter(run_id=run_id, status=UndoStatus.WORKING).first()


def undo_of(effect: Effect) -> Effect | None:
    """The effect that takes this one back, if there is one."""
    return getattr(effect, "undone_by", None)


def gone(effect: Effect) -> bool:
    """Whether its provider tells that it was taken back, and not by us."""
    return any(each.kind == Incident.Kind.REVERSED for each in effect.incidents.all())


def _step(effect: Effect, cloak: Cloak) -> Step | None:
    by = undo_of(effect)
    unheard = any(
        call.outcome in (status.Outcome.OPEN, status.Outcome.UNKNOWN) for call in effect.calls.all()
    )
    if effect.status == Status.IN_DOUBT or (effect.status == Status.PENDING and unheard):
        state = FIRST
    elif effect.status not in status.DONE:
        return None
    elif by is not None and by.status in status.DONE:
        state = status.UNDONE
    elif by is not None and by.status == Status.IN_DOUBT:
        state = FIRST
    elif by is None and gone(effect):
        state = GONE
    else:
        state = WILL if effect.undo else STAYS
    return Step(effect=effect, state=state, by=by, preview=shown.preview(effect.args, cloak))
