"""What the ledger tells of a run step by step: what each attempt of it called or asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from uuid import UUID

from django.urls import reverse

from accounts import speech
from accounts.speech import later as _
from ledger.drift import states as drifting
from ledger.models import Drift, Effect, EffectAttempt
from ledger.status import DONE, STATES
from ledger.timeline import calls
from runs.status import State
from runs.story import Deed

MOST = 500
"""Deeds of each kind."""
TOLD = State(
    value="told",
    label=_("Was told the result"),
    tone="neutral",
    icon="book",
    sentence=_("The effect had been performed before; this attempt got the stored result."),
)


def deeds(run_id: UUID, fences: Collection[int]) -> list[Deed]:
    """Calls, effects that were asked for again and only told, and effects asked for instead of
    others. Of effects asked for again the ledger keeps only the last attempt that did.
    """
    found = calls.every().filter(effect__run_id=run_id, fence__in=fences)
    called = list(found.select_related("effect").order_by("started_at", "pk")[:MOST])
    drifts = _drifts(run_id, fences)
    instead = {(drift.key, drift.fence): drift.before_id for drift in drifts}
    deeds = [
        *(_called(call, instead.get((call.effect_id, call.fence), "")) for call in called),
        *_told(run_id, fences),
        *_not_made(drifts),
    ]
    return sorted(deeds, key=lambda deed: (deed.fence, deed.at))


def _called(call: EffectAttempt, instead_of: str) -> Deed:
    return Deed(
        fence=call.fence,
        at=call.started_at,
        place=call.effect.step,
        kind=call.effect.tool,
        key=call.effect_id,
        instead_of=instead_of,
        title=call.effect.tool,
        state=calls.state(call),
        args=call.effect.args,
        note=speech.shown(call.error) or call.provider_ref,
        url=_url(call.effect),
    )


def _told(run_id: UUID, fences: Collection[int]) -> Iterator[Deed]:
    reached = Effect.objects.filter(run_id=run_id, reached_fence__in=fences)
    for effect in reached.prefetch_related("calls").order_by("created_at", "uid")[:MOST]:
        if effect.reached_fence not in {call.fence for call in effect.calls.all()}:
            yield Deed(
                fence=effect.reached_fence,
                at=effect.created_at,
                place=effect.step,
                kind=effect.tool,
                key=effect.pk,
                title=effect.tool,
                state=TOLD if effect.status in DONE else STATES[effect.status],
                args=effect.args,
                note=effect.provider_ref,
                url=_url(effect),
            )


def _drifts(run_id: UUID, fences: Collection[int]) -> list[Drift]:
    found = Drift.objects.filter(run_id=run_id, fence__in=fences, withdrawn_at=None)
    return list(found.order_by("at", "pk")[:MOST])


def _not_made(drifts: Collection[Drift]) -> Iterator[Deed]:
    """Effects that an attempt asked for instead of others, and that it did not call."""
    keys = [drift.key for drift in drifts]
    called = EffectAttempt.objects.filter(effect__in=keys)
    made = set(called.values_list("effect_id", "fence"))
    for drift in drifts:
        if (drift.key, drift.fence) not in made:
            yield Deed(
                fence=drift.fence,
                at=drift.at,
                place=drift.step,
                kind=drift.tool,
                key=drift.key,
                instead_of=drift.before_id,
                title=drift.tool,
                state=drifting.state_of(drift),
                args=drift.args,
                url=reverse("ledger:drift", args=[drift.uid]),
            )


def _url(effect: Effect) -> str:
    return reverse("ledger:effect", args=[effect.uid])
