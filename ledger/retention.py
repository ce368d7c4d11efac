"""What may be erased of the effects of ended runs, and which runs are kept whole.

The row of an effect keeps its key, state, hash and reference, so its key is never free again. An
erased result is a result that was not kept: whoever asks for it gets `ResultNotKept`, no call.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Model, Q, QuerySet

from ledger.models import Drift, Effect, EffectAttempt, Incident, Look, UndoPlan
from ledger.status import DONE, Outcome, Status, UndoStatus
from runs.models import Run
from runs.ports import Amount
from runs.retention import keeping
from runs.retention.keeping import ERASED, erased

RESULT_ERASED = "Its result was erased: its run ended long ago."


class Payloads:
    """Arguments and results of effects, and what providers answered."""

    kind, label = "effects", "Arguments and results of effects"

    def age(self) -> timedelta | None:
        return settings.LEDGER_KEEP_PAYLOADS

    def held(self) -> QuerySet[Model, UUID]:
        """Runs of which somebody still has to find something out, or undo something."""
        unheard = EffectAttempt.objects.filter(outcome__in=(Outcome.OPEN, Outcome.UNKNOWN))
        open_ = Q(status=Status.IN_DOUBT) | Q(
            status=Status.PENDING, pk__in=unheard.values("effect_id")
        )
        undone = UndoPlan.objects.filter(status=UndoStatus.WORKING)
        held = (
            Q(pk__in=Effect.objects.filter(open_).values("run_id"))
            | Q(pk__in=Incident.objects.values("run_id"))
            | Q(pk__in=undone.values("run_id"))
        )
        return Run.objects.filter(held).values_list("pk", flat=True)

    def measure(self, run_ids: Collection[UUID]) -> Amount:
        effects = Effect.objects.filter(run__in=run_ids)
        calls = EffectAttempt.objects.filter(effect__run__in=run_ids)
        return keeping.amount(effects, "args", "result") + keeping.amount(calls, "response")

    def erase(self, run: Run) -> None:
        effects = Effect.objects.filter(run=run)
        effects.filter(status__in=DONE, result__isnull=False).update(
            result=None, result_cut=True, error=RESULT_ERASED
        )
        effects.exclude(status__in=DONE).exclude(error="").update(error="erased")
        effects.update(args=erased(), undo="")  # without arguments nothing can be taken back
        Drift.objects.filter(run=run).update(args=erased())
        calls = EffectAttempt.objects.filter(effect__run=run)
        calls.filter(response__isnull=False).update(response=erased())
        calls.exclude(error="").update(error="erased")
        Look.objects.filter(effect__run=run).exclude(error="").update(error="erased")


def is_erased(effect: Effect) -> bool:
    """Its arguments are gone, so nothing can be done with them any more, such as undoing it."""
    return bool(effect.args == ERASED)
