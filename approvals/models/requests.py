"""Requests: questions to people, as they were shown."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from approvals import status
from runs.models import Run, new_id


class Request(models.Model):
    """One question to a group of people."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="requests")
    interrupt_id = models.CharField(max_length=64)
    checkpoint_ns = models.CharField(max_length=500, blank=True, default="")
    checkpoint_id = models.CharField(max_length=64)
    """Of the head when it was opened."""
    round = models.IntegerField(default=1)
    """Counts the requests of this interrupt, whatever made each of them necessary."""
    changes = models.IntegerField(default=0)
    """How often in a row the agent changed the question before this request."""
    fence = models.BigIntegerField()
    """Of the driver that opened it."""
    node = models.CharField(max_length=200, blank=True, default="")
    askers = models.JSONField()
    """[[namespace, checkpoint id, task id, answers held], ...]: see `runs.askers.Asker`."""
    shape = models.CharField(max_length=20)
    """Which kind of payload it is: see `approvals.shapes`."""
    payload = models.JSONField()
    """As shown; characters that PostgreSQL cannot store are made visible."""
    digest = models.CharField(max_length=64)
    """Fingerprint of the payload as the agent raised it."""
    schema = models.TextField(blank=True, default="")
    """JSON Schema of the answer, if the agent gave one: text, because its fields have an order."""
    title = models.CharField(max_length=300)
    tool = models.CharField(max_length=200, blank=True, default="")
    args_hash = models.CharField(max_length=64, blank=True, default="")
    """Of the effect that an approval permits; only our own `ask()` earns a permit."""
    policy = models.JSONField()
    """The policy as of then: see `approvals.gates.then`."""
    policy_version = models.IntegerField(default=0)
    """Of the policies in force then; 0: those of the settings."""
    group = models.CharField(max_length=150, blank=True, default="")
    """The first that was asked; empty where only people are named."""
    groups = ArrayField(models.CharField(max_length=150), default=list)
    """All that may have a say, those that joined since included."""
    people = ArrayField(models.CharField(max_length=254), default=list)
    """E-mail addresses of the people whom a policy names."""
    joined = ArrayField(models.CharField(max_length=150), default=list)
    """The groups that an escalation has added: see `approvals.nudges`."""
    asked_at = models.DateTimeField(null=True)
    """Since when this is asked, whatever round it is: from here the deadline counts."""
    deadline = models.DateTimeField()
    nudge_at = models.DateTimeField(null=True)
    """When the next reminder or escalation is due."""
    checked_at = models.DateTimeField(null=True)
    """When somebody last looked whether enough people can decide it."""
    nobody_since = models.DateTimeField(null=True)
    """Since when too few people may approve it, as far as anybody has looked."""
    status = models.CharField(
        max_length=10, choices=status.Status.choices, default=status.Status.PENDING
    )
    replaced_by = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaces"
    )
    asked_again = models.BooleanField(default=False)
    """The answer was cut, so that the question can be asked again: because an operator wanted that,
    and then the next request starts afresh, or because it was outdated."""
    outdated = models.BooleanField(default=False)
    """What it is about was not the same any more when its approval reached the node."""
    created_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True, blank=True)
    close_reason = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        default_permissions = ("view",)
        permissions = (
            ("decide_request", "Can decide requests that a policy gives them"),
            ("answer_request", "Can answer a plain question with any value"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("run", "interrupt_id", "checkpoint_id", "round"),
                name="approvals_request_once_per_round",
            ),
            models.UniqueConstraint(
                fields=("run", "interrupt_id"),
                condition=Q(status=status.Status.PENDING),
                name="approvals_request_one_open",
            ),
        )
        indexes = (
            models.Index(
                fields=("deadline",),
                name="approvals_request_open",
                condition=Q(status=status.Status.PENDING),
            ),
            models.Index(
                fields=("nudge_at",),
                name="approvals_request_nudge",
                condition=Q(status=status.Status.PENDING, nudge_at__isnull=False),
            ),
            GinIndex(fields=("groups",), name="approvals_request_groups"),
            GinIndex(fields=("people",), name="approvals_request_people"),
            models.Index(fields=("group", "status", "deadline"), name="approvals_request_by_group"),
            models.Index(fields=("-created_at", "-id"), name="approvals_request_newest"),
            models.Index(
                fields=("-closed_at", "-id"),
                name="approvals_request_closed",
                condition=~Q(status=status.Status.PENDING),
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def answer_schema(self) -> dict[str, Any] | None:  # Any: JSON
        return json.loads(self.schema) if self.schema else None

    @property
    def asked_of(self) -> str:
        """Who may have a say, such as "finance" or "finance, legal"."""
        return ", ".join((*self.groups, *self.people)) or self.group
