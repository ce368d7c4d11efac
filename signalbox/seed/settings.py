"""The settings of the process that drives the originals: agents that need nobody outside."""

from __future__ import annotations

from datetime import timedelta

from signalbox.settings import *  # noqa: F403

RUNS_AGENTS = [
    {
        "name": name,
        "label": name.replace("_", " ").capitalize(),
        "graph": f"signalbox.seed.graphs.{graph}",
        "version": "1.0",
        "title": title,
    }
    for name, graph, title in (
        ("refund_desk", "order", "Refund order {order_id}"),
        ("returns_desk", "order", "Collect order {order_id}"),
        ("mailing", "mailing", "Mailing {order_id}"),
        ("report", "report", "Report {order_id}"),
    )
]
RUNS_TRIES = 1
RUNS_RECURSION_LIMIT = 10_000
APPROVALS_POLICIES = [
    {"name": "refunds", "agent": "*", "group": "finance", "deadline": timedelta(hours=24)},
]
