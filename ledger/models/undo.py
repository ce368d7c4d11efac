"""Effects that are to be taken back."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import ClockTimestamp
from ledger import status
from runs.models import Run, new_id


class UndoPlan(models.Model):
    """A person had effects of an ended run undone: which ones, why, and how far it has come."""

    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="undo_plans")
    effects = models.JSONField()
    """The uids of the effects to take back, in this order."""
    status = models.CharField(
        max_length=10, choices=status.UndoStatus.choices, default=status.UndoStatus.WORKING
    )
    reason = models.TextField()
    asked_by = models.CharField(max_length=200)
    asked_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    due_at = models.DateTimeField(db_default=ClockTimestamp())
    """Nobody goes on with it before."""
    error = models.TextField(blank=True, default="")
    """Why it stopped, or what it waits for."""
    asked_at = models.DateTimeField(db_default=ClockTimestamp())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("run",),
                condition=Q(status=status.UndoStatus.WORKING),
                name="ledger_undoplan_one_at_work",
            ),
            models.CheckConstraint(
                name="ledger_undoplan_working_or_ended",
                condition=Q(status=status.UndoStatus.WORKING, ended_at__isnull=True)
                | (~Q(status=status.UndoStatus.WORKING) & Q(ended_at__isnull=False)),
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at",),
                name="ledger_undoplan_due",
                condition=Q(status=status.UndoStatus.WORKING),
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.status}"
