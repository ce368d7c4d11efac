"""What must not happen and did, or may have."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.speech import later as _
from audit.models import ClockTimestamp
from ledger.models.effects import Effect
from runs.models import Run, new_id


class Incident(models.Model):
    """Something that must not happen did, or may have: a person has to look."""

    class Kind(models.TextChoices):
        DUPLICATE = "duplicate", _("A second success for one effect")
        CONFLICT = "conflict", _("Same key, other arguments")
        CONTRADICTION = "contradiction", _("It happened although that had been ruled out")
        REVERSED = "reversed", _("It happened, and the provider has taken it back since")
        UNKNOWN = "unknown", _("It happened, and now the provider knows nothing of it")

    kind = models.CharField(max_length=20, choices=Kind.choices)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="incidents")
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="incidents")
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=("-at", "-id"), name="ledger_incident_newest"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.effect_id}"


class Drift(models.Model):
    """A later attempt of a step asked for another effect than an earlier one (`ledger.drift`)."""

    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="drifts")
    step = models.CharField(max_length=300)
    tool = models.CharField(max_length=200)
    before = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="drifts")
    """What the earlier attempt asked for, and the later one did not."""
    fence_before = models.BigIntegerField()
    key = models.CharField(max_length=500)
    """Of the effect that the later attempt asked for; there is one unless it was stopped."""
    args = models.JSONField()
    args_hash = models.CharField(max_length=64)
    fence = models.BigIntegerField()
    stopped = models.BooleanField()
    """The effect was not started; the run waits until somebody accepts it."""
    at = models.DateTimeField(db_default=ClockTimestamp())
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    """The same attempt asked for the earlier effect after all."""
    accepted_by = models.CharField(max_length=200, blank=True, default="")
    accept_reason = models.TextField(blank=True, default="")
    accepted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        indexes = (
            models.Index(fields=("run", "at"), name="ledger_drift_by_run"),
            models.Index(
                fields=("run",),
                name="ledger_drift_undecided",
                condition=Q(stopped=True, withdrawn_at=None, accepted_at=None),
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.uid}"

    @property
    def undecided(self) -> bool:
        """The run waits for somebody."""
        return self.stopped and self.withdrawn_at is None and self.accepted_at is None
