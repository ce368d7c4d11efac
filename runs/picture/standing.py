"""Where a run stands in its graph: which nodes have run, and what each is at now."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db import connection

from accounts.speech import later as _
from runs import statements
from runs.status import State

MOST = 50
"""Checkpoints of graphs within that are looked at."""
Path = tuple[str, ...]
"""A node's name after those of the nodes that call its graph."""

DONE = State(value="done", label=_("Done"), tone="ok", icon="check", sentence=_("It has run."))
AT = {
    state.tone: state
    for state in (
        State(value="now", label=_("Now"), tone="info", icon="arc", sentence=_("It runs now.")),
        State(
            value="asks",
            label=_("Waits"),
            tone="human",
            icon="person",
            sentence=_("It asks a person."),
        ),
        State(
            value="failed", label=_("Failed"), tone="bad", icon="cross", sentence=_("It failed.")
        ),
        State(
            value="stopped",
            label=_("Stopped"),
            tone="warn",
            icon="hand",
            sentence=_("It stopped here."),
        ),
        State(
            value="next", label=_("Next"), tone="neutral", icon="clock", sentence=_("It is next.")
        ),
    )
}
"""What a run can be at a node, by tone."""
NOT_YET = _("not yet")


def of(run_id: UUID, at: Mapping[Path, str]) -> dict[Path, State]:
    """The state of each node that has run or is run; `at`: tones of those that the run is at."""
    found = dict.fromkeys(_visited(run_id), DONE)
    return found | {path: AT[tone] for path, tone in at.items()}


def _visited(run_id: UUID) -> list[Path]:
    with connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "visited"), {"thread": str(run_id), "most": MOST})
        return [(*_path(ns), node) for ns, nodes in cursor.fetchall() for node in nodes]


def _path(ns: str) -> Path:
    return tuple(part.partition(":")[0] for part in ns.split("|") if ":" in part)
