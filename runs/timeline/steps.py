"""The steps of a run, from its checkpoints: each with its branches, and what it is at now.

1. A step runs from one checkpoint to the next. If several tasks ran in it, each is a branch below,
   which ends when its result was saved.
2. The newest checkpoint of a graph begins a step that is under way, or that the run ended in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from runs import chain
from runs.chain import Checkpoint
from runs.status import Status
from runs.timeline import naming, tasks
from runs.timeline.lanes import Lane, Told, anchor
from runs.timeline.naming import INPUT
from runs.timeline.tasks import Place, Task

SLOW = timedelta(seconds=1)
"""A start that takes as long has a line of its own."""
FIRST_STEP = gettext_lazy("first step")
TONES = {Status.FAILED: "bad", Status.RUNNING: "info"}
"""Of what a run is at, or was at when it ended."""


class Steps:
    """The steps of one page, and which lane belongs to which task."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.status = Status(told.run.status)
        rows = [*told.page.rows, *filter(None, (told.page.before,))]
        self.known: dict[Place, Checkpoint] = {(row.ns, row.id): row for row in rows}
        self.tasks = tasks.on(told.run.pk, rows)
        self.names = {span.task: span.node for span in told.spans if span.task}
        self.by_task: dict[str, Lane] = {}

    def first(self) -> Iterator[Lane]:
        """Waiting for a worker, and what it takes until the agent's own code runs."""
        run, drives = self.told.run, self.told.drives
        if not drives:  # else the line of the lease shows it
            yield Lane(
                label=_("in the queue"),
                start=run.created_at,
                end=self.told.end,
                tone="neutral",
                saved=False,
            )
            return
        rows = (row for row in self.told.page.rows if row.nodes != INPUT and not row.ns)
        ready, began = next(rows, None), drives[0].start
        if ready and ready.at - began >= SLOW:
            yield Lane(label=_("start"), start=began, end=ready.at, anchor=anchor(ready.id))

    def of(self, ns: str) -> Iterator[Lane]:
        """The steps of the graph of this namespace, in order."""
        page = self.told.page
        rows = [row for row in page.rows if row.ns == ns]
        for row in rows:
            parent = self.known.get((ns, row.parent_id or ""))
            if parent and parent.nodes and parent.nodes != INPUT:
                yield self._done(parent, row)
        if page.newest and rows:
            yield from self._under_way(ns, rows[-1])
        elif not ns and not page.rows:
            yield from self._under_way(ns, None)

    def _done(self, parent: Checkpoint, row: Checkpoint) -> Lane:
        ran, called = self._ran(parent)
        each = naming.due(parent, ran, (), self.names)
        name = chain.line(each.elements())
        lane = Lane(label=name, start=parent.at, end=row.at, anchor=anchor(row.id))
        if len(ran) <= 1:
            self._note(ran, lane)
        else:
            for label, task in naming.branches(ran, each, self.names):
                end = _within(task.done_at, parent.at, row.at) if task else None
                self._add(lane, task, Lane(label=label, start=parent.at, end=end or row.at))
        self._called(lane, called)
        return lane

    def _under_way(self, ns: str, tip: Checkpoint | None) -> Iterator[Lane]:
        """What the run is at, or where it ended without finishing."""
        drives, end = self.told.drives, self.told.end
        if self.status == Status.SUCCEEDED or not drives or (ns and not self._open(ns)):
            return
        start = tip.at if tip else drives[0].start
        name = tip.nodes if tip and tip.nodes != INPUT else str(FIRST_STEP)
        if not name or start >= end:
            return
        ran, called = self._ran(tip)
        before = self._ran(self.known.get((ns, tip.parent_id or "")))[0] if tip else []
        due = naming.due(tip, ran, before, self.names)
        lane = self._at(chain.line(due.elements()) or name, start)
        if max(len(ran), due.total()) <= 1:
            lane.node = lane.label
            self._note(ran, lane)
        else:
            self._branches(lane, ran, due)
        self._called(lane, called)
        yield lane

    def _at(self, label: str, start: datetime) -> Lane:
        """A lane that goes on, or that ended with the run."""
        return Lane(
            label=label,
            start=start,
            end=self.told.end,
            tone=TONES.get(self.status, "neutral"),
            saved=False,
            current=not self.told.run.ended,
        )

    def _branches(self, lane: Lane, ran: Sequence[Task], due: Counter[str]) -> None:
        for label, task in naming.branches(ran, due, self.names):
            branch = self._at(label, lane.start)
            branch.node = naming.node(label)
            if task and task.done:
                branch.tone, branch.saved, branch.current = "ok", True, False
                branch.end = _within(task.done_at, lane.start, lane.end) or lane.end
            elif self.status == Status.FAILED and not (task and task.raised):
                branch.tone = "neutral"
            self._add(lane, task, branch)

    def _called(self, lane: Lane, called: Sequence[Task]) -> None:
        """What a node's code called with @task: when it began is not stored, only its result."""
        for number, task in enumerate(called, start=1):
            self.by_task[task.id] = lane
            if task.done and (at := _within(task.done_at, lane.start, lane.end)):
                name = self.names.get(task.id) or _("task %(number)s") % {"number": number}
                self._add(lane, task, Lane(label=name, start=at, end=at))

    def _ran(self, row: Checkpoint | None) -> tuple[list[Task], list[Task]]:
        """The tasks of the step that began at this checkpoint, and those that their code called."""
        found = self.tasks.get((row.ns, row.id), []) if row else []
        return [t for t in found if not t.caller], [t for t in found if t.caller]

    def _note(self, ran: Sequence[Task], lane: Lane) -> None:
        for task in ran:
            self.by_task[task.id] = lane

    def _add(self, lane: Lane, task: Task | None, branch: Lane) -> None:
        lane.below.append(branch)
        if task:
            self.by_task[task.id] = branch

    def _open(self, ns: str) -> bool:
        """Whether the task that called the graph of this namespace is still under way."""
        above = self.by_task.get(tasks.of_namespace(ns))
        return above is None or not above.saved


def _within(at: datetime | None, start: datetime, end: datetime) -> datetime | None:
    """`at`, unless it cannot be: checkpoints have the worker's time, and rows may be copies."""
    return at if at and start <= at <= end else None
