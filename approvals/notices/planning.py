"""From what happened to who is told when: the handler of the destination `notices`.

It may run again for the same message, after a crash: a person is told once about an event of a
request, and the mail that carries it is asked for once.
"""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import Min

from accounts import clock
from accounts.actors import ClockTimestamp
from accounts.models import User
from approvals.models import Notice, NoticeChoice, Request
from approvals.notices import audience, channels, timing
from approvals.notices.events import QUESTIONS, Event
from approvals.notices.quiet import Quiet
from approvals.notices.timing import Habits
from ledger import outbox
from ledger.outbox import Letter
from ledger.outcomes import Outcome

MAIL = "notices.mail"
MOST = 500
"""Notices forgotten in one pass."""
STAGGERED = frozenset({Event.NEEDS_YOU})


def plan(letter: Letter) -> Outcome:
    """Write down who is told, and have mails and messages to channels sent."""
    told = audience.read(letter.payload)
    if told is None:
        return Outcome.refused(audience.UNKNOWN)
    event, request = told.event, told.request
    if not audience.is_open(event, request):
        return Outcome.success("")
    concerned = audience.people(event, request)
    if told.people is not None:
        concerned &= told.people
    later = {}
    if event in STAGGERED:
        left = request.deadline - clock.now()
        later = timing.waves(request.pk, concerned, left=left)
    for user in audience.users(concerned):
        _tell(user, event, request, key=str(letter.id), wave=later.get(user.pk, timedelta(0)))
    for group in channels.groups(request):
        with transaction.atomic():
            channels.announce(event, request, group, key=str(letter.id))
    return Outcome.success("")


def habits(user: User) -> Habits:
    """What this person has chosen, or what holds for who has chosen nothing."""
    choice = chosen(user)
    quiet = None
    if choice.quiet_from is not None and choice.quiet_to is not None:
        zone = ZoneInfo(user.time_zone)
        quiet = Quiet(start=choice.quiet_from, end=choice.quiet_to, zone=zone)
    return Habits(
        window=timedelta(minutes=choice.gather), quiet=quiet, wakes=choice.urgent_comes_through
    )


def chosen(user: User) -> NoticeChoice:
    """The person's choices; not saved if they have made none."""
    found: NoticeChoice | None = getattr(user, "notice_choice", None)
    return found or NoticeChoice(user=user, gather=settings.APPROVALS_NOTICE_GATHER)


def forget() -> int:
    """A rule of the sweeper: delete what people were told long ago; how much."""
    old = Notice.objects.filter(closed_at__lt=ClockTimestamp() - settings.LEDGER_OUTBOX_KEEP)
    return Notice.objects.filter(pk__in=old.values("pk")[:MOST]).delete()[0]


def _tell(user: User, event: Event, request: Request, *, key: str, wave: timedelta) -> None:
    if event in chosen(user).muted:
        return
    with transaction.atomic():
        # Who takes a mail's notices holds the same lock: none joins a mail that is closed already.
        User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)
        waiting = Notice.objects.filter(user=user, status=Notice.Status.WAITING, message=None)
        due = habits(user).when(
            clock.now(),
            wave=wave,
            deadline=request.deadline if event in QUESTIONS else None,
            under_way=waiting.aggregate(Min("due_at"))["due_at__min"],
        )
        _, new = Notice.objects.get_or_create(
            user=user, event=event, request=request, key=key, defaults={"due_at": due}
        )
        if new:
            outbox.add(
                MAIL,
                {"user": user.pk},
                dedupe=f"{user.pk}:{due.isoformat()}",
                not_before=due,
                order_key=str(user.pk),
            )
