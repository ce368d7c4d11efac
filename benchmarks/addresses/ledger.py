"""The ledger: its list with each filter and with several, an effect, and what is done by hand."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import QuerySet
from django.urls import reverse

from accounts.models import User
from benchmarks.addresses.readers import Page, Readers, listed
from ledger.models import Effect
from runs import visible
from runs.models import Run


def pages(who: Readers) -> Iterator[Page]:
    yield from listed("ledger", who.operator, reverse("ledger:list"), _asked(who))
    for role in ("approver", "owner"):
        yield from _of_some(role, getattr(who, role))
    for name, found in {
        "done": Effect.objects.filter(status="sent", permit=None),
        "permitted": Effect.objects.exclude(permit=None),
        "in doubt": Effect.objects.filter(status="in_doubt"),
        "settled": Effect.objects.exclude(settled_by=""),
    }.items():
        if (effect := found.first()) is not None:
            yield _page(f"effect {name}", who.operator, "effect", effect.uid)
            yield _page(f"effect {name}, auditor", who.auditor, "effect", effect.uid)
    for name in ("reconcile", "outbox", "export"):
        yield _page(name, who.admin, name)
    yield _page("undo", who.admin, "undo", Run.objects.filter(agent="mailing")[0].pk)


def _asked(who: Readers) -> dict[str, dict[str, object]]:
    effect = Effect.objects.exclude(permit=None).order_by("uid")[100:].first()
    order = effect.args["order_id"] if effect else ""
    starter = who.owner.label
    return {
        "": {},
        **{s: {"status": s} for s in ("sent", "confirmed", "in_doubt", "pending", "failed")},
        "of a tool": {"tool": "mail.send"},
        "of a rare tool": {"tool": "carrier.collect"},
        "of an agent": {"agent": "refund_desk"},
        "of a rare agent": {"agent": "returns_desk"},
        "of an agent and a tool": {"agent": "returns_desk", "tool": "carrier.collect"},
        "of an agent that never used a tool": {"agent": "mailing", "tool": "payments.refund"},
        "of a run": {"run": Run.objects.filter(agent="mailing")[0].pk},
        "with an incident": {"incident": "on"},
        "settled by hand": {"status": "by_hand"},
        "of a starter": {"person": starter, "role": "started"},
        "of a busy starter": {"person": User.objects.order_by("pk")[0].label, "role": "started"},
        "of who allowed it": {"person": who.approver.label, "role": "allowed"},
        "of who settled it": {"person": who.operator.label, "role": "settled"},
        "of a person, any role": {"person": starter},
        "of a busy person, any role": {"person": User.objects.order_by("pk")[0].label},
        "of nobody": {"person": "Nobody Atall"},
        "where arguments are equal": {"where": f"order_id = {order}"},
        "where half is larger": {"where": "amount_cents >= 60000"},
        "where none is larger": {"where": "amount_cents >= 70000"},
        "where a currency is met by all refunds": {"where": "currency = EUR"},
        "where two conditions hold": {"where": "amount_cents >= 60000, currency = EUR"},
        "where a subject is met by almost all": {"where": "subject = News"},
        "by a key": {"key": effect.idempotency_key if effect else ""},
        "by a reference": {"reference": effect.provider_ref if effect else ""},
        "by a word": {"q": order},
        "by a common word": {"q": "news"},
        "by two words": {"q": f"refund {order}"},
        "by an id": {"q": effect.uid if effect else ""},
        "by part of a tool": {"q": "mail"},
        "by what is not there": {"q": "zzzzzz"},
        "by parts of arguments": {"q": "ustomer3", "in_arguments": "on"},
        "by parts that are not there": {"q": "zzzzzz", "in_arguments": "on"},
        "of a month": {"since": "30d"},
        "of an hour": {"since": "1h"},
        "of a month, of a tool": {"since": "30d", "tool": "payments.refund"},
        "half way down": {"after": _at(Effect.objects.all(), 0.5)},
        "at the end": {"after": _at(Effect.objects.all(), 0.9999)},
        "of a tool, half way down": {
            "tool": "payments.refund",
            "after": _at(Effect.objects.filter(tool="payments.refund"), 0.5),
        },
    }


def _of_some(role: str, user: User) -> Iterator[Page]:
    """Of somebody who sees only what is theirs."""
    seen = Effect.objects.filter(visible.within(user, "run"))
    asked: dict[str, dict[str, object]] = {
        "": {},
        "in doubt": {"status": "in_doubt"},
        "of a tool": {"tool": "mail.send"},
        "of a rare tool": {"tool": "carrier.collect"},
        "of an agent": {"agent": "refund_desk"},
        "where half is larger": {"where": "amount_cents >= 60000"},
        "by a common word": {"q": "news"},
        "by what is not there": {"q": "zzzzzz"},
        "half way down": {"after": _at(seen, 0.5)},
    }
    yield from listed(f"ledger, {role}", user, reverse("ledger:list"), asked)


def _at(effects: QuerySet[Effect], share: float) -> str:
    place = int(effects.count() * share)
    found = effects.order_by("-created_at", "-uid")[place:].first()
    return f"{found.created_at.isoformat()}~{found.uid}" if found else ""


def _page(name: str, reader: User, view: str, *given: object) -> Page:
    return Page(name=name, reader=reader, address=reverse(f"ledger:{view}", args=given))
