"""The rows of the audit log: entries, the seals that chain them, the signatures of seals, anchors.

All tables only grow: triggers refuse UPDATE, DELETE and TRUNCATE.
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
            models.Index(fields=["actor_label", "id"], name="audit_entry_label"),
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
        return content(
            self.verb,
            self.actor_kind,
            self.actor_id,
            self.actor_label,
            self.entry,
            self.target_kind,
            self.target_id,
            str(self.run_id) if self.run_id else None,
            self.allowed,
            self.reason,
            self.data,
        )


def content(  # noqa: PLR0913  # an entry has that many sides
    verb: str,
    actor_kind: str,
    actor_id: str,
    actor_label: str,
    through: str,
    target_kind: str,
    target_id: str,
    run: str | None,
    allowed: bool,
    reason: str,
    data: Json,
) -> dict[str, Json]:
    """What the digest of an entry is taken of."""
    return {
        "verb": verb,
        "actor": [actor_kind, actor_id, actor_label, through],
        "target": [target_kind, target_id],
        "run": run,
        "allowed": allowed,
        "reason": reason,
        "data": data,
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


class SealSignature(models.Model):
    """What one pass of the sealer sealed, signed: which entries at which places, and their leaves.

    See `audit.signatures`.
    """

    id = models.BigAutoField(primary_key=True)
    first = models.BigIntegerField(db_index=True)
    """The first place that it covers. Not unique: where somebody removed seals, the sealer seals
    and signs these places again, and both signatures tell of it."""
    last = models.BigIntegerField()
    leaves = models.BinaryField()
    """For each place from `first` to `last` 40 bytes: the entry's id and its leaf."""
    key_id = models.CharField(max_length=64)
    signature = models.CharField(max_length=100)

    class Meta:
        db_table = "audit_signature"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


class Anchor(models.Model):
    """The head of the chain at one time, signed and made known elsewhere: see `audit.anchors`."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(editable=False)
    seq = models.BigIntegerField()
    """Place of the newest seal, and so the number of sealed entries."""
    hash = models.CharField(max_length=64)
    accepts = models.BigIntegerField(default=0)
    """Up to this place somebody vouched for seals that nobody signed; 0: for none."""
    key_id = models.CharField(max_length=64)
    signature = models.CharField(max_length=100)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.seq} {self.hash[:12]}"
