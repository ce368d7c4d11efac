"""The states of a request and of a decision's delivery: one table each, read by everybody."""

from __future__ import annotations

from django.db import models

from accounts.speech import later as _
from runs.status import State


class Status(models.TextChoices):
    PENDING = "pending", _("Waiting")
    APPROVED = "approved", _("Approved")
    REJECTED = "rejected", _("Rejected")
    EXPIRED = "expired", _("Expired")
    SUPERSEDED = "superseded", _("Superseded")
    WITHDRAWN = "withdrawn", _("Withdrawn")


STATES: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value=Status.PENDING,
            label=_("Waiting"),
            tone="human",
            icon="person",
            sentence=_("A person has to decide."),
            next=tuple(value for value in Status.values if value != "pending"),
        ),
        State(
            value=Status.APPROVED,
            label=_("Approved"),
            tone="ok",
            icon="check",
            sentence=_("Allowed by everybody whose word was needed."),
        ),
        State(
            value=Status.REJECTED,
            label=_("Rejected"),
            tone="bad",
            icon="cross",
            sentence=_("Refused by a person."),
        ),
        State(
            value=Status.EXPIRED,
            label=_("Expired"),
            tone="neutral",
            icon="clock",
            sentence=_("Nobody decided before the deadline."),
        ),
        State(
            value=Status.SUPERSEDED,
            label=_("Superseded"),
            tone="neutral",
            icon="slash",
            sentence=_("The question changed; a newer request replaced this one."),
        ),
        State(
            value=Status.WITHDRAWN,
            label=_("Withdrawn"),
            tone="neutral",
            icon="slash",
            sentence=_("The run ended or moved on, so nobody needs to decide any more."),
        ),
    )
}


class Verdict(models.TextChoices):
    """What was decided. `expired` is given by the clock, never by a person."""

    APPROVED = "approved", _("Approve")
    REJECTED = "rejected", _("Reject")
    EXPIRED = "expired", _("Expire")


class Delivery(models.TextChoices):
    """How far a decision has come on its way into the run."""

    RECORDED = "recorded", _("Recorded")
    DELIVERING = "delivering", _("Delivering")
    TOOK_EFFECT = "took_effect", _("Took effect")
    NOT_DELIVERED = "not_delivered", _("Not delivered")


DELIVERIES: dict[str, State] = {
    Delivery.RECORDED: State(
        value="recorded",
        label=_("Recorded"),
        tone="neutral",
        icon="clock",
        sentence=_("The decision is kept; a worker will hand it to the run."),
    ),
    Delivery.DELIVERING: State(
        value="delivering",
        label=_("Delivering"),
        tone="info",
        icon="arc",
        sentence=_("A worker is handing the decision to the run."),
    ),
    Delivery.TOOK_EFFECT: State(
        value="took_effect",
        label=_("Took effect"),
        tone="ok",
        icon="check",
        sentence=_("The run has gone on with this decision."),
    ),
    Delivery.NOT_DELIVERED: State(
        value="not_delivered",
        label=_("Not delivered"),
        tone="warn",
        icon="triangle",
        sentence=_("The run could not use this decision."),
    ),
}


class Severity(models.TextChoices):
    """How bad it was that went wrong after an approval."""

    LOW = "low", _("Low")
    MEDIUM = "medium", _("Medium")
    HIGH = "high", _("High")


SEVERITIES: dict[str, State] = {
    Severity.LOW: State(
        value="low",
        label=_("Went wrong, low"),
        tone="neutral",
        icon="flag",
        sentence=_("Somebody had to put something right; nobody outside was harmed."),
    ),
    Severity.MEDIUM: State(
        value="medium",
        label=_("Went wrong, medium"),
        tone="warn",
        icon="flag",
        sentence=_("Somebody outside noticed, or money had to be moved back."),
    ),
    Severity.HIGH: State(
        value="high",
        label=_("Went wrong, high"),
        tone="bad",
        icon="flag",
        sentence=_("Harm that cannot be undone, or that must be reported."),
    ),
}
"""The worst last."""
