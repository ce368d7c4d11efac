"""What every page needs besides its own content: the menu, the theme, the clock."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts import proof
from accounts.middleware import SHOW_UTC
from accounts.models import Theme, User
from approvals import queries as approvals
from signalbox import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An entry of the main menu. `permission` is needed to see it; empty: everybody signed in."""

    label: str | Promise
    route: str
    key: str
    """Pressed after g."""
    permission: str = ""
    count: Callable[[User], int] | None = None
    """How many things there wait for this person."""
    live: str = ""
    """The route that answers with the count alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A place as one person sees it on one page."""

    label: str | Promise
    url: str
    key: str
    current: bool
    count: int
    live: str


PLACES = (
    Place(label=_("Overview"), route="overview", key="o"),
    Place(label=_("Runs"), route="runs:list", key="r", permission="runs.view_run"),
    Place(
        label=_("Approvals"),
        route="approvals:inbox",
        key="a",
        permission="approvals.view_request",
        count=approvals.waiting_for,
        live="waiting",
    ),
    Place(label=_("Ledger"), route="ledger:list", key="l", permission="ledger.view_effect"),
    Place(label=_("Workers"), route="runs:workers", key="w", permission="runs.view_run"),
    Place(label=_("Audit"), route="audit:list", key="u", permission="audit.view_entry"),
)


def chrome(request: HttpRequest) -> dict[str, object]:
    """The context processor. The menu is worked out only where a template shows it."""
    user = getattr(request, "user", None)
    person = user if isinstance(user, User) else None
    zone = timezone.get_current_timezone_name()
    return {
        "nav": partial(menu, person, request.path) if person else (),
        "theme": person.theme if person else Theme.SYSTEM,
        "server_now": timezone.now(),
        "script_words": json.dumps(words.of_scripts(), ensure_ascii=False),
        "zone": zone,
        "unfinished": partial(proof.unfinished, request) if person else "",
        "shows_utc": person is not None and bool(request.session.get(SHOW_UTC)),
        "demo": settings.DEMO,
    }


def menu(person: User, path: str) -> list[Link]:
    """The places that this person may see, the one that `path` belongs to marked as current."""
    links = []
    for place in PLACES:
        if place.permission and not person.has_perm(place.permission):
            continue
        url = reverse(place.route)
        home = place.route == "overview"
        links.append(
            Link(
                label=place.label,
                url=url,
                key=place.key,
                current=path == url if home else path.startswith(url),
                count=place.count(person) if place.count else 0,
                live=reverse(place.live) if place.live else "",
            )
        )
    return links
