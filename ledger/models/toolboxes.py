"""What workers said of their tools."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Toolbox(models.Model):
    """What one worker said of the tools of its agents when it started."""

    worker = models.CharField(max_length=200, primary_key=True)
    """Its name, as in `runs.models.Worker`; the row outlives the worker's."""
    tools = models.JSONField()
    """[{name, kind, ...}, ...]: see `ledger.inventory.known.Known`."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.worker
