"""The graphs of agents, as pages draw them."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Picture(models.Model):
    """The nodes and edges of an agent's graph, as a worker that loaded this version drew them."""

    agent = models.CharField(max_length=100)
    version = models.CharField(max_length=50)
    shape = models.JSONField()
    """See `runs.picture.shape`."""
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("agent", "version"), name="runs_picture_once"),
        )

    def __str__(self) -> str:
        return f"{self.agent} {self.version}"
