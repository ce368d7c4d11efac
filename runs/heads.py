"""The head of a run's chain of checkpoints: what LangGraph would do next, and what it hides.

Read with `get_state` and `get_tuple`, and one query for the namespaces of graphs that nodes call,
since LangGraph shows only those that it finds in a node's code. Beyond that a head knows:

1. finished: no tasks at all, no pending writes, no unconsumed branch. `next == ()` is also true
   between a task's last write and the next checkpoint, and for a node the graph no longer has.
2. who asked: each pending interrupt with its askers, stored with the request.
3. consumed: LangGraph holds the answer to an interrupt that it still lists. A consumed answer is
   never sent again: LangGraph would give it to the task's next question.
4. idle: tasks to run that ask nothing.   5. lost: nodes that the head wants and the graph lacks.

Source of the rules: measured on langgraph 1.2.24; tests/facts pins each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import connection

from runs import crowds, statements
from runs.askers import Asker, Pending

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import CheckpointTuple
    from langgraph.checkpoint.postgres import PostgresSaver

RESUME, INTERRUPT, TASKS, BRANCH = "__resume__", "__interrupt__", "__pregel_tasks", "branch:to:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a run stands."""

    exists: bool
    checkpoint_id: str = ""
    values: object = None
    pending: dict[str, Pending] = field(default_factory=dict)
    held: dict[tuple[str, str, str], int] = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    open_step: bool = False
    lost: tuple[str, ...] = ()
    crowded: tuple[str, ...] = ()
    """Nodes of which one task asks in threads: their answers could be swapped (`runs.crowds`)."""
    writes: int = 0

    @property
    def finished(self) -> bool:
        return self.exists and not self.open_step and not self.lost

    @property
    def mark(self) -> str:
        """Names this head exactly: it changes whenever anything was saved."""
        return f"{self.checkpoint_id}+{self.writes}" if self.exists else "start"

    def consumed(self, askers: Iterable[Asker]) -> bool:
        """LangGraph already has the answer to this question: continue, do not send it again."""
        return any(self.held.get((a.ns, a.checkpoint_id, a.task_id), -1) != a.held for a in askers)


ABSENT = Head(exists=False)


def read(graph: Any, config: RunnableConfig) -> Head:  # Any: LangGraph's generics do not help
    """The head of the thread in `config`; `ABSENT` if nothing was ever saved.

    Raises what the saver raises when the database cannot be read.
    """
    snapshot = graph.get_state(config)
    root = graph.checkpointer.get_tuple(snapshot.config) if snapshot.created_at else None
    if root is None:
        return ABSENT
    below = tuple(_below(graph.checkpointer, snapshot))
    held, askers, writes = _answers((root, *below))
    pending = _pending(snapshot, askers)
    return Head(
        exists=True,
        checkpoint_id=snapshot.config["configurable"]["checkpoint_id"],
        values=snapshot.values,
        pending=pending,
        held=held,
        idle=tuple(
            task.name
            for task in snapshot.tasks
            if task.name in snapshot.next and task.result is None and not task.interrupts
        ),
        open_step=bool(snapshot.tasks),
        lost=_lost(graph, snapshot, root, below),
        crowded=crowds.among(pending.values(), (root, *below)),
        writes=writes,
    )


def _below(saver: Any, snapshot: Any) -> Iterator[CheckpointTuple]:
    """What the graphs that unfinished tasks call have saved last, each in its namespace."""
    unfinished = [task for task in snapshot.tasks if task.result is None]
    if not unfinished:
        return
    thread_id = snapshot.config["configurable"]["thread_id"]
    names = [*(f"{task.name}:{task.id}" for task in unfinished), *(t.name for t in unfinished)]
    with connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "levels"), {"thread": thread_id, "tasks": names})
        namespaces = [row[0] for row in cursor.fetchall()]
    for ns in namespaces:
        found = saver.get_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": ns}})
        if found is not None:
            yield found


