"""Pages and actions that somebody can go to by name. All of them are links: none acts by itself."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User

Words = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """`permission` is needed to see it; empty: everybody signed in."""

    label: Words
    route: str
    icon: str
    permission: str = ""
    part: str = ""
    """What is added to the address: filters, or a place on the page."""

    @property
    def url(self) -> str:
        return reverse(self.route) + self.part


RUN, REQUEST, EFFECT = "runs.view_run", "approvals.view_request", "ledger.view_effect"

DESTINATIONS = (
    Destination(label=_("Overview"), route="overview", icon="flag"),
    Destination(label=_("Runs"), route="runs:list", icon="play", permission=RUN),
    Destination(label=_("Approvals"), route="approvals:inbox", icon="inbox", permission=REQUEST),
    Destination(label=_("Ledger"), route="ledger:list", icon="book", permission=EFFECT),
    Destination(label=_("Workers"), route="runs:workers", icon="server", permission=RUN),
    Destination(label=_("Audit"), route="audit:list", icon="eye", permission="audit.view_entry"),
    Destination(label=_("Start a run"), route="runs:new", icon="plus", permission="runs.start_run"),
    Destination(
        label=_("Runs that need an operator"),
        route="runs:list",
        part="?attention=1",
        icon="triangle",
        permission=RUN,
    ),
    Destination(
        label=_("Runs that I started"),
        route="runs:list",
        part="?owner=me",
        icon="person",
        permission=RUN,
    ),
    Destination(
        label=_("Many runs at once"),
        route="runs:operations",
        icon="hand",
        permission="runs.view_operation",
    ),
    Destination(
        label=_("Effects in doubt"),
        route="ledger:list",
        part="?status=in_doubt",
        icon="triangle",
        permission=EFFECT,
    ),
    Destination(
        label=_("Tools"), route="ledger:tools", icon="settings", permission="ledger.view_toolbox"
    ),
    Destination(
        label=_("Emergency stops"),
        route="ledger:stops",
        icon="stop",
        permission=EFFECT,
    ),
    Destination(
        label=_("Outbox"), route="ledger:outbox", icon="send", permission="ledger.view_message"
    ),
    Destination(
        label=_("Delegations"), route="approvals:delegations", icon="swap", permission=REQUEST
    ),
    Destination(
        label=_("How people decide"),
        route="approvals:statistics",
        icon="eye",
        permission="approvals.view_statistics",
    ),
    Destination(
        label=_("Settings and sign-in"),
        route="me",
        icon="settings",
    ),
    Destination(label=_("Theme: light or dark"), route="me", part="#theme", icon="settings"),
    Destination(label=_("Language and time zone"), route="me", icon="settings"),
    Destination(label=_("Passkeys and password"), route="me", part="#ways", icon="fingerprint"),
    Destination(
        label=_("Where you are signed in: end sessions"),
        route="me",
        part="#where",
        icon="sign-out",
    ),
    Destination(
        label=_("Mails about approvals"),
        route="approvals:notices",
        icon="phone",
        permission=REQUEST,
    ),
    Destination(label=_("Saved views"), route="saved_views", icon="book"),
    Destination(label=_("Keyboard shortcuts"), route="keys", icon="help"),
    Destination(label=_("Sign out"), route="account_logout", icon="sign-out"),
)


def open_to(user: User) -> list[Destination]:
    """Those that this person may open, in the order in which they are offered."""
    return [one for one in DESTINATIONS if not one.permission or user.has_perm(one.permission)]
