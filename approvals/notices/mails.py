"""Mails: one for everything that a person is told within their window.

The handler of the destination `notices.mail`. What a mail holds is fixed before it is sent, so a
repeat is the same mail with the same Message-ID. What is not worth telling any more is left out.
"""

from __future__ import annotations

import smtplib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from email.utils import parseaddr
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts import clock, speech
from accounts.actors import ClockTimestamp
from accounts.models import User
from approvals.electorate import Electorate, gate_of
from approvals.models import Decision, Notice, Request
from approvals.notices import audience
from approvals.notices.events import QUESTIONS, Event
from ledger.outbox import Letter
from ledger.outbox.webhooks import EVENT_ID
from ledger.outcomes import Outcome

LATER = tuple(Event)
"""Of two events of one request, the one further down this list says more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One request in a mail."""

    event: Event
    title: str
    """The agent's words."""
    agent: str
    says: str
    """Our words."""
    deadline: datetime | None
    url: str

    @property
    def asks(self) -> bool:
        return self.event in QUESTIONS


def send(letter: Letter) -> Outcome:
    """Send one person what there is to tell them, if anything still is."""
    told = letter.payload if isinstance(letter.payload, dict) else {}
    user = User.objects.filter(pk=int(told.get("user", 0))).first()
    if user is None:
        return Outcome.refused("there is no such person")
    notices = _take(user, letter.id)
    worth = [
        each for each in notices if audience.still_concerns(user, Event(each.event), each.request)
    ]
    _close({each.pk for each in notices} - {each.pk for each in worth}, Notice.Status.DROPPED)
    if not worth:
        return Outcome.success("")
    mail = compose(user, worth, letter.id)
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused:
        return Outcome.refused("the mail server does not take mail for this person")
    except (smtplib.SMTPException, OSError) as exc:
        return Outcome.unknown(type(exc).__name__)
    _close({each.pk for each in worth}, Notice.Status.SENT)
    return Outcome.success(mail.extra_headers["Message-ID"])


def compose(user: User, notices: Iterable[Notice], letter: UUID) -> EmailMultiAlternatives:
    """The mail, in plain text and in HTML that loads nothing."""
    language = speech.of_mails(user.language)
    with timezone.override(ZoneInfo(user.time_zone)), translation.override(language):
        items = _items(notices)
        context = {
            "asked": [item for item in items if item.asks],
            "news": [item for item in items if not item.asks],
            "items": items,
            "zone": user.time_zone,
            "choices_url": _address("approvals:notices"),
        }
        subject = render_to_string("approvals/mail/subject.txt", context).strip()
        text = render_to_string("approvals/mail/mail.txt", context)
        html = render_to_string("approvals/mail/mail.html", context)
    sender = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    domain = sender.rpartition("@")[2] or "localhost"
    mail = EmailMultiAlternatives(
        subject=" ".join(subject.split()),
        body=text,
        to=[user.email],
        headers={
            "Message-ID": f"<{letter}@{domain}>",
            EVENT_ID: str(letter),
            "Auto-Submitted": "auto-generated",
            "X-Auto-Response-Suppress": "All",
        },
    )
    mail.attach_alternative(html, "text/html")
    return mail


def _take(user: User, letter: UUID) -> list[Notice]:
    """What this mail tells: fixed at the first try."""
    waiting = Notice.objects.filter(user=user, status=Notice.Status.WAITING)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)
        if not waiting.filter(message=letter).exists():
            waiting.filter(message=None, due_at__lte=clock.now()).update(message=letter)
    return list(
        waiting.filter(message=letter)
        .select_related("request__run", "request__decision")
        .order_by("pk")
    )


def _close(ids: Iterable[int], status: Notice.Status) -> None:
    Notice.objects.filter(pk__in=ids).update(status=status, closed_at=ClockTimestamp())


def _items(notices: Iterable[Notice]) -> list[Item]:
    """One for each request, with what has happened last; the nearest deadline first."""
    last: dict[UUID, Notice] = {}
    for each in sorted(notices, key=lambda each: LATER.index(Event(each.event))):
        last[each.request_id] = each
    items = [_item(Event(each.event), each.request) for each in last.values()]
    return sorted(items, key=lambda item: (not item.asks, item.deadline or clock.now(), item.url))


def _item(event: Event, request: Request) -> Item:
    return Item(
        event=event,
        title=request.title,
        agent=request.run.agent,
        says=says(event, request),
        deadline=request.deadline if event in QUESTIONS else None,
        url=_address("approvals:review", request.pk),
    )


def says(event: Event, request: Request) -> str:
    """What happened, in our words, without anything that an agent wrote."""
    decision = getattr(request, "decision", None)
    word = _decided(request, decision)
    needs = gate_of(request).sentence if event in QUESTIONS else ""
    match event:
        case Event.NEEDS_YOU:
            return _("Waits for your decision. It needs {needs}.").format(needs=needs)
        case Event.REMINDER:
            return _("Still waits for your decision. It needs {needs}.").format(needs=needs)
        case Event.ESCALATED:
            return _("Was passed on to you, because others did not decide.")
        case Event.NOBODY_CAN_DECIDE:
            return _("Nobody can approve this. It needs {needs}. {relief}").format(
                needs=needs, relief=_relief(request)
            )
        case Event.DECIDED:
            return f"{word}."
        case Event.TOOK_EFFECT:
            return _("{word}. The run has gone on with this decision.").format(word=word)
        case Event.NOT_DELIVERED:
            return _lost(word, decision.delivery_detail if decision is not None else "")


def _decided(request: Request, decision: Decision | None) -> str:
    if decision is None:
        return _("Decided")
    if decision.decided_by_id is None:
        return _("Nobody decided in time")
    return _("{status} by {person}").format(
        status=request.get_status_display(), person=decision.decider
    )


def _lost(word: str, why: str) -> str:
    if not why:
        return _("{word}, but the decision did not reach the run.").format(word=word)
    return _("{word}, but the decision did not reach the run: {why}.").format(word=word, why=why)


def _relief(request: Request) -> str:
    step = Electorate.of([request]).relief(request)
    if step is None:
        return _("You can put people into groups.")
    return _(
        "From {at:%Y-%m-%d %H:%M} {group} can, too. You can put people into groups now."
    ).format(at=timezone.localtime(step.at), group=step.group)


def _address(route: str, *args: object) -> str:
    base: str = settings.SIGNALBOX_URL
    return base.rstrip("/") + reverse(route, args=args)