def _answers(
    levels: Iterable[CheckpointTuple],
) -> tuple[dict[tuple[str, str, str], int], dict[str, list[Asker]], int]:
    """Answers that each asking task holds, who raised which interrupt, number of writes."""
    held: dict[tuple[str, str, str], int] = {}
    askers: dict[str, list[Asker]] = {}
    count = 0
    for saved in levels:
        conf = saved.config["configurable"]
        ns, checkpoint_id = conf.get("checkpoint_ns", ""), conf["checkpoint_id"]
        pending = saved.pending_writes or []
        count += len(pending)
        answers = {
            task: len(value) if isinstance(value, list) else 1
            for task, channel, value in pending
            if channel == RESUME
        }
        for task, channel, value in pending:
            if channel == INTERRUPT:
                asker = Asker(ns, checkpoint_id, task, answers.get(task, 0))
                held[ns, checkpoint_id, task] = asker.held
                for interrupt in value:
                    askers.setdefault(interrupt.id, []).append(asker)
    return held, askers, count


def _pending(snapshot: Any, askers: dict[str, list[Asker]]) -> dict[str, Pending]:
    return {
        interrupt.id: Pending(
            interrupt_id=interrupt.id,
            value=interrupt.value,
            node=task.name,
            task_id=task.id,
            askers=tuple(askers.get(interrupt.id, ())),
            schema=getattr(interrupt, "response_schema", None),
        )
        for task in snapshot.tasks
        if task.result is None
        for interrupt in task.interrupts
    }


def _lost(
    graph: Any, snapshot: Any, root: CheckpointTuple, below: Iterable[CheckpointTuple]
) -> tuple[str, ...]:
    lost = [*_wanted(root, graph), *_writers(snapshot, root, graph)]
    for saved in below:
        ns = saved.config["configurable"]["checkpoint_ns"]
        parts = [part.partition(":")[0] for part in ns.split("|")]
        inner = _graph_at(graph, parts)
        if inner is not None:
            lost += [f"{'/'.join(parts)}/{name}" for name in _wanted(saved, inner)]
    if not snapshot.tasks and root.pending_writes and not lost:
        lost.append("?")  # something wrote under this head, but no task of this graph explains it
    return tuple(dict.fromkeys(lost))


def _wanted(saved: CheckpointTuple, graph: Any) -> list[str]:
    """Nodes that are to run next and that the graph does not have."""
    values = saved.checkpoint["channel_values"]
    wanted = [name.removeprefix(BRANCH) for name in values if name.startswith(BRANCH)]
    wanted += [send.node for send in values.get(TASKS, ()) if hasattr(send, "node")]
    return [name for name in wanted if name not in graph.nodes]


def _writers(snapshot: Any, root: CheckpointTuple, graph: Any) -> list[str]:
    """Nodes that have written under the head and that the graph does not have.

    An entrypoint, or a node behind several edges, is called by no channel of its own name.
    """
    known = {task.id for task in snapshot.tasks}
    if all(task in known for task, _, _ in root.pending_writes or ()):
        return []
    conf = root.config["configurable"]
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "writers"),
            {"thread": conf["thread_id"], "checkpoint": conf["checkpoint_id"]},
        )
        return [node for (node,) in cursor.fetchall() if node not in graph.nodes]


def _graph_at(graph: Any, parts: Iterable[str]) -> Any:
    """The graph that saves in this namespace, where it is a node; None where a node calls it."""
    for part in parts:
        graph = getattr(graph.nodes.get(part), "bound", None)
        if not hasattr(graph, "nodes"):
            return None
    return graph


def forget(
    saver: PostgresSaver, thread_id: str, askers: Iterable[Asker], *, questions: bool = False
) -> None:
    """Cut the answers held for the asking tasks back to what they were when they asked.

    Same checkpoint, tasks (so the same effect keys) and interrupt ids; finished siblings keep their
    results. Never by a fork: that runs finished siblings again under new keys.
    `questions`: their questions as well, so that the tasks are idle and ask from what is true now.
    """
    for asker in askers:
        config: RunnableConfig = {
            "configurable": {
                "thread_id": thread_id,
                "checkpoint_ns": asker.ns,
                "checkpoint_id": asker.checkpoint_id,
            }
        }
        saved = saver.get_tuple(config)
        if saved is None:
            continue
        written = {
            channel: value
            for task, channel, value in saved.pending_writes or ()
            if task == asker.task_id
        }
        stored: list[Any] = written.get(RESUME, [])
        cut: list[tuple[str, Any]] = []
        if len(stored) > asker.held:
            cut.append((RESUME, stored[: asker.held]))
        if questions and written.get(INTERRUPT):
            cut.append((INTERRUPT, []))
        if cut:
            saver.put_writes(config, cut, asker.task_id)
