"""The states of a request and of a decision's delivery: one table each, read by everybody."""

from __future__ import annotations

from django.db import models

from runs.status import State


class Status(models.TextChoices):
    PENDING = "pending", "Waiting"
    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"
    EXPIRED = "expired", "Expired"
    SUPERSEDED = "superseded", "Superseded"
    WITHDRAWN = "withdrawn", "Withdrawn"


STATES: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value=Status.PENDING,
            label="Waiting",
            tone="human",
            icon="person",
            sentence="A person has to decide.",
            next=tuple(value for value in Status.values if value != "pending"),
        ),
        State(
            value=Status.APPROVED,
            label="Approved",
            tone="ok",
            icon="check",
            sentence="Allowed by everybody whose word was needed.",
        ),
        State(
            value=Status.REJECTED,
            label="Rejected",
            tone="bad",
            icon="cross",
            sentence="Refused by a person.",
        ),
        State(
            value=Status.EXPIRED,
            label="Expired",
            tone="neutral",
            icon="clock",
            sentence="Nobody decided before the deadline.",
        ),
        State(
            value=Status.SUPERSEDED,
            label="Superseded",
            tone="neutral",
            icon="slash",
            sentence="The question changed; a newer request replaced this one.",
        ),
        State(
            value=Status.WITHDRAWN,
            label="Withdrawn",
            tone="neutral",
            icon="slash",
            sentence="The run ended or moved on, so nobody needs to decide any more.",
        ),
    )
}


class Verdict(models.TextChoices):
    """What was decided. `expired` is given by the clock, never by a person."""

    APPROVED = "approved", "Approve"
    REJECTED = "rejected", "Reject"
    EXPIRED = "expired", "Expire"


class Delivery(models.TextChoices):
    """How far a decision has come on its way into the run."""

    RECORDED = "recorded", "Recorded"
    DELIVERING = "delivering", "Delivering"
    TOOK_EFFECT = "took_effect", "Took effect"
    NOT_DELIVERED = "not_delivered", "Not delivered"


DELIVERIES: dict[str, State] = {
    Delivery.RECORDED: State(
        value="recorded",
        label="Recorded",
        tone="neutral",
        icon="clock",
        sentence="The decision is kept; a worker will hand it to the run.",
    ),
    Delivery.DELIVERING: State(
        value="delivering",
        label="Delivering",
        tone="info",
        icon="arc",
        sentence="A worker is handing the decision to the run.",
    ),
    Delivery.TOOK_EFFECT: State(
        value="took_effect",
        label="Took effect",
        tone="ok",
        icon="check",
        sentence="The run has gone on with this decision.",
    ),
    Delivery.NOT_DELIVERED: State(
        value="not_delivered",
        label="Not delivered",
        tone="warn",
        icon="triangle",
        sentence="The run could not use this decision.",
    ),
}


class Severity(models.TextChoices):
    """How bad it was that went wrong after an approval."""

    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"


SEVERITIES: dict[str, State] = {
    Severity.LOW: State(
        value="low",
        label="Went wrong, low",
        tone="neutral",
        icon="flag",
        sentence="Somebody had to put something right; nobody outside was harmed.",
    ),
    Severity.MEDIUM: State(
        value="medium",
        label="Went wrong, medium",
        tone="warn",
        icon="flag",
        sentence="Somebody outside noticed, or money had to be moved back.",
    ),
    Severity.HIGH: State(
        value="high",
        label="Went wrong, high",
        tone="bad",
        icon="flag",
        sentence="Harm that cannot be undone, or that must be reported.",
    ),
}
"""The worst last."""
