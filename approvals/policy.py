"""Policies, as the rest of the app reads them: `policy.together(…)`, `policy.in_force()`."""

from __future__ import annotations

from approvals.policies.book import Book, hold, in_force
from approvals.policies.declared import check, problems
from approvals.policies.plain import deliverable, storable
from approvals.policies.rule import (
    Excluded,
    Gate,
    OnDeadline,
    Policy,
    Risk,
    Who,
    together,
)
from approvals.policies.subjects import Subject

__all__ = [
    "Book",
    "Excluded",
    "Gate",
    "OnDeadline",
    "Policy",
    "Risk",
    "Subject",
    "Who",
    "check",
    "deliverable",
    "find",
    "hold",
    "in_force",
    "problems",
    "storable",
    "together",
]


def find(agent: str, node: str, tool: str = "", args: object = None) -> Policy:
    """The first policy in force that holds for this action."""
    return in_force().find(Subject(agent=agent, node=node, tool=tool, args=args))[0]
