"""The ledger as the driver sees it (RUNS_LEDGER)."""

from __future__ import annotations

from uuid import UUID

from runs import statements
from runs.ports import Hindrances


class Ledger:
    """See `runs.ports.Ledger`."""

    def hindrances(self, run_id: UUID, agent: str) -> Hindrances:
        found = statements.one(
            statements.read("ledger", "hindrances"), {"run_id": run_id, "agent": agent}
        )
        if found is None:
            raise AssertionError("EXISTS always answers")
        in_doubt, stopped, drifted = found
        return Hindrances(in_doubt=in_doubt, stopped=stopped, drifted=drifted)
