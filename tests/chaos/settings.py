"""The settings of the harness's processes: its agents, and times in which leases run out quickly.

Everything else is as in production. The services are those of SIGNALBOX_STATE, made for one run of
the harness and thrown away.
"""

from __future__ import annotations

from datetime import timedelta

from signalbox.settings import *  # noqa: F403

RUNS_AGENTS: list[dict[str, object]] = [  # type: ignore[no-redef]
    {
        "name": f"{shape}{suffix}",
        "graph": f"tests.chaos.shapes.{shape}",
        "version": "1",
        "transient": "tests.chaos.faults.may_pass",
        "run_async": suffix == "_async",
    }
    for shape in ("sequential", "parallel", "subgraph", "router", "functional", "fan")
    for suffix in ("", "_async")
]
RUNS_TRIES = 40
RUNS_LEASE = timedelta(seconds=1)
RUNS_HEARTBEAT = timedelta(seconds=0.3)
RUNS_LEASE_MARGIN = timedelta(seconds=0.2)
RUNS_BACKOFF = timedelta(seconds=0.05)
RUNS_BACKOFF_CAP = timedelta(seconds=0.2)
RUNS_CRASH_LIMIT = 4
"""Low, so that some runs are parked as crash loops and an operator sends them on."""

LEDGER_CALL_TIMEOUT = timedelta(seconds=5)
LEDGER_BACKOFF = timedelta(seconds=0.05)
LEDGER_TRIES = 40

APPROVALS_POLICIES = []
APPROVALS_DEFAULT = {"name": "default", "group": "approver", "deadline": timedelta(hours=1)}
