"""What was done, and the calls that did it."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.speech import later as _
from ledger import status
from runs.models import Run, new_id


class Idempotency(models.TextChoices):
    """Who prevents a second performance of a tool's call."""

    PROVIDER = "provider", _("The provider deduplicates by key")
    LOOKUP = "lookup", _("The provider can be asked whether it happened")
    LEDGER = "ledger", _("The ledger is the only guard")


class Effect(models.Model):
    """One thing that changes the outside world, at most once per key."""

    idempotency_key = models.CharField(primary_key=True, max_length=500)
    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    """The id in addresses and logs."""
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="effects")
    agent = models.CharField(max_length=100, default="", editable=False)
    """Of the run; a trigger writes it, so that lists need not look at runs."""
    step = models.CharField(max_length=300)
    """`{node}@{task_id}`, plus the tool call where there is one."""
    tool = models.CharField(max_length=200)
    idempotency = models.CharField(max_length=10, choices=Idempotency.choices)
    args = models.JSONField()
    args_hash = models.CharField(max_length=64)
    redact = models.JSONField(default=list)
    """Names of fields whose values are never stored in clear (`ledger.redaction`)."""
    status = models.CharField(
        max_length=10, choices=status.Status.choices, default=status.Status.PENDING
    )
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    result = models.JSONField(null=True, blank=True)
    result_cut = models.BooleanField(default=False)
    """It happened, but its result was not kept whole; `error` says why."""
    error = models.TextField(blank=True, default="")
    """Why it failed, is in doubt, or why its result was cut."""
    attempts = models.IntegerField(default=0)
    """Calls started so far."""
    provider_key = models.CharField(max_length=520)
    """What the provider gets as its key; `key#2` after a definite refusal."""
    retry_allowed = models.BooleanField(default=False)
    """A person allowed one more attempt; consumed when it is reserved."""
    retry_at = models.DateTimeField(null=True, blank=True)
    """Nothing is called or asked before."""
    permit = models.UUIDField(null=True, blank=True, unique=True)
    """The decision that allowed it, where a permit is needed; one permit, one effect."""
    fence = models.BigIntegerField()
    """Of the driver that reserved it last."""
    reached_fence = models.BigIntegerField(default=0)
    """Of the last driver whose node asked for it, even if it was only told (`ledger.drift`)."""
    settled_by = models.CharField(max_length=200, blank=True, default="")
    settle_reason = models.TextField(blank=True, default="")
    settle_evidence = models.TextField(blank=True, default="")
    """Where others can see for themselves: an address, or a note."""
    settled_at = models.DateTimeField(null=True, blank=True)
    look_at = models.DateTimeField(null=True, blank=True)
    """When the provider is asked about it next (`ledger.reconcile`); NULL: it is not."""
    undo = models.CharField(max_length=200, blank=True, default="")
    """The tool that takes it back (`ledger.undo`); empty: none does."""
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    """The effect that this one takes back."""
    created_at = models.DateTimeField(db_default=Now())
    first_started_at = models.DateTimeField(null=True, blank=True)
    """Of the first call under the present provider key; the provider's window counts from here."""
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "effects"
        default_permissions = ("view",)
        permissions = (
            ("settle_effect", "Can settle an effect in doubt"),
            ("undo_effect", "Can have effects of an ended run undone"),
            ("export_effect", "Can export the ledger"),
            ("export_unmasked_effect", "Can export the ledger without masking"),
        )
        indexes = (
            models.Index(fields=("run", "created_at"), name="effects_by_run"),
            models.Index(fields=("-created_at", "-uid"), name="effects_by_time"),
            models.Index(fields=("status", "-created_at", "-uid"), name="effects_by_state"),
            models.Index(fields=("tool", "-created_at", "-uid"), name="effects_by_tool"),
            models.Index(fields=("agent", "-created_at", "-uid"), name="effects_by_agent"),
            models.Index(fields=("agent", "tool", "-created_at", "-uid"), name="effects_by_use"),
            models.Index(
                fields=("args_hash", "tool", "-created_at", "-uid"), name="effects_by_arguments"
            ),
            models.Index(
                fields=("settled_by", "-created_at", "-uid"),
                name="effects_by_hand",
                condition=~Q(settled_by=""),
            ),
            models.Index(
                fields=("provider_ref",),
                name="effects_by_reference",
                opclasses=("varchar_pattern_ops",),
                condition=~Q(provider_ref=""),
            ),
            models.Index(
                fields=("run",),
                name="effects_in_doubt",
                condition=Q(status=status.Status.IN_DOUBT),
            ),
            models.Index(
                fields=("run",),
                name="effects_pending",
                condition=Q(status=status.Status.PENDING),
            ),
            models.Index(
                fields=("updated_at", "uid"),
                name="effects_doubt_oldest",
                condition=Q(status=status.Status.IN_DOUBT),
            ),
            models.Index(
                fields=("look_at",),
                name="effects_to_look",
                condition=Q(
                    status__in=(status.Status.SENT, status.Status.IN_DOUBT), look_at__isnull=False
                ),
            ),
        )
        constraints = (
            models.CheckConstraint(
                name="effects_retry_allowed_while_pending",
                condition=Q(retry_allowed=False) | Q(status=status.Status.PENDING),
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.uid}"

    @property
    def left_alone(self) -> bool:
        """Nothing goes on with it by itself: its run has ended, and it takes back no other one."""
        return self.run.ended and self.undoes_id is None


class EffectAttempt(models.Model):
    """One call (or what a look-up said about it)."""

    effect = models.ForeignKey(
        Effect, on_delete=models.PROTECT, related_name="calls", db_column="idempotency_key"
    )
    number = models.IntegerField()
    provider_key = models.CharField(max_length=520)
    fence = models.BigIntegerField()
    holder = models.CharField(max_length=200)
    token = models.UUIDField(default=uuid.uuid4, unique=True)
    """Guards the facts of this attempt: only who started it knows it."""
    started_at = models.DateTimeField(db_default=Now())
    timeout_at = models.DateTimeField()
    """The call has ended by then, one way or another, unless its process is frozen."""
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(
        max_length=10, choices=status.Outcome.choices, default=status.Outcome.OPEN
    )
    http_status = models.IntegerField(null=True, blank=True)
    replayed = models.BooleanField(default=False)
    """The provider said that this answer repeats an earlier one under the same key."""
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    response = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True, default="")

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("effect", "number"), name="ledger_attempt_number"),
            models.UniqueConstraint(
                fields=("effect",),
                condition=Q(outcome=status.Outcome.OPEN),
                name="ledger_attempt_one_open",
            ),
            models.CheckConstraint(
                name="ledger_attempt_open_or_ended",
                condition=Q(outcome=status.Outcome.OPEN, ended_at__isnull=True)
                | (~Q(outcome=status.Outcome.OPEN) & Q(ended_at__isnull=False)),
            ),
        )
        indexes = (
            models.Index(
                fields=("started_at",),
                name="ledger_attempt_open",
                condition=Q(outcome=status.Outcome.OPEN),
            ),
            models.Index(fields=("provider_key",), name="ledger_attempt_by_key"),
            models.Index(
                fields=("provider_ref",),
                name="ledger_attempt_by_reference",
                condition=~Q(provider_ref=""),
            ),
        )

    def __str__(self) -> str:
        return f"{self.effect_id} call {self.number}"
