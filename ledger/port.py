"""The ledger as the driver sees it (RUNS_LEDGER)."""

from __future__ import annotations

from uuid import UUID

from ledger import stops
from ledger.models import Effect
from ledger.status import Status


class Ledger:
    """See `runs.ports.Ledger`."""

    def in_doubt(self, run_id: UUID) -> bool:
        return Effect.objects.filter(run_id=run_id, status=Status.IN_DOUBT).exists()

    def stopped(self, agent: str) -> bool:
        return stops.stops_agent(agent)
