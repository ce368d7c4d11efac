"""The chain of a run's checkpoints, read for people, without their states: see `runs.trace.states`.

What ran between two checkpoints is told by the names of the tasks that wrote on the earlier one,
and by the channels that it had just changed.

Source of the formats: measured on langgraph 1.2.24 (task paths, `branch:to:` channels).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from runs import statements

PAGE = 100
"""Checkpoints on one page of a timeline."""
BRANCH, JOIN, TASKS, START = "branch:to:", "join:", "__pregel_tasks", "__start__"
PULLED, PUSHED = "~__pregel_pull, ", "~__pregel_push, "
SENT = "parallel tasks"
"""Tasks that were sent to a node whose name is not known."""
TIMES = "\N{MULTIPLICATION SIGN}"
PLUMBING = (BRANCH, JOIN)
"""Prefixes of channels that carry no values of the agent's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One row of the chain."""

    ns: str
    """Of the subgraph that saved it; empty for the graph itself."""
    id: str
    parent_id: str | None
    at: datetime
    step: int | None
    source: str
    fence: int | None
    """Of the attempt that saved it."""
    nodes: str
    """What ran, or is to run, from here on."""
    each: tuple[str, ...]
    """The same, one name for each task."""
    asked: bool
    raised: bool

    @property
    def subgraph(self) -> str:
        """The subgraph's name without task ids; empty for the graph itself."""
        return named(self.ns)


def named(ns: str) -> str:
    """A namespace as people read it: names without task ids; empty for the graph itself."""
    return " / ".join(part.partition(":")[0] for part in ns.split("|")) if ns else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Checkpoints, oldest first, and whether there are older and newer ones."""

    rows: tuple[Checkpoint, ...]
    before: Checkpoint | None
    """The one before the first row, if there is one."""
    until: datetime | None
    """When the checkpoint after the last row was saved; None: these are the newest."""

    @property
    def newest(self) -> bool:
        return self.until is None


def page(run_id: UUID, *, before: str = "", limit: int = PAGE) -> Page:
    """The newest `limit` checkpoints, or those just before the checkpoint called `before`."""
    until = _saved_at(run_id, before) if before else None
    found = rows(run_id, before=before if until else "", most=limit + 1)
    more = len(found) > limit
    return Page(rows=tuple(found[-limit:]), before=found[0] if more else None, until=until)


def rows(
    run_id: UUID, *, before: str = "", only: Sequence[str] = (), most: int = PAGE
) -> list[Checkpoint]:
    """The newest `most`, oldest first; `only`: those among these ids.

    A step has ended if a later checkpoint among them came from it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "chain"),
            {
                "thread": str(run_id),
                "before": before or None,
                "only": list(only) or None,
                "most": most,
            },
        )
        found = cursor.fetchall()
    parents = {(row[0], row[2]) for row in found if row[2]}
    sent_to = sorted({name for row in found for name in row[8]})
    return [
        _checkpoint(row, sent_to=sent_to, done=(row[0], row[1]) in parents)
        for row in reversed(found)
    ]


def _saved_at(run_id: UUID, checkpoint_id: str) -> datetime | None:
    found = place(run_id, checkpoint_id)
    return found.at if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a checkpoint stands in the chain; parent and child are empty where there is none."""

    ns: str
    at: datetime
    parent: str
    child: str


def place(run_id: UUID, checkpoint_id: str) -> Place | None:
    """Whichever graph or subgraph saved it; None if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "place"),
            {"thread": str(run_id), "checkpoint": checkpoint_id},
        )
        found = cursor.fetchone()
    if found is None:
        return None
    ns, at, parent, child = found
    return Place(ns=ns, at=at, parent=parent, child=child)


def _checkpoint(row: tuple[Any, ...], *, sent_to: Sequence[str], done: bool) -> Checkpoint:
    ns, id_, parent, at, step, source, fence, updated, _, paths, marks = row
    return Checkpoint(
        ns=ns,
        id=id_,
        parent_id=parent,
        at=at,
        step=step,
        source=source or "",
        fence=fence,
        nodes=line(each := names(updated=updated, paths=paths, pushed=sent_to, done=done)),
        each=tuple(each),
        asked="__interrupt__" in marks,
        raised="__error__" in marks,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip:
    """The newest checkpoint of a run."""

    id: str
    step: int
    at: datetime
    nodes: str
    """What is to run from there."""


def tips(run_ids: Collection[UUID]) -> dict[UUID, Tip]:
    """The newest checkpoint of each run that has any. One query."""
    if not run_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "tips"), {"threads": [str(run_id) for run_id in run_ids]}
        )
        return {
            UUID(thread): Tip(
                id=id_,
                step=step,
                at=at,
                nodes=line(names(updated=updated, paths=paths, pushed=pushed, done=False)),
            )
            for thread, step, at, id_, updated, pushed, paths in cursor.fetchall()
        }


def names(
    *, updated: Sequence[str], paths: Iterable[str], pushed: Sequence[str], done: bool
) -> list[str]:
    """The nodes that run from a checkpoint, one name for each task.

    `done`: their step has ended, so the tasks that wrote are all there were. Until then the
    channels just changed say who is to run. `pushed`: nodes that are only ever sent to.
    """
    paths = list(paths)
    wrote = [path.removeprefix(PULLED) for path in paths if path.startswith(PULLED)]
    sent = sum(path.startswith(PUSHED) and PULLED not in path for path in paths)
    due = [name.removeprefix(BRANCH) for name in updated if name.startswith(BRANCH)]
    if not due:
        due = [name.rpartition(":")[2] for name in updated if name.startswith(JOIN)]
    found = wrote if done and (wrote or sent) else list(dict.fromkeys([*wrote, *due]))
    if sent or (TASKS in updated and not done):
        sent_to = pushed[0] if len(pushed) == 1 else SENT
        found.extend([sent_to] * max(sent, 1))
    if not found and START in updated:
        found = [START]
    return ["input" if name == START else name for name in found]


def line(found: Iterable[str]) -> str:
    """Names of nodes as one line: "model", "b, c", or with how often."""
    counted = Counter(found)
    return ", ".join(
        f"{name} {TIMES}{count}" if count > 1 else name for name, count in sorted(counted.items())
    )


def of_task(run_id: UUID, task_id: str) -> str:
    """The id of the checkpoint from which a task ran; empty if the task has saved nothing."""
    with connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "task"), {"thread": str(run_id), "task": task_id})
        found = cursor.fetchone()
    return found[0] if found else ""
