"""Runs that have something to do and that nobody drives, and who could take them.

Counted are those that one pass of the sweeper would ring for, so a large backlog is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import registry, sweeper
from runs.fleet.crews import Crew
from runs.models import Run
from runs.status import State

COMMAND = "celery -A signalbox worker -Q runs -n worker-1@%h"
"""What starts a worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """All of them together."""

    depth: int
    capped: bool
    """There are more than `depth`."""
    oldest: datetime | None
    """Since when the one that waits longest has been due, or a little before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Those of one agent in one version."""

    agent: str
    version: str
    depth: int
    oldest: datetime
    able: int
    """Live workers that know this very version, or one that is compatible with it."""
    others: str
    """Versions of the agent that live workers have, where none fits."""
    free: int | None
    """Slots of the able workers that hold no lease; None: some worker does not say."""

    @property
    def blocked(self) -> bool:
        return not self.able

    @property
    def state(self) -> State:
        if not self.able:
            label, tone, icon = _("Nobody takes them"), "bad", "triangle"
        elif self.free == 0:
            label, tone, icon = _("All are busy"), "warn", "hourglass"
        else:
            label, tone, icon = _("Taken next"), "ok", "check"
        return State(value="line", label=label, tone=tone, icon=icon, sentence=self.says)

    @property
    def says(self) -> str:
        """Why they wait, in a sentence."""
        named = {"agent": self.agent, "version": self.version, "others": self.others}
        if not self.able and self.others:
            return (
                _(
                    "Workers know %(agent)s in another version only (%(others)s), and would park"
                    " runs of %(version)s. Start one with that version, or declare it compatible."
                )
                % named
            )
        if not self.able:
            return (
                _("No worker knows %(agent)s %(version)s. Start one from a release that has it.")
                % named
            )
        if self.free == 0:
            return _("Every slot is taken. The next free one takes the oldest; or start a worker.")
        return ngettext("%(count)s worker knows it.", "%(count)s workers know it.", self.able) % {
            "count": self.able
        }

    @property
    def command(self) -> str:
        """What starts a worker, where one is missing."""
        return "" if self.able else COMMAND


def queue() -> Queue:
    """One query."""
    since = [changed for _, changed in sweeper.due()]
    return Queue(
        depth=len(since), capped=len(since) >= sweeper.MOST, oldest=min(since, default=None)
    )


def lines(crews: Sequence[Crew]) -> list[Line]:
    """What waits for each agent and version: what nobody takes first, then the oldest."""
    counted = (
        Run.objects.filter(pk__in=sweeper.find_due())
        .values_list("agent", "agent_version")
        .annotate(Count("pk"), Min("updated_at"))
    )
    found = [
        _line(crews, agent, version, depth, oldest) for agent, version, depth, oldest in counted
    ]
    return sorted(found, key=lambda line: (not line.blocked, line.oldest))


def _line(crews: Sequence[Crew], agent: str, version: str, depth: int, oldest: datetime) -> Line:
    knowing = [crew for crew in crews if crew.alive and agent in crew.worker.agents]
    able = [crew for crew in knowing if _fits(agent, crew.worker.agents[agent], version)]
    told = all(crew.worker.slots for crew in able)
    free = sum(max(crew.worker.slots - crew.leases, 0) for crew in able) if able and told else None
    others = sorted({crew.worker.agents[agent] for crew in knowing}) if not able else []
    return Line(
        agent=agent,
        version=version,
        depth=depth,
        oldest=oldest,
        able=len(able),
        others=", ".join(others),
        free=free,
    )


def _fits(agent: str, has: str, wanted: str) -> bool:
    """Whether a worker that has one version would go on with a run of another."""
    declared = registry.declarations().get(agent)
    return has == wanted or (
        declared is not None and declared.version == has and declared.fits(wanted)
    )
