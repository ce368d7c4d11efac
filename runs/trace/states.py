"""One saved state of a run as plain data, whichever graph or subgraph saved it.

It is read with a reader that builds no objects: see `runs.plain`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg import sql

from audit import canonical
from runs import chain, checkpoints, statements
from runs.plain import PlainReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One value that a task has written on a checkpoint."""

    task: str
    node: str
    channel: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What one checkpoint holds, as plain data."""

    ns: str
    id: str
    parent_id: str
    """Empty for the first one."""
    child_id: str
    """Empty for the newest one."""
    at: datetime
    step: int
    fence: int | None
    ran: str
    """The nodes whose work it holds that its parent does not."""
    due: str
    """The nodes that ran, or are to run, from it."""
    values: dict[str, object]
    pending: tuple[Written, ...]
    """What tasks have written on it, which the checkpoint after it holds."""

    @property
    def subgraph(self) -> str:
        """The subgraph's name without task ids; empty for the graph itself."""
        return chain.named(self.ns)


def load(
    run_id: UUID, checkpoint_id: str, *, depth: int = canonical.DEPTH, snapshot: str = ""
) -> State | None:
    """One checkpoint of the run, whichever graph or subgraph saved it; None if there is none.

    Values deeper than `depth` levels are cut, and say so. With a `snapshot`, which a transaction
    that is still open has exported, it is as that transaction sees it.
    """
    place = chain.place(run_id, checkpoint_id)
    if place is None:
        return None
    address = {"thread_id": str(run_id), "checkpoint_ns": place.ns, "checkpoint_id": checkpoint_id}
    with _reading(snapshot) as conn:
        saved = PostgresSaver(conn, serde=PlainReader()).get_tuple({"configurable": address})
    if saved is None:
        return None
    family = [each for each in (checkpoint_id, place.parent, place.child) if each]
    titles = _titles(run_id, checkpoint_id)
    nodes = {row.id: row.nodes for row in chain.rows(run_id, only=family)}
    values, fence = saved.checkpoint["channel_values"], saved.metadata.get("fence")
    return State(
        ns=place.ns,
        id=checkpoint_id,
        parent_id=place.parent,
        child_id=place.child,
        at=place.at,
        step=saved.metadata.get("step", 0),
        fence=fence if isinstance(fence, int) else None,
        ran=nodes.get(place.parent, ""),
        due=nodes.get(checkpoint_id, ""),
        values={
            canonical.text(key): canonical.visible(value, depth=depth)
            for key, value in values.items()
            if not key.startswith(chain.PLUMBING)
        },
        pending=tuple(
            Written(
                task=task,
                node=titles.get(task, ""),
                channel=canonical.text(channel),
                value=canonical.visible(value, depth=depth),
            )
            for task, channel, value in saved.pending_writes or ()
            if not channel.startswith(chain.PLUMBING)
        ),
    )


@contextmanager
def _reading(snapshot: str) -> Iterator[psycopg.Connection[Any]]:
    with checkpoints.pool().connection() as conn:
        if not snapshot:
            yield conn
            return
        with conn.transaction():
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            conn.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot))
            yield conn


def _titles(run_id: UUID, checkpoint_id: str) -> dict[str, str]:
    """What to call the tasks that have written on a checkpoint: the node's name, by task id."""
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "tasks"),
            {"thread": str(run_id), "checkpoint": checkpoint_id},
        )
        return {task: _title(path) for task, path in cursor.fetchall()}


def _title(path: str) -> str:
    return path.removeprefix(chain.PULLED) if path.startswith(chain.PULLED) else "parallel task"
