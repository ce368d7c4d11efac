"""Taking one event of a provider, exactly once.

1. The signature is proved before anything of the body is read.
2. An event is stored under the provider's id of it: delivered again, it changes nothing. Both the
   row and what it means are one transaction; whoever is not answered delivers again.
3. What names nothing here is kept and counted. It may name a reference that our call has not
   brought yet; the sweeper looks again, for a day.
4. Events may come in any order. By the provider's clock, an older one than what was heard of the
   same effect changes nothing.
5. Refused ones are counted, and the audit log is told of one a minute: anybody can send them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from accounts import clock
from audit import canonical, trail
from audit.models import ClockTimestamp
from ledger import rows
from ledger.confirmation import hooks, recording, signature
from ledger.confirmation.hooks import Hook
from ledger.confirmation.news import BadEvent, Meaning, News
from ledger.models import Effect, EffectAttempt, HookEvent, HookRefusals
from ledger.outcomes import Found
from ledger.status import Heard

TOLD_EVERY = timedelta(minutes=1)
LOOK_AGAIN = timedelta(days=1)
LONGEST_KIND = 100
MOST = 200
"""Events that one sweep looks at again."""


def take(hook: Hook, header: str, body: bytes) -> Heard:
    """Prove, read, store and apply one event; what it meant.

    Raises BadSignature, BadEvent, TooEarly; then nothing is stored.
    """
    signature.verify(
        header,
        body,
        secrets=hook.secrets,
        now=clock.now(),
        tolerance=settings.LEDGER_HOOK_TOLERANCE,
    )
    news = _read(hook, body)
    digest = hashlib.sha256(body).hexdigest()
    return _take(hook, news, digest)


def _read(hook: Hook, body: bytes) -> News:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise BadEvent("it is no JSON") from exc
    if not isinstance(event, dict):
        raise BadEvent("it is no object")
    return _storable(hook.read(event))


def _storable(news: News) -> News:
    """Its names as they are kept: whoever looks for one finds what was stored."""
    return replace(
        news,
        event=canonical.text(news.event),
        kind=canonical.text(news.kind)[:LONGEST_KIND],
        key=canonical.text(news.key),
        reference=canonical.text(news.reference)[: rows.LONGEST_REFERENCE],
    )


def _take(hook: Hook, news: News, digest: str) -> Heard:
    with transaction.atomic():
        effect = _locked(hook, news)
        event, new = HookEvent.objects.get_or_create(
            provider=hook.provider,
            event=news.event,
            defaults={
                "kind": news.kind,
                "heard": Heard.UNMATCHED if news.meaning else Heard.UNUSED,
                "meaning": news.meaning.value if news.meaning else "",
                "provider_ref": news.reference,
                "told_at": news.told_at,
                "digest": digest,
            },
        )
        if not new:
            HookEvent.objects.filter(pk=event.pk).update(times=F("times") + 1)
        if effect is None or event.heard != Heard.UNMATCHED:
            return Heard(event.heard)
        return _apply(hook, news, effect, event)


def _locked(hook: Hook, news: News) -> Effect | None:
    """The effect that is meant, locked after its run; None if there is none here."""
    named = _by_key(news) if news.key else Q(pk__in=())
    if not Effect.objects.filter(named).exists():
        named = Q(provider_ref=news.reference) if news.reference else Q(pk__in=())
    found = Effect.objects.filter(named)
    tools = found.order_by("tool").values_list("tool", flat=True).distinct()
    mine = found.filter(tool__in=[tool for tool in tools if hook.speaks_of(tool)])
    meant = mine.values_list("pk", "run_id")[:2]
    if len(meant) != 1:  # a reference that two effects have names neither
        return None
    key, run_id = meant[0]
    rows.lock_run(run_id)
    return rows.lock_effect(key)


def _by_key(news: News) -> Q:
    calls = EffectAttempt.objects.filter(provider_key=news.key)
    return Q(pk__in=calls.values("effect_id"))


def _apply(hook: Hook, news: News, effect: Effect, event: HookEvent) -> Heard:
    heard = Heard.KNOWN if _is_old(news, effect) else _meaning(hook, news, effect)
    HookEvent.objects.filter(pk=event.pk).update(heard=heard, effect=effect)
    return heard


def _is_old(news: News, effect: Effect) -> bool:
    return (
        news.told_at is not None
        and HookEvent.objects.filter(effect=effect, told_at__gt=news.told_at).exists()
    )


def _meaning(hook: Hook, news: News, effect: Effect) -> Heard:
    why = news.why or f"{hook.provider} tells by webhook that it came to nothing ({news.kind})."
    match news.meaning:
        case Meaning.HAPPENED:
            result = news.result if news.result is not None else {"reference": news.reference}
            found = Found(reference=news.reference, result=result)
            return recording.happened(effect, found, actor=hook.actor)
        case Meaning.FAILED:
            return recording.refused(effect, key=news.key, why=why, actor=hook.actor)
        case Meaning.UNDONE:
            return recording.reversed_(effect, why=why, actor=hook.actor)
        case None:
            return Heard.UNUSED


# --- what came before its effect ------------------------------------------------------------------


def sweep() -> int:
    """The rule of the sweeper: events of references that have become known since; how many."""
    waiting = HookEvent.objects.filter(
        heard=Heard.UNMATCHED,
        at__gt=ClockTimestamp() - LOOK_AGAIN,
        provider_ref__in=Effect.objects.exclude(provider_ref="").values("provider_ref"),
    )
    return sum(map(_again, waiting.order_by("at").values_list("pk", flat=True)[:MOST]))


def _again(pk: int) -> bool:
    event = HookEvent.objects.get(pk=pk)
    hook = hooks.find(event.provider)
    if hook is None:
        return False
    news = News(
        event=event.event,
        kind=event.kind,
        meaning=Meaning(event.meaning),
        reference=event.provider_ref,
        told_at=event.told_at,
    )
    try:
        with transaction.atomic():
            effect = _locked(hook, news)
            again = HookEvent.objects.select_for_update(no_key=True).get(pk=pk)
            if effect is None or again.heard != Heard.UNMATCHED:
                return False
            _apply(hook, news, effect, again)
            return True
    except recording.TooEarly:
        return False


# --- refusing -------------------------------------------------------------------------------------


def refuse(provider: str, why: str) -> None:
    """Count a webhook that was refused, and tell the audit log unless it was told just now."""
    with transaction.atomic():
        row, _ = HookRefusals.objects.get_or_create(provider=provider)
        row = HookRefusals.objects.select_for_update(no_key=True).get(pk=row.pk)
        row.count, row.why, row.at = row.count + 1, why[:300], clock.now()
        if row.told_at is None or row.at - row.told_at >= TOLD_EVERY:
            row.told_at = row.at
            trail.record(
                "hook.refused",
                actor=hooks.stranger(provider),
                target=("hook", provider),
                allowed=False,
                reason=why,
                data={"refused_so_far": row.count},
            )
        row.save()
