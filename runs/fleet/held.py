"""The leases that somebody holds now, each with how much of it is left and what its run does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.models import User
from audit.models import ClockTimestamp
from runs import chain, visible
from runs.models import Lease
from runs.status import State

MOST = 200
ENDING = 0.25
"""The share of a lease below which somebody should have renewed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lease that somebody holds now."""

    lease: Lease
    left: timedelta
    node: str
    """What its run does now, as far as it was saved."""

    @property
    def share(self) -> float:
        """How much of a whole lease is left, from 0 to 1."""
        return min(max(self.left / settings.RUNS_LEASE, 0.0), 1.0)

    @property
    def state(self) -> State:
        if self.share < ENDING:
            sentence = _("Less than a quarter is left: the holder has missed heartbeats.")
            return State(
                value="ending", label=_("Ending"), tone="warn", icon="hourglass", sentence=sentence
            )
        sentence = _("The holder renews the lease with every heartbeat.")
        return State(value="live", label=_("Live"), tone="info", icon="arc", sentence=sentence)


def held(user: User) -> list[Held]:
    """Live leases of runs that this person may see, the next to end first."""
    found = (
        Lease.objects.filter(visible.within(user, "run"), expires_at__gt=ClockTimestamp())
        .annotate(now=ClockTimestamp())
        .select_related("run")
        .order_by("expires_at")
    )
    leases = list(found[:MOST])
    tips = chain.tips([lease.pk for lease in leases])
    return [
        Held(
            lease=lease,
            left=lease.expires_at - lease.now,
            node=tips[lease.pk].nodes if lease.pk in tips else "",
        )
        for lease in leases
        if lease.expires_at
    ]
