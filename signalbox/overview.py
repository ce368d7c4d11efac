"""What the first page answers: does anything need me, is anything stuck, does the system work?

Everybody sees the parts that they may see; who may see nothing is told how that can change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Max
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import clock
from accounts.models import User
from approvals import queries as approvals
from approvals.models import Request
from approvals.status import Status as RequestStatus
from ledger import queries as ledger
from ledger.outbox import signs as outbox
from ledger.queries import OfRun
from ledger.status import MessageStatus
from ledger.status import Status as EffectStatus
from runs import queries, standing, visible
from runs.advice import house, telling
from runs.advice.telling import Step
from runs.fleet import health
from runs.fleet.health import LOUD, Part
from runs.models import Run
from runs.queries import Row
from runs.signs import Sign
from runs.status import Park
from signalbox import outcomes
from signalbox.outcomes import Chart

DECIDES = "approvals.decide_request"
SHORT = 5
"""Rows of a list on this page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number that leads to what it counts."""

    label: str
    count: int
    url: str
    tone: str = ""
    """Worn while it is not zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A run that an operator must look at, and what to do about it."""

    row: Row
    step: Step | None


@dataclass(slots=True, kw_only=True)
class Overview:
    """The page, for one reader."""

    numbers: list[Number] = field(default_factory=list)
    waiting: Sequence[Request] = ()
    waiting_more: int = 0
    needs: Sequence[UUID] = ()
    """The requests that wait for the reader, all of them."""
    troubled: Sequence[Trouble] = ()
    troubled_more: int = 0
    every: bool = True
    """The reader sees the runs of others; otherwise all this is about runs that concern them."""
    chart: Chart | None = None
    health: Sequence[Part] = ()
    last_ended: datetime | None = None
    """When a run last ended; looked up where the page has nothing else to say."""

    @property
    def mine(self) -> bool:
        """Those that wait are for the reader."""
        return bool(self.needs)

    @property
    def loud(self) -> list[Sign]:
        """What keeps every run from going on."""
        return [part.sign for part in self.health if not part.sign.well and part.sign.key in LOUD]

    @property
    def unwell(self) -> int:
        return sum(not part.sign.well for part in self.health)

    @property
    def quiet(self) -> bool:
        """Nothing waits for anybody, nothing stands still, nothing runs, and all could."""
        return (
            bool(self.numbers)
            and not any(number.count for number in self.numbers)
            and not self.waiting
            and not self.troubled
            and not self.unwell
        )


def read(user: User) -> Overview:
    page = Overview()
    if user.has_perm("approvals.view_request"):
        _add_approvals(page, user)
    if user.has_perm("runs.view_run"):
        _add_runs(page, user)
    if user.has_perm("ledger.view_effect"):
        doubtful = ledger.in_doubt(user)
        url = f"{reverse('ledger:list')}?status={EffectStatus.IN_DOUBT.value}"
        number = Number(label=_("Effects in doubt"), count=doubtful, url=url, tone="warn")
        # The order of the questions: who is needed, what is wrong, what goes on.
        page.numbers.insert(max(len(page.numbers) - 1, 0), number)
    if user.has_perm("ledger.view_message"):
        _add_outbox(page)
    if page.quiet:
        page.last_ended = visible.to(user).aggregate(last=Max("ended_at"))["last"]
    return page


def _add_outbox(page: Overview) -> None:
    """Only while there is something to look at: all is well otherwise."""
    dead = outbox.left().dead
    if dead:
        url = f"{reverse('ledger:outbox')}?view={MessageStatus.DEAD.value}"
        page.numbers.append(Number(label=_("Messages given up"), count=dead, url=url, tone="warn"))


def _add_approvals(page: Overview, user: User) -> None:
    """Whoever decides is told what waits for them; everybody else, what waits for somebody."""
    inbox = reverse("approvals:inbox")
    needs = approvals.needs(user)
    page.needs = [row.request.pk for row in needs]
    if user.has_perm(DECIDES):
        page.numbers.append(Number(label=_("Needs you"), count=len(needs), url=inbox, tone="human"))
    if needs:
        needs.sort(key=lambda row: row.request.created_at)
        count, page.waiting = len(needs), [row.request for row in needs[:SHORT]]
    else:
        open_ = approvals.visible_to(user).filter(status=RequestStatus.PENDING)
        count = open_[: approvals.MOST].count()
        page.waiting = list(open_.select_related("run").order_by("created_at")[:SHORT])
    if not user.has_perm(DECIDES):
        label, url = _("Waiting for approval"), f"{inbox}?view=pending"
        page.numbers.append(Number(label=label, count=count, url=url, tone="human"))
    page.waiting_more = max(count - SHORT, 0)


def _add_runs(page: Overview, user: User) -> None:
    found = queries.troubled(user, SHORT)
    listed = reverse("runs:list")
    page.every = user.has_perm(visible.EVERY)
    page.numbers += [
        Number(
            label=_("Needs an operator"),
            count=found.count,
            url=f"{listed}?attention=1",
            tone="warn",
        ),
        Number(
            label=_("Running now"),
            count=queries.driven(user),
            url=f"{listed}?status={standing.DRIVEN}",
        ),
    ]
    page.troubled = _troubled(found.runs, user)
    page.troubled_more = max(found.count - SHORT, 0)
    page.chart = outcomes.last_day(clock.page(), visible.to(user))
    page.health = health.parts(user)


def _troubled(runs: Sequence[Run], user: User) -> list[Trouble]:
    rows = queries.rows(runs, user)
    around = house.look() if rows else house.House()
    effects = ledger.of_runs(tuple(run.pk for run in runs))
    return [
        Trouble(
            row=row,
            step=_settle(effects.get(row.run.pk), user)
            or _stopped(row, user)
            or _step(row, around, user),
        )
        for row in rows
    ]


def _step(row: Row, around: house.House, user: User) -> Step | None:
    return next(iter(telling.steps(row.run, row.standing, around, user)), None)


def _stopped(row: Row, user: User) -> Step | None:
    """Lifting the stop is what lets the run go on."""
    if row.run.park_reason != Park.EMERGENCY_STOP or not user.has_perm("ledger.view_effect"):
        return None
    return Step(says="", url=reverse("ledger:stops"), action=_("Emergency stops"))


def _settle(effects: OfRun | None, user: User) -> Step | None:
    """What keeps everything else of the run from being sent comes first."""
    if effects is None or effects.doubtful is None:
        return None
    may = user.has_perm("ledger.settle_effect")
    return Step(
        says="",
        url=reverse("ledger:effect", args=[effects.doubtful]),
        action=_("Settle the effect") if may else _("See the effect"),
    )
