"""The outbox as a list, and queueing again what was given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_http_methods, require_safe

from accounts import clock, drafts, proof
from accounts.actors import Actor
from accounts.speech import later
from ledger import errors, shown
from ledger.forms import AgainForm
from ledger.models import Message
from ledger.outbox import replays
from ledger.status import MESSAGES, RETRYING, SENDING, MessageStatus
from runs import web
from runs.status import State

SEE = "ledger.view_message"
VIEWS = {
    MessageStatus.PENDING: later("Waiting"),
    MessageStatus.DEAD: later("Given up"),
    MessageStatus.SENT: later("Sent"),
}
SIZE = 50
EVERY = 10
"""Seconds between two looks at what may change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message in the list."""

    message: Message
    state: State
    says: str
    """The beginning of the payload, what is sensitive hidden."""

    @classmethod
    def of(cls, message: Message, now: datetime) -> Row:
        return cls(message=message, state=_state(message, now), says=shown.preview(message.payload))


def _state(message: Message, now: datetime) -> State:
    if message.status == MessageStatus.PENDING:
        if message.claimed_until is not None and message.claimed_until > now:
            return SENDING
        if message.tries:
            return RETRYING
    return MESSAGES[message.status]


@conditional_page
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """What waits, what was given up, or what was sent."""
    user = web.reader(request, SEE)
    view = request.GET.get("view", "")
    view = view if view in VIEWS else MessageStatus.PENDING
    found, older = _page(view, request.GET.get("after", ""))
    now = clock.now()
    counts = dict(
        Message.objects.exclude(status=MessageStatus.SENT)
        .values_list("status")
        .annotate(Count("pk"))
    )
    context = {
        "rows": [Row.of(message, now) for message in found],
        "view": view,
        "views": [(key, label, counts.get(key, 0)) for key, label in VIEWS.items()],
        "older": older,
        "every": EVERY,
        "live_url": f"{reverse('ledger:outbox')}?{request.GET.urlencode()}",
        "may_retry": user.has_perm(replays.PERMISSION),
        "dead": _dead() if view == MessageStatus.DEAD else (),
    }
    return web.answer(request, "ledger/outbox.html", "rows", context)


def _page(view: str, after: str) -> tuple[list[Message], str]:
    """The messages of one page, and the address of the next one; empty: there is none."""
    found = Message.objects.filter(status=view).select_related("run")
    if view == MessageStatus.PENDING:
        found = found.order_by("seq")
        place = "seq__gt"
    else:
        found = found.order_by("-seq")
        place = "seq__lt"
    if after.isdecimal():
        found = found.filter(**{place: int(after[:18])})
    rows = list(found[: SIZE + 1])
    if len(rows) <= SIZE:
        return rows, ""
    return rows[:SIZE], f"?{urlencode({'view': str(view), 'after': str(rows[SIZE - 1].seq)})}"


def _dead() -> QuerySet[Message, tuple[str, int]]:
    """How many messages were given up, by destination."""
    return (
        Message.objects.filter(status=MessageStatus.DEAD)
        .values_list("destination")
        .annotate(Count("pk"))
        .order_by("destination")
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def retry(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Queue one message again that was given up."""
    web.reader(request, replays.PERMISSION)
    message = Message.objects.filter(uid=uid).first()
    if message is None:
        raise errors.NoSuchMessage

    def act(reason: str) -> int:
        replays.replay(uid, actor=Actor.of(request), reason=reason)
        return 1

    return _confirmed(request, act, {"message": message, "destination": message.destination})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def retry_all(request: HttpRequest, destination: str) -> HttpResponse:
    """Queue everything again that was given up for one destination."""
    web.reader(request, replays.PERMISSION)
    dead = Message.objects.filter(status=MessageStatus.DEAD, destination=destination)

    def act(reason: str) -> int:
        return replays.replay_all(destination, actor=Actor.of(request), reason=reason)

    return _confirmed(request, act, {"destination": destination, "count": dead.count()})


def _confirmed(
    request: HttpRequest, act: Callable[[str], int], about: dict[str, object]
) -> HttpResponse:
    """The page that asks for a reason, and what follows once it is given."""
    kept = proof.kept(request)
    form = AgainForm(request.POST or None, initial=kept)
    back = f"{reverse('ledger:outbox')}?{urlencode({'view': MessageStatus.DEAD.value})}"
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            try:
                count = act(form.cleaned_data["reason"])
            except errors.LedgerError as refusal:
                form.add_error(None, refusal.shown)
                code = refusal.http_status
            else:
                proof.forget(request)
                queued = ngettext(
                    "{count} message is queued again.", "{count} messages are queued again.", count
                )
                messages.success(request, queued.format(count=count))
                return HttpResponseRedirect(reverse("ledger:outbox"))
    about |= {"confirmed": kept is not None}
    context = about | {
        "form": form,
        "verb": _("Send again"),
        "keep": _("Leave it"),
        "keep_url": back,
    }
    return render(request, "ledger/outbox_retry.html", context, status=code)
