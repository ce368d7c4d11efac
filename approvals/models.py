"""What people were asked and what they decided.

1. A request is one question of one run, as it was shown: payload, digest, policy as of then.
   Unique on (run, interrupt, checkpoint, round); at most one is open per interrupt.
2. A request always has a deadline.
3. A vote is one person's word on one request. A decision is the one verdict; nothing else ever
   becomes an answer.
4. Whoever changes a request, a vote or a decision has locked the run's row first.
5. The decision row is the only durable record of an answer: LangGraph forgets a keyed answer when
   the process dies inside the node. It is delivered again until it has taken effect.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
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
    """[[namespace, checkpoint id, task id, answers held], ...]: see `runs.heads.Asker`."""
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
    status = models.CharField(
        max_length=10, choices=status.Status.choices, default=status.Status.PENDING
    )
    replaced_by = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaces"
    )
    asked_again = models.BooleanField(default=False)
    """An operator had the question asked again: the next request starts afresh."""
    created_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True, blank=True)
    close_reason = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        default_permissions = ("view",)
        permissions = (("decide_request", "Can decide requests that a policy gives them"),)
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
            GinIndex(
                fields=("groups",),
                name="approvals_request_groups",
                condition=Q(status=status.Status.PENDING),
            ),
            models.Index(fields=("group", "status", "deadline"), name="approvals_request_by_group"),
            models.Index(fields=("-created_at", "-id"), name="approvals_request_newest"),
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


class Vote(models.Model):
    """One person's word on one request, bound to what was shown to that person."""

    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="votes")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="votes"
    )
    verdict = models.CharField(max_length=10, choices=status.Verdict.choices)
    value = models.JSONField(null=True, blank=True)
    """What was chosen for each action, or answered: see `approvals.shapes`."""
    args = models.JSONField(null=True, blank=True)
    """The arguments of a question of ours, where they were changed."""
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="proposals",
    )
    """Who first changed the arguments to what this vote approves; empty if they are unchanged."""
    comment = models.TextField(blank=True, default="")
    reason = models.CharField(max_length=100, blank=True, default="")
    """One of the policy's named reasons to reject."""
    on_behalf_of = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="votes_by_others",
    )
    """For whom this person stood in."""
    digest = models.CharField(max_length=64)
    token = models.CharField(max_length=64)
    """Of the form that was posted: the same token of this user again is the same vote."""
    missing = models.IntegerField()
    """How many more people had to approve after this vote; 0: it decided."""
    already_done = models.BooleanField(default=False)
    """The effect in question had happened before this vote, and the person was told so."""
    authenticated_at = models.DateTimeField(null=True, blank=True)
    entry = models.CharField(max_length=20)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("request", "user"), name="approvals_vote_one_each"),
            models.UniqueConstraint(fields=("user", "token"), name="approvals_vote_token"),
            models.CheckConstraint(
                name="approvals_vote_by_a_person",
                condition=~Q(verdict=status.Verdict.EXPIRED),
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id}: {self.verdict}"


class Decision(models.Model):
    """The one verdict on a request, and how far it has come into the run."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    request = models.OneToOneField(Request, on_delete=models.PROTECT, related_name="decision")
    verdict = models.CharField(max_length=10, choices=status.Verdict.choices)
    value = models.JSONField(null=True, blank=True)
    args = models.JSONField(null=True, blank=True)
    """The arguments of a question of ours, where they were changed."""
    args_hash = models.CharField(max_length=64, blank=True, default="")
    """Of the effect that this permits: that of the request, or of the changed arguments."""
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="edits",
    )
    """Who changed the arguments that were approved."""
    comment = models.TextField(blank=True, default="")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="decisions",
    )
    """Whose word completed the quorum; empty when the deadline decided."""
    decider = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    answer = models.JSONField()
    """Exactly what the interrupted node receives."""
    at = models.DateTimeField(db_default=Now())
    delivery = models.CharField(
        max_length=14, choices=status.Delivery.choices, default=status.Delivery.RECORDED
    )
    delivery_detail = models.CharField(max_length=300, blank=True, default="")
    deliveries = models.IntegerField(default=0)
    """How often it was handed to LangGraph."""
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        indexes = (
            models.Index(
                fields=("at",),
                name="approvals_decision_under_way",
                condition=Q(delivery__in=("recorded", "delivering")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.verdict} by {self.decider}"


class Firing(models.Model):
    """What the clock did to an open request, once: a reminder, an escalation, an alert."""

    class Kind(models.TextChoices):
        REMINDER = "reminder", "Reminded"
        ESCALATION = "escalation", "Escalated"
        NOBODY = "nobody", "Nobody can decide"

    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="firings")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    number = models.IntegerField(default=1)
    """Of the reminder or step in the policy as of then."""
    group = models.CharField(max_length=150, blank=True, default="")
    """That joined."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("request", "kind", "number"), name="approvals_firing_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.number}"


