"""Moments of a run's effects: calls, answers to look-ups, webhooks, people's word."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import speech
from ledger.models import Effect, EffectAttempt, HookEvent, Look
from ledger.status import ANSWERS, DONE, HEARD, STATES, Heard
from ledger.timeline import calls
from runs.status import State
from runs.story import Event, phrase

Row = TypeVar("Row", bound=Model)

KIND = "effects"
MOST = 60
"""Events of each sort."""
SAYS_NOTHING = (Heard.UNUSED, Heard.UNMATCHED)
SETTLED = gettext_lazy("Settled by hand")


def of(run_id: UUID, *, since: datetime, until: datetime | None) -> Iterator[Event]:
    """From `since` to before `until`, the earliest of each sort; in any order."""

    def within(found: QuerySet[Row], field: str) -> QuerySet[Row]:
        where = Q(**{f"{field}__gte": since})
        where &= Q(**{f"{field}__lt": until}) if until else Q()
        return found.filter(where).order_by(field)[:MOST]

    called = calls.every().filter(effect__run_id=run_id).select_related("effect")
    looks = Look.objects.filter(effect__run_id=run_id).select_related("effect")
    heard = HookEvent.objects.filter(effect__run_id=run_id).exclude(heard__in=SAYS_NOTHING)
    settled = Effect.objects.filter(run_id=run_id).exclude(settled_by="")
    yield from map(_called, within(called, "started_at"))
    yield from map(_looked, within(looks, "at"))
    yield from map(_heard, within(heard.select_related("effect"), "at"))
    yield from map(_settled, within(settled, "settled_at"))


def _called(call: EffectAttempt) -> Event:
    end = calls.end(call)
    return Event(
        at=call.started_at,
        state=calls.state(call),
        text=call.effect.tool,
        note=phrase(speech.shown(call.error) or call.provider_ref),
        length=end - call.started_at if end else None,
        url=url(call.effect),
        kind=KIND,
    )


def _looked(look: Look) -> Event:
    return Event(
        at=look.at,
        state=ANSWERS[look.answer],
        text=_("%(tool)s: the provider was asked") % {"tool": look.effect.tool},
        note=phrase(speech.shown(look.error) or look.provider_ref),
        url=url(look.effect),
        kind=KIND,
    )


def _heard(event: HookEvent) -> Event:
    told = {"tool": event.effect.tool if event.effect else "", "provider": event.provider}
    return Event(
        at=event.at,
        state=HEARD[event.heard],
        text=_("%(tool)s: %(provider)s told by webhook") % told,
        note=phrase(" · ".join(filter(None, (event.kind, event.provider_ref)))),
        url=url(event.effect) if event.effect else "",
        kind=KIND,
    )


def _settled(effect: Effect) -> Event:
    told = {"tool": effect.tool, "who": effect.settled_by, "ended": ended(effect)}
    return Event(
        at=effect.settled_at or effect.updated_at,
        state=by_hand(effect),
        text=_("%(tool)s: %(ended)s, says %(who)s") % told,
        note=phrase(effect.settle_reason),
        url=url(effect),
        kind=KIND,
    )


def by_hand(effect: Effect) -> State:
    """The state of an effect that a person settled."""
    state = STATES[effect.status]
    return State(
        value="settled", label=str(SETTLED), tone=state.tone, icon="hand", sentence=state.sentence
    )


def ended(effect: Effect) -> str:
    """How a settled effect ended, within a sentence."""
    return _("done") if effect.status in DONE else speech.inside(STATES[effect.status].label)


def url(effect: Effect) -> str:
    return reverse("ledger:effect", args=[effect.uid])
