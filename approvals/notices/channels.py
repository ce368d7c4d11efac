"""Channels: what a group is told where it talks (Slack, Teams, a webhook, …), sent by Apprise.

The handler of the destination `notices.channel`. A channel is told what happened, to which
agent's request, and where to look; never what an agent wrote, which could hold mentions or links.

Addresses are secrets, because they are all it takes to write there. They are read from
APPROVALS_CHANNELS and stand in no message, log or page; a message names its channel by a
fingerprint.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import apprise
from django.conf import settings
from django.urls import reverse
from django.utils import translation

from accounts.speech import later as _
from approvals.models import Request
from approvals.notices import audience
from approvals.notices.events import Event
from ledger import outbox
from ledger.outbox import Letter
from ledger.outbox.webhooks import EVENT_ID
from ledger.outcomes import Outcome

DESTINATION = "notices.channel"
ANNOUNCED = frozenset(Event) - {Event.TOOK_EFFECT}
WORDS = {
    Event.NEEDS_YOU: _("A request waits for {group}"),
    Event.REMINDER: _("A request still waits for {group}"),
    Event.ESCALATED: _("A request was passed on, because others did not decide"),
    Event.NOBODY_CAN_DECIDE: _("A request waits for {group}, and nobody can approve it"),
    Event.DECIDED: _("A request for {group} was decided: {status}"),
    Event.NOT_DELIVERED: _("A decision of {group} did not reach its run"),
}
_SCHEME = re.compile(r"([a-z0-9+.-]{1,30})://")
KINDS = {
    Event.NEEDS_YOU: apprise.NotifyType.INFO,
    Event.DECIDED: apprise.NotifyType.SUCCESS,
}
"""The others are warnings."""


def groups(request: Request) -> list[str]:
    """Those that were asked and have a channel."""
    return [group for group in request.groups if group in settings.APPROVALS_CHANNELS]


def announce(event: Event, request: Request, group: str, *, key: str) -> None:
    """In a transaction: have each channel of `group` told."""
    if event not in ANNOUNCED:
        return
    for address in settings.APPROVALS_CHANNELS.get(group, ()):
        name = fingerprint(address)
        outbox.add(
            DESTINATION,
            {
                "event": event.value,
                "request": str(request.pk),
                "group": group,
                "service": service(address),
                "channel": name,
            },
            dedupe=f"{key}:{name}",
        )


def fingerprint(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()[:16]


def service(address: str) -> str:
    """What kind of channel it is, such as slack: all of an address that anybody may see."""
    found = _SCHEME.match(address)
    return found[1] if found else "unknown"


def send(letter: Letter) -> Outcome:
    """Tell one channel, unless it is not worth telling any more."""
    told = audience.read(letter.payload)
    if told is None:
        return Outcome.refused(audience.UNKNOWN)
    event, request, group = told.event, told.request, told.group
    if not audience.is_open(event, request):
        return Outcome.success("")
    address = next(_named(group, told.channel), None)
    if address is None:
        return Outcome.refused(f"{group} has this channel no more in APPROVALS_CHANNELS")
    return _post(address, event, request, group, letter)


def _named(group: str, name: str) -> Iterator[str]:
    for address in settings.APPROVALS_CHANNELS.get(group, ()):
        if fingerprint(address) == name:
            yield address


def _post(address: str, event: Event, request: Request, group: str, letter: Letter) -> Outcome:
    kind = service(address)
    asset = apprise.AppriseAsset(
        app_id="Signalbox", app_desc="Signalbox", app_url=settings.SIGNALBOX_URL, async_mode=False
    )
    try:
        channel = apprise.Apprise.instantiate(address, asset=asset)
        if not isinstance(channel, apprise.NotifyBase):
            return Outcome.refused(f"the {kind} address of {group} cannot be read")
        headers = getattr(channel, "headers", None)
        if isinstance(headers, dict):  # channels that are webhooks
            headers[EVENT_ID] = str(letter.id)
        with translation.override(settings.DEFAULT_LANGUAGE):
            sent = channel.notify(
                title=_title(event, request, group),
                body=_body(request, letter),
                notify_type=KINDS.get(event, apprise.NotifyType.WARNING),
                body_format=apprise.NotifyFormat.TEXT,
            )
    except Exception as exc:  # whatever it is, its words may hold the address
        return Outcome.unknown(f"{kind}: {type(exc).__name__}")
    return Outcome.success("") if sent else Outcome.unknown(f"{kind} did not take it")


def _title(event: Event, request: Request, group: str) -> str:
    return str(WORDS[event]).format(group=group, status=request.get_status_display().lower())


def _body(request: Request, letter: Letter) -> str:
    link = settings.SIGNALBOX_URL.rstrip("/") + reverse("approvals:review", args=[request.pk])
    return _(
        "Asked by the agent {agent}.\n{link}\nEvent {id}",
        agent=request.run.agent,
        link=link,
        id=letter.id,
    )
