"""Runs, their leases and attempts, what people did to them, and the workers that drive."""

from __future__ import annotations

import uuid
from datetime import timedelta

import uuid_utils.compat
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.speech import later as _
from runs import status


def new_id() -> uuid.UUID:
    """A time-ordered UUID (version 7), so that ids sort as they were made."""
    return uuid_utils.compat.uuid7()


class Run(models.Model):
    """One accepted piece of work for an agent."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.CharField(max_length=100)
    agent_version = models.CharField(max_length=50)
    title = models.CharField(max_length=300)
    input = models.JSONField()
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 (NULL is exempt from the unique constraint)
    park_reason = models.CharField(
        max_length=20, choices=status.Park.choices, blank=True, default=""
    )
    status = models.CharField(
        max_length=12, choices=status.Status.choices, default=status.Status.QUEUED
    )
    park_detail = models.TextField(blank=True, default="")
    output = models.JSONField(null=True, blank=True)
    error_class = models.CharField(max_length=200, blank=True, default="")
    error = models.TextField(blank=True, default="")

    wakes = models.BigIntegerField(default=0)
    seen_wakes = models.BigIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)
    """When an error is tried again, or a handed-on run is offered again."""
    wait_until = models.DateTimeField(null=True, blank=True)
    """The nearest deadline of its open requests, while it waits."""
    forgiven_fence = models.BigIntegerField(default=0)
    """Attempts up to this fence no longer count as errors or crashes: an operator said so."""
    granted_fence = models.BigIntegerField(default=0)
    """Errors of attempts up to this fence have been granted their retry."""
    read_only = models.BooleanField(default=False)
    asked = models.BooleanField(default=False)
    """It has waited for a person at some time, so there are requests."""
    ask_again = models.BooleanField(default=False)
    """An operator wants the answers that LangGraph holds cut back, and the question asked anew."""
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    cancel_reason = models.TextField(blank=True, default="")
    cancelled_by = models.CharField(max_length=200, blank=True, default="")

    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        db_index=False,  # runs_run_by_starter begins with it
        on_delete=models.PROTECT,
        related_name="+",
    )
    starter = models.CharField(max_length=200)
    """Who started it, in words; a person's name or the entry point."""
    created_at = models.DateTimeField(db_default=Now())
    first_started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        permissions = (
            ("start_run", "Can start a run"),
            ("cancel_run", "Can cancel a run"),
            ("retry_run", "Can retry a run now"),
            ("force_resume_run", "Can force a stuck or parked run to resume"),
            ("ask_again_run", "Can have a question asked again"),
            ("view_every_run", "Can see runs of others"),
            ("view_payload", "Can see unmasked payloads"),
            ("emergency_stop", "Can set and lift emergency stops"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("agent", "idempotency_key"), name="runs_run_once_per_key"
            ),
            models.CheckConstraint(
                name="runs_run_parked_has_reason",
                condition=Q(status=status.Status.PARKED) ^ Q(park_reason=""),
            ),
            models.CheckConstraint(
                name="runs_run_ended_has_time",
                condition=Q(status__in=status.ENDED, ended_at__isnull=False)
                | Q(status__in=status.LIVE, ended_at__isnull=True),
            ),
        )
        indexes = (
            models.Index(fields=("-created_at", "-id"), name="runs_run_newest"),
            models.Index(fields=("status", "-created_at", "-id"), name="runs_run_by_status"),
            models.Index(fields=("agent", "-created_at", "-id"), name="runs_run_by_agent"),
            models.Index(
                fields=("agent_version", "agent", "-created_at", "-id"), name="runs_run_by_version"
            ),
            models.Index(fields=("started_by", "-created_at", "-id"), name="runs_run_by_starter"),
            models.Index(
                fields=("error_class", "-created_at", "-id"),
                name="runs_run_by_error",
                condition=~Q(error_class=""),
            ),
            models.Index(
                fields=("created_at",),
                name="runs_run_active",
                condition=Q(status__in=(status.Status.QUEUED, status.Status.RUNNING)),
            ),
            models.Index(
                fields=("created_at",),
                name="runs_run_woken",
                condition=Q(wakes__gt=models.F("seen_wakes")),
            ),
            models.Index(
                fields=("due_at",), name="runs_run_due", condition=Q(due_at__isnull=False)
            ),
            models.Index(
                fields=("-ended_at",),
                name="runs_run_ended",
                condition=Q(ended_at__isnull=False),
            ),
            models.Index(
                fields=("wait_until",),
                name="runs_run_waiting",
                condition=Q(status=status.Status.WAITING),
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def ended(self) -> bool:
        return self.status in status.ENDED

    @property
    def thread_id(self) -> str:
        """LangGraph's name for this run's chain of checkpoints."""
        return str(self.id)


class Lease(models.Model):
    """Who may drive a run, until when. One row per run, never deleted while the run exists."""

    run = models.OneToOneField(
        Run, primary_key=True, on_delete=models.PROTECT, related_name="lease"
    )
    holder = models.CharField(max_length=200, blank=True, default="")
    fence = models.BigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    """NULL: free."""
    renewed_at = models.DateTimeField(null=True, blank=True)
    progress_at = models.DateTimeField(null=True, blank=True)
    progress_note = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        default_permissions = ()
        indexes = (
            models.Index(
                fields=("expires_at",),
                name="runs_lease_held",
                condition=Q(expires_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} #{self.fence}"


class Attempt(models.Model):
    """One holding of the lease: who drove, why it started and how it ended."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempts")
    fence = models.BigIntegerField()
    holder = models.CharField(max_length=200)
    cause = models.CharField(max_length=40)
    """Why somebody looked: started, decision, retry, sweep, taken over, ..."""
    outcome = models.CharField(
        max_length=10, choices=status.Outcome.choices, default=status.Outcome.OPEN
    )
    detail = models.CharField(max_length=300, blank=True, default="")
    head = models.CharField(max_length=80, blank=True, default="")
    """Checkpoint id and number of pending writes when it ended, or when the next one looked.

    Empty: its worker was lost, and nobody has looked since."""
    error_class = models.CharField(max_length=200, blank=True, default="")
    error = models.TextField(blank=True, default="")
    failure = models.JSONField(null=True, blank=True)
    """What the error means (see `runs.moves.Failure`); NULL: it did not end by an error."""
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)
    """Of a lost one: when another took the lease over."""
    seen_at = models.DateTimeField(null=True, blank=True)
    """Of a lost one: the last heartbeat of its worker."""
    expired_at = models.DateTimeField(null=True, blank=True)
    """Of a lost one: when its lease had run out."""

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("run", "fence"), name="runs_attempt_once_per_fence"),
            models.UniqueConstraint(
                fields=("run",),
                condition=Q(outcome=status.Outcome.OPEN),
                name="runs_attempt_one_open",
            ),
            models.CheckConstraint(
                name="runs_attempt_open_or_ended",
                condition=Q(outcome=status.Outcome.OPEN, ended_at__isnull=True)
                | (~Q(outcome=status.Outcome.OPEN) & Q(ended_at__isnull=False)),
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} #{self.fence} {self.outcome}"

    @property
    def took(self) -> timedelta | None:
        """How long somebody drove: of a lost one, until its last heartbeat; None: it goes on."""
        end = self.seen_at or self.ended_at
        return max(end - self.started_at, timedelta(0)) if end else None


class Intervention(models.Model):
    """What a person did to a run besides starting it and deciding: who, when, why."""

    class Kind(models.TextChoices):
        CANCEL = "cancel", _("Asked to cancel")
        RETRY = "retry", _("Retried now")
        FORCE_RESUME = "force_resume", _("Forced to resume")
        ASK_AGAIN = "ask_again", _("Had the question asked again")

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="interventions")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    label = models.CharField(max_length=200)
    reason = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=("run", "at"), name="runs_intervention_by_run"),)

    def __str__(self) -> str:
        return f"{self.run_id} {self.kind} by {self.label}"


class Erasure(models.Model):
    """What retention took away of one ended run: see `runs.retention`."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="erasures")
    kind = models.CharField(max_length=20)
    """Its class, such as "states"."""
    rows = models.BigIntegerField()
    bytes = models.BigIntegerField()
    told = models.BooleanField(default=False)
    """It is counted in an entry of the audit log."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=("run", "kind"), name="runs_erasure_once"),)
        indexes = (
            models.Index(fields=("kind",), name="runs_erasure_untold", condition=Q(told=False)),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.kind}"


class Worker(models.Model):
    """A worker process group that said it is there, and which agents it knows at which version."""

    name = models.CharField(max_length=200, primary_key=True)
    hostname = models.CharField(max_length=200)
    pid = models.IntegerField()
    agents = models.JSONField(default=dict)
    """Agent name -> version that this worker has loaded."""
    release = models.CharField(max_length=100, blank=True, default="")
    """Of the code of Signalbox that it runs: SIGNALBOX_RELEASE."""
    slots = models.PositiveIntegerField(default=0)
    """How many runs it drives at once; 0: it does not say."""
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    draining = models.BooleanField(default=False)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


class Pulse(models.Model):
    """When a part that must run by itself did so last: the sweeper, the sealer, beat."""

    name = models.CharField(max_length=40, primary_key=True)
    at = models.DateTimeField(db_default=Now())
    note = models.JSONField(default=dict)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
