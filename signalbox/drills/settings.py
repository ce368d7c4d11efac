"""The settings of the processes of a drill: the drills' agents, and times in which one can wait.

Everything else is as in production. Values of the environment do not count here: a drill proves
the same thing everywhere.
"""

from __future__ import annotations

from datetime import timedelta

from signalbox.settings import *  # noqa: F403
from signalbox.settings import CELERY_BEAT_SCHEDULE, INSTALLED_APPS, env

INSTALLED_APPS = ["signalbox.drills.apps.DrillsConfig", *INSTALLED_APPS]

DRILLS_ARMED = env.str("DRILLS_ARMED", default="")
"""The folder of armed points. Empty: nothing happens in this process (see `arming`)."""

CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60.0
"""Seconds that a replaced child of a pool may take to start on a busy machine."""
CELERY_BEAT_SCHEDULE = {
    name: entry | ({"schedule": 0.5} if name == "sweep" else {})
    for name, entry in CELERY_BEAT_SCHEDULE.items()
}

RUNS_AGENTS = [
    {
        "name": f"drill_{name}",
        "graph": f"signalbox.drills.graphs.{name}",
        "version": "1",
        "title": "{order_id}",
    }
    for name in ("line", "asked", "brief", "twice", "pair", "hasty")
]
RUNS_LEASE = timedelta(seconds=2)
RUNS_HEARTBEAT = timedelta(seconds=0.5)
RUNS_LEASE_MARGIN = timedelta(seconds=0.3)
RUNS_CRASH_LIMIT = 5
RUNS_TRIES = 4
RUNS_BACKOFF = timedelta(seconds=0.2)
RUNS_BACKOFF_CAP = timedelta(seconds=2)
RUNS_STALL_AFTER = timedelta(seconds=120)
RUNS_RECURSION_LIMIT = 100

LEDGER_CALL_TIMEOUT = timedelta(seconds=4)
LEDGER_TRIES = 4
LEDGER_BACKOFF = timedelta(seconds=0.2)

APPROVALS_POLICIES = [
    {
        "name": "soon",
        "agent": "drill_brief",
        "group": "approver",
        "deadline": timedelta(seconds=3),
        "on_deadline": "reject",
    },
]
APPROVALS_DEFAULT = {"name": "default", "group": "approver", "deadline": timedelta(hours=1)}
APPROVALS_ROUNDS = 5
