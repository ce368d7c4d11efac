"""One thing done to many runs: what a person ordered, and what became of each run."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.speech import later as _
from runs.models.runs import Run, new_id


class Operation(models.Model):
    """A person had many runs cancelled or force-resumed: which, why, and how far it has come."""

    class Kind(models.TextChoices):
        CANCEL = "cancel", _("Cancel")
        RESUME = "resume", _("Force resume")

    class Status(models.TextChoices):
        WORKING = "working", _("At work")
        DONE = "done", _("Done")
        STOPPED = "stopped", _("Stopped")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WORKING)
    reason = models.TextField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    label = models.CharField(max_length=200)
    """Their name then."""
    authenticated_at = models.DateTimeField(null=True, blank=True)
    """When they had last proved who they are."""
    method = models.CharField(max_length=40, blank=True, default="")
    query = models.TextField(blank=True, default="")
    """The filters, as they stood in the address; empty: the runs were chosen one by one."""
    matched = models.IntegerField(null=True, blank=True)
    """How many runs met the filters when it was ordered; NULL: there were none."""
    token = models.CharField(max_length=64)
    """Of the form, so that sending it twice orders once."""
    stopped_by = models.CharField(max_length=200, blank=True, default="")
    claim = models.UUIDField(null=True, blank=True)
    claimed_by = models.CharField(max_length=200, blank=True, default="")
    claimed_until = models.DateTimeField(null=True, blank=True)
    """Until then one worker goes on with it, or nobody; NULL: whoever comes first."""
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ("view",)
        permissions = (("order_operation", "Can act on many runs at once"),)
        constraints = (
            models.UniqueConstraint(fields=("asked_by", "token"), name="runs_operation_once"),
            models.CheckConstraint(
                name="runs_operation_working_or_ended",
                condition=Q(status="working", ended_at__isnull=True)
                | (~Q(status="working") & Q(ended_at__isnull=False)),
            ),
        )
        indexes = (
            models.Index(fields=("-created_at", "-id"), name="runs_operation_newest"),
            models.Index(
                fields=("created_at",),
                name="runs_operation_working",
                condition=Q(status="working"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class OperationItem(models.Model):
    """One run of an operation, and what became of it there."""

    class Outcome(models.TextChoices):
        PENDING = "pending", _("Not reached yet")
        DONE = "done", _("Done")
        SKIPPED = "skipped", _("Skipped")
        REFUSED = "refused", _("Refused")
        STOPPED = "stopped", _("Not done")

    operation = models.ForeignKey(Operation, on_delete=models.PROTECT, related_name="items")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    position = models.IntegerField()
    footing = models.CharField(max_length=80)
    """How the run stood when the person saw it: see `runs.operations.footing`."""
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.PENDING)
    why = models.TextField(blank=True, default="")
    at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("operation", "run"), name="runs_item_once_per_run"),
            models.UniqueConstraint(fields=("operation", "position"), name="runs_item_in_order"),
        )
        indexes = (
            models.Index(
                fields=("operation", "position"),
                name="runs_item_pending",
                condition=Q(outcome="pending"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.operation_id} {self.run_id} {self.outcome}"
