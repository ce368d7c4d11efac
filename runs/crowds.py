"""Nodes that ask several questions from threads of one task: LangGraph may swap their answers.

1. Several interrupts of one task wait at once.
2. LangChain's tools node asks per call, and was not given one call but all of the last message: its
   threads ask one after the other, and each takes the next answer, whichever call it was for. This
   shows only when it is too late, so it is looked for with the first question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.db import connection

from runs import statements

if TYPE_CHECKING:
    from langgraph.checkpoint.base import CheckpointTuple

    from runs.askers import Asker, Pending

PER_CALL = "tool_approval"
"""What LangChain's middleware calls a question about one call."""


def among(pending: Iterable[Pending], levels: Iterable[CheckpointTuple]) -> tuple[str, ...]:
    """The nodes of which one task asks in threads; `levels` are the checkpoints they ask from."""
    saved = {_place(level): level for level in levels}
    seen: set[Asker] = set()
    crowded = []
    for question in pending:
        if question.askers:
            asker = max(question.askers, key=lambda each: len(each.ns))
            if asker in seen or _holds_several_calls(question, asker, saved):
                crowded.append(question.node)
            seen.add(asker)
    return tuple(dict.fromkeys(crowded))


def _holds_several_calls(
    question: Pending, asker: Asker, saved: Mapping[tuple[str, str], CheckpointTuple]
) -> bool:
    asked = question.value
    if not isinstance(asked, Mapping) or asked.get("type") != PER_CALL:
        return False
    level = saved.get((asker.ns, asker.checkpoint_id))
    return level is not None and _calls(level) > 1 and _pulled(level, asker)


def _calls(level: CheckpointTuple) -> int:
    messages = level.checkpoint["channel_values"].get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    return len(getattr(last, "tool_calls", None) or ())


def _pulled(level: CheckpointTuple, asker: Asker) -> bool:
    given: dict[str, Any] = {
        "thread": level.config["configurable"]["thread_id"],
        "ns": asker.ns,
        "checkpoint": asker.checkpoint_id,
        "task": asker.task_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "pulled"), given)
        row = cursor.fetchone()
    return bool(row and row[0])


def _place(level: CheckpointTuple) -> tuple[str, str]:
    conf = level.config["configurable"]
    return conf.get("checkpoint_ns", ""), conf["checkpoint_id"]
