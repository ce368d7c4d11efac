"""Whether the parts that must run by themselves do, workers and queue first: one line of a page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import clock
from accounts.models import User
from runs import signs, workers
from runs.fleet import backlog
from runs.signs import Sign

LONG = timedelta(minutes=2)
"""A run that waits for longer says that workers are missing."""
LOUD = ("broker", "workers")
"""Parts without which no run goes on at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A sign, and where this reader learns more."""

    sign: Sign
    url: str = ""


def parts(user: User) -> list[Part]:
    """What a line about all of it shows this person: the broker only while it is away."""
    return [part for part in everything(user) if part.sign.key != "broker" or not part.sign.well]


def everything(user: User) -> list[Part]:
    """Every part. Where this person may not read more, there is no address."""
    found = (crew(), queue(), *signs.all())
    return [
        Part(
            sign=sign,
            url="" if sign.permission and not user.has_perm(sign.permission) else sign.url,
        )
        for sign in found
    ]


def crew() -> Sign:
    """Somebody must be there who takes runs."""
    count = len(workers.driving())
    return Sign(
        key="workers",
        name=_("Workers"),
        at=None,
        well=bool(count),
        lack=_("None"),
        note=ngettext("%(count)s alive", "%(count)s alive", count) % {"count": count}
        if count
        else _("none alive"),
        todo="" if count else _("Runs are accepted and wait. Whoever runs this server starts one."),
        command="" if count else backlog.COMMAND,
        url=reverse("runs:workers"),
    )


def queue() -> Sign:
    """What is due and not driven."""
    found = backlog.queue()
    count = {"count": found.depth}
    if found.capped:
        waits = _("%(count)s runs or more wait") % count
    else:
        waits = ngettext("%(count)s run waits", "%(count)s runs wait", found.depth) % count
    late = found.oldest is not None and clock.page() - found.oldest > LONG
    return Sign(
        key="queue",
        name=_("Waiting for a worker"),
        at=found.oldest,
        joint=_(", the oldest since "),
        well=not late,
        lack=_("Late"),
        note=waits if found.depth else _("no run waits"),
        todo=_("The page of the workers says why they wait.") if late else "",
        url=f"{reverse('runs:workers')}#queue",
    )
