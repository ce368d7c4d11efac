"""A run's effects for the chart: each call, and the doubt after one of which nobody heard the end.

1. A doubt lasts from the end of such a call until something is known: the next call, a webhook, a
   look that counts, a person's word. Until then it goes on.
   A webhook that came while the call was under way leaves none.
2. What made an effect known stands as a dot where it was learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from ledger.models import Effect, EffectAttempt, HookEvent, Look
from ledger.status import ANSWERS, HEARD, STATES, Answer, Outcome, Status
from ledger.timeline import calls, events
from runs.story import Mark, Span, Stage

MOST = 60
"""Effects of one page."""
MOST_PARTS = 400
"""Calls of them, looks and webhooks."""


@dataclass(slots=True)
class _Known:
    """What belongs to one effect."""

    effect: Effect
    calls: list[EffectAttempt] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


def of(run_id: UUID, *, since: datetime, until: datetime | None) -> list[Span]:
    """Effects with something between `since` and `until`. Four queries."""
    found = Effect.objects.filter(Q(run_id=run_id, updated_at__gte=since) | _open(run_id))
    if until is not None:
        found = found.filter(created_at__lt=until)
    known = {effect.pk: _Known(effect) for effect in found.order_by("created_at")[:MOST]}
    for call in calls.every().filter(effect__in=known).order_by("number")[:MOST_PARTS]:
        call.effect = known[call.effect_id].effect
        known[call.effect_id].calls.append(call)
    for pk, mark in (*_looks(list(known)), *_hooks(list(known))):
        known[pk].marks.append(mark)
    spans = [_span(each) for each in known.values() if each.calls]
    return [span for span in spans if span.end is None or span.end >= since]


def _open(run_id: UUID) -> Q:
    return Q(run_id=run_id, status=Status.IN_DOUBT)


def _looks(keys: list[str]) -> Iterator[tuple[str, Mark]]:
    answers = Look.objects.filter(effect__in=keys, answer__in=(Answer.FOUND, Answer.ABSENT))
    for look in answers.filter(Q(answer=Answer.FOUND) | Q(counts=True)).order_by("at")[:MOST_PARTS]:
        state = ANSWERS[look.answer]
        says = _("Asked, the provider said: %(answer)s") % {"answer": state.label}
        yield look.effect_id, Mark(at=look.at, tone=state.tone, label=says)


def _hooks(keys: list[str]) -> Iterator[tuple[str, Mark]]:
    told = HookEvent.objects.filter(effect__in=keys).exclude(heard__in=events.SAYS_NOTHING)
    for event in told.order_by("at")[:MOST_PARTS]:
        state = HEARD[event.heard]
        says = _("%(provider)s told by webhook: %(meaning)s")
        label = says % {"provider": event.provider, "meaning": state.label}
        yield str(event.effect_id), Mark(at=event.at, tone=state.tone, label=label)


def _span(known: _Known) -> Span:
    effect = known.effect
    node, _sign, task = effect.step.partition("@")
    marks = sorted([*known.marks, *_by_hand(effect)], key=lambda mark: mark.at)
    return Span(
        title=effect.tool,
        kind=events.KIND,
        stages=tuple(_stages(known, marks)),
        marks=tuple(marks),
        task=task.partition("/")[0],
        node=node,
        url=events.url(effect),
    )


def _by_hand(effect: Effect) -> Iterator[Mark]:
    if effect.settled_at is not None:
        told = {"who": effect.settled_by, "ended": events.ended(effect)}
        label = _("Settled by hand: %(ended)s, says %(who)s") % told
        yield Mark(at=effect.settled_at, tone=STATES[effect.status].tone, label=label)


def _stages(known: _Known, marks: list[Mark]) -> Iterator[Stage]:
    starts = [call.started_at for call in known.calls]
    for number, call in enumerate(known.calls):
        outcome, end = calls.outcome(call), calls.end(call)
        state = calls.state(call)
        yield Stage(start=call.started_at, end=end, tone=state.tone, label=str(state.label))
        if outcome == Outcome.UNKNOWN and end:
            learned = [*starts[number + 1 :], *(mark.at for mark in marks)]
            doubt = _doubt(known.effect, end, learned)
            if doubt.end != end:  # else a webhook was quicker than the call
                yield doubt


def _doubt(effect: Effect, since: datetime, learned: list[datetime]) -> Stage:
    end = min((at for at in learned if at >= since), default=None)
    if end is None and effect.status not in (Status.IN_DOUBT, Status.PENDING):
        end = max(effect.updated_at, since)
    says = _("nobody knows whether it happened")
    return Stage(start=since, end=end, tone="warn", label=says, idle=True)
