"""LangGraph by itself: a graph, a thread, and the saver that comes with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command, interrupt

from runs import killpoints


class Saver(PostgresSaver):
    """LangGraph's saver with the places at which ours can be killed, and nothing else of ours."""

    def put(self, config: Any, *args: Any, **kwargs: Any) -> Any:
        killpoints.reach("saver.put", config["configurable"]["thread_id"])
        return super().put(config, *args, **kwargs)

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        killpoints.reach("saver.put_writes", config["configurable"]["thread_id"])
        super().put_writes(config, writes, task_id, task_path)


def person(question: object) -> Any:
    """Ask with a bare interrupt, and return whatever LangGraph hands over."""
    return interrupt({"question": str(question)})


@dataclass(frozen=True, kw_only=True)
class Thread:
    """One thread of a graph."""

    graph: Any
    saver: Any
    id: str = field(default_factory=lambda: str(uuid4()))

    def call(self, given: Any, **configurable: Any) -> Any:
        """Invoke as the driver does: with durability `sync`."""
        config = {"configurable": {"thread_id": self.id, **configurable}}
        return self._graph().invoke(given, config, durability="sync")

    def resume(self, answer: Any, **configurable: Any) -> Any:
        return self.call(Command(resume=answer), **configurable)

    def of(self, graph: Any) -> Thread:
        """The same thread, continued with another graph."""
        return Thread(graph=graph, saver=self.saver, id=self.id)

    def state(self) -> Any:
        return self._graph().get_state({"configurable": {"thread_id": self.id}})

    def asked(self) -> dict[str, str]:
        """Ids of the pending interrupts by the words of their questions."""
        return {each.value["question"]: each.id for each in self.state().interrupts}

    def log(self) -> Any:
        return self.state().values.get("log", [])

    def _graph(self) -> Any:
        return self.graph.copy(update={"checkpointer": self.saver})
