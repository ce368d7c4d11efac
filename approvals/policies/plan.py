"""What the clock will do to a question before its deadline, by the policy as of then. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from approvals.policies.rule import Policy


class Kind(StrEnum):
    REMINDER = "reminder"
    ESCALATION = "escalation"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Nudge:
    """One thing that the clock will do."""

    at: datetime
    kind: Kind
    number: int
    group: str = ""


def plan(rule: Policy, asked_at: datetime, deadline: datetime) -> tuple[Nudge, ...]:
    """Everything that will happen before the deadline, in order."""
    steps = [
        Nudge(
            at=rule.after(asked_at, step.after),
            kind=Kind.ESCALATION,
            number=number,
            group=step.group,
        )
        for number, step in enumerate(rule.escalation, 1)
    ]
    reminders = [
        Nudge(at=deadline - before, kind=Kind.REMINDER, number=number)
        for number, before in enumerate(rule.reminders, 1)
    ]
    return tuple(sorted(each for each in steps + reminders if asked_at < each.at < deadline))


def first(rule: Policy, asked_at: datetime, deadline: datetime) -> datetime | None:
    """When something is due first."""
    return next((each.at for each in plan(rule, asked_at, deadline)), None)
