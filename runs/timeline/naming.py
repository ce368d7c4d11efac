"""What the tasks of one step are called, also those that have written nothing yet.

1. A task that was called as a node bears its name. Tasks that were sent share the names that are
   left; where several share one, each has its number, in the order in which they were sent.
2. How many were sent is told by what the step before has written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from runs.chain import SENT, Checkpoint
from runs.timeline.tasks import Task

INPUT = "input"


def due(
    row: Checkpoint | None,
    ran: Sequence[Task],
    before: Sequence[Task],
    names: Mapping[str, str],
) -> Counter[str]:
    """How many tasks of each name run from this checkpoint: `ran` have written on it, `before` on
    the one before it."""
    if row is None or row.nodes == INPUT:
        return Counter()
    found, sent = Counter(row.each), sum(task.sends for task in before)
    told = {names[task.id] for task in ran if not task.node and task.id in names}
    if SENT in found and len(told) == 1:
        found[told.pop()] = found.pop(SENT)
    pulled = {task.node for task in ran}
    free = [name for name in found if name not in pulled]
    if sent and free:
        found[free[-1]] = sent
    return found


def branches(
    ran: Sequence[Task], expected: Counter[str], names: Mapping[str, str]
) -> list[tuple[str, Task | None]]:
    """Every task of a step with its label; None: it has written nothing yet.

    `names` are those of nodes by the ids of tasks, as far as layers above know them.
    """
    known = [task.node or names.get(task.id, "") for task in ran]
    left = list((expected - Counter(known)).elements())
    tasks: list[tuple[str, Task | None]] = [
        (name or (left.pop(0) if left else _("parallel task")), task)
        for name, task in zip(known, ran, strict=True)
    ]
    tasks += [(name, None) for name in left]
    many = Counter(name for name, _task in tasks)
    alone = [(name, task) for name, task in tasks if many[name] == 1]
    return alone + [each for name in many if many[name] > 1 for each in _numbered(name, tasks)]


def node(label: str) -> str:
    """The node's name in the label of one of its tasks."""
    name, _sign, number = label.rpartition(" ")
    return name if name and number.isdecimal() else label


def _numbered(
    name: str, tasks: Sequence[tuple[str, Task | None]]
) -> Iterator[tuple[str, Task | None]]:
    mine = [task for known, task in tasks if known == name]
    by_number = {task.number: task for task in mine if task and task.number}
    others = [task for task in mine if task is None or by_number.get(task.number) is not task]
    number = 0
    while by_number or others:
        number += 1
        task = by_number.pop(number) if number in by_number else others.pop(0) if others else None
        if task or number <= len(mine):
            yield f"{name} {number}", task
