"""Where somebody is signed in: what each browser said of itself, and ending all but this one.

A sign-in is known from the moment when it was made; those that ended by themselves are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.signals import signed_out_elsewhere

MOST = 20
"""Shown; ending others ends all."""
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """One browser in which somebody is signed in."""

    browser: str
    said: str
    """What the browser said of itself, whole."""
    address: str
    since: datetime
    here: bool


def of(user: User, *, here: str | None) -> list[SignIn]:
    """The newest first. `here` is the key of the session that asks."""
    found = UserSession.objects.filter(user=user, session_key__in=_live())
    return [
        SignIn(
            browser=_named(each.user_agent),
            said=each.user_agent,
            address=each.ip,
            since=each.created_at,
            here=each.session_key == here,
        )
        for each in found.order_by("-created_at")[:MOST]
    ]


@transaction.atomic
def end_others(user: User, *, here: str | None) -> int:
    """Sign out everywhere but here; how many that were."""
    others = UserSession.objects.filter(user=user).exclude(session_key=here)
    keys = list(others.values_list("session_key", flat=True))
    ended, _by_table = Session.objects.filter(session_key__in=keys).delete()
    others.delete()
    if ended:
        signed_out_elsewhere.send(User, user=user, ended=ended)
    return ended


def _live() -> object:
    return Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")


def _named(said: str) -> str:
    browser = next((name for mark, name in BROWSERS if re.search(rf"\b{mark}", said)), "")
    system = next((name for mark, name in SYSTEMS if mark in said), "")
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or _("Another program")