class PolicyVersion(models.Model):
    """All policies as somebody left them. Only grows: a trigger refuses UPDATE and DELETE."""

    number = models.IntegerField(primary_key=True)
    policies = models.JSONField()
    """In the order in which they are tried, the default last: see `policies.rule.Policy`."""
    what = models.CharField(max_length=300)
    """What was changed, in words."""
    reason = models.TextField(blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="policy_versions",
    )
    by_label = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        permissions = (("change_policy", "Can change the policies of approvals"),)

    def __str__(self) -> str:
        return f"{self.number} {self.what}"


class Delegation(models.Model):
    """For a time, somebody stands in for somebody else who may decide."""

    absent = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="delegations"
    )
    stand_in = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="stands_in"
    )
    agents = ArrayField(models.CharField(max_length=200), default=list)
    """Patterns (`fnmatch`) of agents."""
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.TextField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="delegations_made"
    )
    made_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)
    """Before its time."""
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="delegations_ended",
    )

    class Meta:
        default_permissions = ()
        permissions = (("delegate_request", "Can delegate decisions for somebody absent"),)
        constraints = (
            models.CheckConstraint(
                name="approvals_delegation_to_somebody_else",
                condition=~Q(absent=models.F("stand_in")),
            ),
            models.CheckConstraint(
                name="approvals_delegation_ends_after_it_starts",
                condition=Q(ends_at__gt=models.F("starts_at")),
            ),
        )
        indexes = (models.Index(fields=("stand_in", "ends_at"), name="approvals_delegation_for"),)

    def __str__(self) -> str:
        return f"{self.stand_in_id} for {self.absent_id}"


class NoticeChoice(models.Model):
    """What one person wants to be told by mail, and when. Who has none is told everything."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="notice_choice",
    )
    muted = ArrayField(models.CharField(max_length=20), default=list)
    """Events of which this person is told nothing: see `approvals.notices.Event`."""
    gather = models.IntegerField(default=1)
    """Minutes within which everything goes into one mail."""
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_to = models.TimeField(null=True, blank=True)
    """Times of day in the person's zone."""
    urgent_comes_through = models.BooleanField(default=True)
    """Also in quiet hours, if the deadline would pass before they end."""

    class Meta:
        default_permissions = ()
        constraints = (
            models.CheckConstraint(
                name="approvals_noticechoice_quiet_has_both_ends",
                condition=Q(quiet_from__isnull=True, quiet_to__isnull=True)
                | (
                    Q(quiet_from__isnull=False, quiet_to__isnull=False)
                    & ~Q(quiet_from=models.F("quiet_to"))
                ),
            ),
        )

    def __str__(self) -> str:
        return f"what {self.user_id} is told"


class Notice(models.Model):
    """One thing that one person is told by mail, once."""

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENT = "sent", "Sent"
        DROPPED = "dropped", "Not worth telling any more"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices"
    )
    event = models.CharField(max_length=20)
    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="notices")
    key = models.CharField(max_length=64)
    """Of the message that it was planned for."""
    due_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    message = models.UUIDField(null=True, blank=True)
    """The mail that carries it; none while the mail can still take more."""
    at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("user", "request", "event", "key"), name="approvals_notice_once"
            ),
        )
        indexes = (
            models.Index(
                fields=("user", "due_at"),
                name="approvals_notice_waiting",
                condition=Q(status="waiting"),
            ),
            models.Index(fields=("request", "event"), name="approvals_notice_of_request"),
            models.Index(
                fields=("closed_at",),
                name="approvals_notice_closed",
                condition=Q(closed_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} for {self.user_id}"

    @property
    def says(self) -> str:
        """The event in two words."""
        return self.event.replace("_", " ").capitalize()


class Claim(models.Model):
    """Somebody looks at a request. It informs others and expires; it keeps nobody from deciding."""

    request = models.ForeignKey(Request, on_delete=models.CASCADE, related_name="claims")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="claims"
    )
    at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("request", "user"), name="approvals_claim_one_each"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} looks at {self.request_id}"
