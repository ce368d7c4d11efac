"""Interrupts that wait for an answer, and who raised them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Asker(NamedTuple):
    """Who raised an interrupt, and how many answers LangGraph held for it at that time."""

    ns: str
    checkpoint_id: str
    task_id: str
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """One interrupt that waits for an answer."""

    interrupt_id: str
    value: object
    node: str
    task_id: str
    """Of the root task that (itself or through a subgraph) asked."""
    askers: tuple[Asker, ...]
    schema: object = None
