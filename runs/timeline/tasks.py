"""The tasks of each step: which ran beside each other, and when each had its result saved.

LangGraph saves what a task wrote on the checkpoint from which its step ran, before the step's own
checkpoint. The time of that is kept in a column of ours (`runs.checkpoints`). All tasks of a step
start with it.

Source of the formats: measured on langgraph 1.2.24 (task paths).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from runs import statements
from runs.chain import PULLED, PUSHED, START, Checkpoint

MOST = 2000
Place = tuple[str, str]
"""Namespace and id of a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of a step, as far as it has written."""

    id: str
    node: str
    """Empty where what is stored does not tell: tasks that were sent to a node, or called."""
    caller: str
    """The node whose code called it, of a function with @task."""
    done: bool
    done_at: datetime | None
    """When its result was saved; None also where it was saved by an older Signalbox."""
    asked: bool
    raised: bool
    number: int
    """Of those that were sent in one step, from 1; 0: it was not sent."""
    sends: int
    """How many tasks of the next step it has sent."""


def on(run_id: UUID, rows: Iterable[Checkpoint]) -> dict[Place, list[Task]]:
    """The tasks that have written on these checkpoints. One query."""
    places = [(row.ns, row.id) for row in rows]
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "task_ends"),
            {
                "thread": str(run_id),
                "namespaces": [ns for ns, _ in places],
                "checkpoints": [id_ for _, id_ in places],
                "most": MOST,
            },
        )
        found: dict[Place, list[Task]] = {}
        for ns, checkpoint_id, *rest in cursor.fetchall():
            found.setdefault((ns, checkpoint_id), []).append(_task(rest))
    return found


def _task(row: Sequence[object]) -> Task:
    id_, path, done_at, done, asked, raised, sends = row
    return Task(
        id=str(id_),
        node=_node(str(path)),
        caller=_caller(str(path)),
        done=bool(done) and not raised,
        done_at=done_at if isinstance(done_at, datetime) else None,
        asked=bool(asked),
        raised=bool(raised),
        number=_sent_as(str(path)),
        sends=int(str(sends)),
    )


def _node(path: str) -> str:
    if path.startswith(PUSHED) or not path.startswith(PULLED):
        return ""
    name = path.removeprefix(PULLED)
    return "" if name == START else name


def _sent_as(path: str) -> int:
    sent = path.removeprefix(PUSHED).partition(", ")[0]
    return int(sent) + 1 if path.startswith(PUSHED) and sent.isdecimal() else 0


def _caller(path: str) -> str:
    called = path.removeprefix(PUSHED)
    return _node(called).partition(", ")[0] if called != path else ""


def of_namespace(ns: str) -> str:
    """The id of the task that called the graph of this namespace."""
    parts = [part for part in ns.split("|") if ":" in part]
    return parts[-1].rpartition(":")[2] if parts else ""
