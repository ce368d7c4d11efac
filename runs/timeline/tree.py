"""Where each lane of the chart stands.

1. A graph that a node calls has checkpoints of its own; its steps stand below the task that called
   it. Its namespace ends with the id of that task.
2. What layers above tell (spans) stands below the task that it belongs to, or else below the last
   step that was under way when it began.
3. A task that has written nothing yet is not known by its id. It is the first branch under way of
   its node's name that nobody else has claimed.
"""

from __future__ import annotations

from runs import chain
from runs.story import Span
from runs.timeline import naming, tasks
from runs.timeline.lanes import Lane, Told
from runs.timeline.steps import Steps


def grow(told: Told) -> list[Lane]:
    """The lanes of the page, in order of time."""
    steps = Steps(told)
    roots = [] if told.page.before else list(steps.first())
    for ns in sorted({"", *(row.ns for row in told.page.rows)}, key=_depth):
        for lane in steps.of(ns):
            _hang(steps, roots, lane, ns)
    for span in sorted(told.spans, key=lambda span: span.start):
        _put(steps, roots, span)
    for lane in roots:
        lane.sort()
    return sorted(roots, key=lambda lane: lane.start)


def _depth(ns: str) -> tuple[int, str]:
    """Graphs before the graphs that they call."""
    return (ns.count("|") + 1 if ns else 0, ns)


def _hang(steps: Steps, roots: list[Lane], lane: Lane, ns: str) -> None:
    if not ns:
        roots.append(lane)
        return
    task = tasks.of_namespace(ns)
    node = ns.rpartition("|")[2].partition(":")[0]
    above = steps.by_task.get(task) or _claimed(steps, roots, lane, node)
    if above:
        steps.by_task[task] = above
        above.below.append(lane)
    else:  # the page begins after the task that called this graph
        lane.label = f"{chain.named(ns)} / {lane.label}"
        roots.append(lane)


def _put(steps: Steps, roots: list[Lane], span: Span) -> None:
    lane = Lane(
        label=span.title,
        start=span.start,
        end=span.end or steps.told.end,
        tone=span.stages[-1].tone,
        saved=False,
        span=span,
    )
    above = steps.by_task.get(span.task)
    if above is None and span.node and (above := _claimed(steps, roots, lane, span.node)):
        steps.by_task[span.task] = above
    above = above or next((each for each in reversed(roots) if _during(each, lane)), None)
    (above.below if above else roots).append(lane)


def _claimed(steps: Steps, roots: list[Lane], lane: Lane, node: str) -> Lane | None:
    """The first lane of this node that was under way when `lane` began and that has no task."""
    taken = {id(each) for each in steps.by_task.values()}
    for root in reversed(roots):
        for each in root.every():
            if (
                node in (each.label, naming.node(each.label))
                and _during(each, lane)
                and id(each) not in taken
            ):
                return each
    return None


def _during(above: Lane, lane: Lane) -> bool:
    return above.span is None and above.start <= lane.start <= above.end
