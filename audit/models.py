"""The rows of the audit log: entries, and the seals that chain them.

Both tables only grow: triggers refuse UPDATE, DELETE and TRUNCATE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.db import models

if TYPE_CHECKING:
    from datetime import datetime

    from audit.canonical import Json


class ClockTimestamp(models.Func):
    """The database's clock at this statement, not at the start of its transaction."""

    function = "clock_timestamp"
    output_field: ClassVar[models.DateTimeField[datetime, datetime]] = models.DateTimeField()


class Entry(models.Model):
    """Who did what to what, when and why, and whether they were allowed to."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    verb = models.TextField()
    actor_kind = models.TextField()
    actor_id = models.TextField(blank=True)
    actor_label = models.TextField(blank=True)
    entry = models.TextField()
    """The entry point: page, command, api or worker."""
    target_kind = models.TextField()
    target_id = models.TextField()
    run_id = models.UUIDField(null=True, blank=True)
    allowed = models.BooleanField(default=True)
    """False: somebody tried, and it did not happen."""
    reason = models.TextField(blank=True)
    data = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    """Of `content`. The time is not in it: only the database knows it. The seal covers it."""

    class Meta:
        verbose_name_plural = "entries"
        default_permissions = ("view",)
        permissions = (("export_entry", "Can export the audit log"),)
        indexes = (
            models.Index(fields=["at"], name="audit_entry_at"),
            models.Index(fields=["verb", "id"], name="audit_entry_verb"),
            models.Index(fields=["actor_id", "id"], name="audit_entry_actor"),
            models.Index(fields=["target_id", "id"], name="audit_entry_target"),
            models.Index(
                fields=["run_id", "id"],
                name="audit_entry_run",
                condition=models.Q(run_id__isnull=False),
            ),
            models.Index(
                fields=["id"], name="audit_entry_refused", condition=models.Q(allowed=False)
            ),
        )

    def __str__(self) -> str:
        return f"{self.id} {self.verb} {self.target_kind} {self.target_id}"

    @property
    def content(self) -> dict[str, Json]:
        """What the digest is taken of: everything but the id and the time."""
        return {
            "verb": self.verb,
            "actor": [self.actor_kind, self.actor_id, self.actor_label, self.entry],
            "target": [self.target_kind, self.target_id],
            "run": str(self.run_id) if self.run_id else None,
            "allowed": self.allowed,
            "reason": self.reason,
            "data": self.data,
        }


class Seal(models.Model):
    """One link of the chain: the entry at place `seq`, bound to everything before it."""

    seq = models.BigIntegerField(primary_key=True)
    """1, 2, 3, … without gaps."""
    entry = models.OneToOneField(Entry, on_delete=models.PROTECT, related_name="seal")
    hash = models.CharField(max_length=64)
    sealed_at = models.DateTimeField(editable=False)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.seq} {self.hash[:12]}"
