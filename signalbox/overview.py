"""What the first page answers: does anything need me, is anything stuck, does the system work?

Everybody sees the parts that they may see; who may see nothing is told how that can change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Case, IntegerField, Max, Value, When
from django.urls import reverse

from accounts.models import User
from approvals import queries as approvals
from approvals.models import Request
from approvals.status import Status as RequestStatus
from ledger import queries as ledger
from ledger.models import Message
from ledger.status import MessageStatus
from ledger.status import Status as EffectStatus
from runs import fleet, queries, standing, visible
from runs.fleet import Queue, Sign
from runs.models import Run
from runs.queries import Row
from runs.status import Status
from signalbox import outcomes
from signalbox.outcomes import Chart

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
class Health:
    """Whether the parts that must run by themselves do."""

    workers: int
    queue: Queue
    signs: tuple[Sign, ...]


@dataclass(slots=True, kw_only=True)
class Overview:
    """The page, for one reader."""

    numbers: list[Number] = field(default_factory=list)
    waiting: Sequence[Request] = ()
    waiting_more: int = 0
    mine: bool = False
    """They wait for the reader."""
    troubled: Sequence[Row] = ()
    troubled_more: int = 0
    chart: Chart | None = None
    health: Health | None = None
    last_ended: datetime | None = None

    @property
    def quiet(self) -> bool:
        """Nothing waits for anybody, nothing stands still, nothing runs."""
        return (
            bool(self.numbers)
            and not any(number.count for number in self.numbers)
            and not self.waiting
            and not self.troubled
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
        number = Number(label="Effects in doubt", count=doubtful, url=url, tone="warn")
        # The order of the questions: who is needed, what is wrong, what goes on.
        page.numbers.insert(max(len(page.numbers) - 1, 0), number)
    if user.has_perm("ledger.view_message"):
        _add_outbox(page)
    return page


def _add_outbox(page: Overview) -> None:
    """Only while there is something to look at: all is well otherwise."""
    dead = Message.objects.filter(status=MessageStatus.DEAD).count()
    if dead:
        url = f"{reverse('ledger:outbox')}?view={MessageStatus.DEAD.value}"
        page.numbers.append(Number(label="Messages given up", count=dead, url=url, tone="warn"))


def _add_approvals(page: Overview, user: User) -> None:
    needs = [row.request for row in approvals.needs(user)]
    page.numbers.append(
        Number(label="Needs you", count=len(needs), url=reverse("approvals:inbox"), tone="human")
    )
    page.mine = bool(needs)
    if needs:
        oldest = sorted(needs, key=lambda request: request.created_at)
    else:
        open_ = approvals.visible_to(user).filter(status=RequestStatus.PENDING)
        oldest = list(open_.select_related("run").order_by("created_at")[: SHORT * 20])
    page.waiting, page.waiting_more = oldest[:SHORT], max(len(oldest) - SHORT, 0)


def _add_runs(page: Overview, user: User) -> None:
    counts = queries.counts(user)
    listed = reverse("runs:list")
    page.numbers += [
        Number(label="Stuck", count=counts.stuck, url=f"{listed}?status=stuck", tone="warn"),
        Number(
            label="Running now",
            count=counts.running - counts.stuck,
            url=f"{listed}?status={Status.RUNNING.value}",
        ),
    ]
    first = Case(
        When(standing.stuck(), then=Value(0)),
        When(status=Status.RUNNING, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    troubled = visible.to(user).filter(queries.attention()).select_related("lease", "started_by")
    page.troubled = queries.rows(list(troubled.order_by(first, "created_at")[:SHORT]), user)
    page.troubled_more = max(counts.attention - SHORT, 0)
    page.chart = outcomes.last_day(queries.clock())
    page.last_ended = Run.objects.aggregate(last=Max("ended_at"))["last"]
    page.health = Health(
        workers=fleet.alive(),
        queue=fleet.queue(),
        signs=(fleet.sweeper_sign(), fleet.sealer_sign()),
    )
