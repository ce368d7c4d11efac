"""A page of one run: the header, its tabs, and one of them open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import clock
from accounts.models import User
from runs import offers, ports, queries, registry, standing, web
from runs.heading import notices
from runs.models import Run
from runs.queries import Row
from runs.story import Notice

EVERY = 5
"""Seconds between two looks at a run under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TabLink:
    """A tab as a link."""

    label: str
    url: str
    count: int | None
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What every page of a run shows above its own content."""

    row: Row
    now: datetime
    agent: str
    offers: list[offers.Control]
    notices: list[Notice]
    tabs: list[TabLink]
    total: timedelta | None
    """From the first start to the end, or until now."""
    live: bool
    """Somebody holds the lease."""
    barred: str
    """Why nothing is offered; empty: something is, or the run has ended."""

    @property
    def run(self) -> Run:
        return self.row.run


def header(run_id: UUID, user: User, tab: str) -> Header:
    """Raises NoSuchRun."""
    row = queries.one(run_id, user)
    run, now = row.run, clock.page()
    declared, offered = registry.declarations().get(run.agent), offers.to(user, row)
    return Header(
        row=row,
        now=now,
        agent=declared.shown if declared else run.agent,
        offers=offered,
        notices=notices.of(row, user),
        tabs=_tabs(run, user, tab),
        total=(run.ended_at or now) - run.first_started_at if run.first_started_at else None,
        live=standing.is_live(run.lease, now),
        barred="" if offered else _barred(run, user),
    )


def _barred(run: Run, user: User) -> str:
    if run.ended:
        return ""
    if run.cancel_asked_at is not None:
        return _("It is being cancelled; nothing else can be done to it.")
    if not any(user.has_perm(control.permission) for control in offers.CONTROLS):
        return _("You may look at runs. Operators cancel and resume them.")
    return _("Nothing that you may do fits the run as it stands.")


def _tabs(run: Run, user: User, current: str) -> list[TabLink]:
    def link(slug: str, label: str, url: str, count: int | None = None) -> TabLink:
        return TabLink(label=label, url=url, count=count, on=slug == current)

    told = [story for story in ports.stories() if user.has_perm(story.tab.permission)]
    return [
        link("timeline", _("Timeline"), reverse("runs:run", args=[run.pk])),
        *(
            link(
                story.tab.slug,
                story.tab.label,
                reverse("runs:tab", args=[run.pk, story.tab.slug]),
                story.count(run.pk, user),
            )
            for story in told
        ),
        link("attempts", _("Attempts"), reverse("runs:attempts", args=[run.pk])),
        link("checkpoints", _("Checkpoints"), reverse("runs:checkpoints", args=[run.pk])),
        link("replay", _("Replay"), reverse("runs:replay", args=[run.pk])),
        link("state", _("Input and state"), reverse("runs:state", args=[run.pk])),
        link("audit", _("Audit"), reverse("runs:audit", args=[run.pk])),
    ]


def page(
    request: HttpRequest, top: Header, *, body: str, live: bool = False, **context: object
) -> HttpResponse:
    """The whole page, or its region for an update; `body` is the template of the open tab."""
    context |= {
        "top": top,
        "run": top.run,
        "body": body,
        "live_url": request.get_full_path() if live else "",
        "every": EVERY,
    }
    return web.answer(request, "runs/run.html", "region", context)
