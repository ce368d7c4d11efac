"""Effects, calls and looks as rows, and what their pages are sent."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.urls import reverse

from accounts import clock
from audit import canonical
from ledger.models import Effect, EffectAttempt, Look
from runs.models import Run
from tests.ledger.conftest import make_run
from tests.support.people import PASSWORD

ARGS = {"order_id": "10382", "amount_cents": 60000, "currency": "EUR"}


def effect(run: Run | None = None, *, tool: str = "payments.refund", **fields) -> Effect:
    """One effect of a run, with a call where it says that there was one."""
    run = run or make_run()
    args = fields.pop("args", ARGS)
    key = f"{run.pk}:refund@{uuid4().hex[:8]}:{tool}:{canonical.digest(args)}"
    given = {"step": "refund@t", "status": "sent", "idempotency": "provider", "fence": 1}
    given |= {"idempotency_key": key, "provider_key": key, "attempts": 1} | fields
    return Effect.objects.create(
        run=run, tool=tool, args=args, args_hash=canonical.digest(args), **given
    )


def call(one: Effect, outcome: str = "succeeded", **fields) -> EffectAttempt:
    started = clock.now() - timedelta(minutes=5)
    given = {"number": 1, "provider_key": one.provider_key, "fence": 1, "holder": "w1@host:7"}
    given |= {"started_at": started, "timeout_at": started + timedelta(seconds=20)}
    given |= {"ended_at": None if outcome == "open" else started + timedelta(seconds=2)}
    return EffectAttempt.objects.create(effect=one, outcome=outcome, **given | fields)


def in_doubt(**fields) -> Effect:
    one = effect(status="in_doubt", **fields)
    call(one, "unknown", error="ReadTimeout: no answer within 20 s")
    return one


def asked_in_vain(one: Effect) -> Look:
    """The provider was asked what became of it, and did not answer."""
    given = {"provider_key": one.provider_key, "attempt": 1, "counts": False}
    return Look.objects.create(effect=one, answer="silent", error="No answer", **given)


def page_of(one: Effect, name: str = "effect") -> str:
    return reverse(f"ledger:{name}", args=[one.uid])


def prove(client) -> None:
    """Sign in once more, as people do who are asked to."""
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})


def settlement(one: Effect, **more: str) -> dict[str, str]:
    sent = {"verdict": "happened", "reference": "re_9", "reason": "Seen in the dashboard."}
    return sent | {"typed": str(one.uid)[-4:]} | more
