"""What lists of runs search by. Triggers write it, so that it holds whoever writes a run."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from runs.models.runs import Run


class RunSought(models.Model):
    """The words of one run's title, the fields of its input, its key and the end of its id.

    A table of its own, because a run is written again with every step and this never is.
    """

    run = models.OneToOneField(
        Run, primary_key=True, on_delete=models.CASCADE, related_name="sought"
    )
    words = SearchVectorField()
    leaves = ArrayField(models.TextField())
    """`path=value` for each value of the input, the value in lower case, and `path=` for each path.
    Names are joined by dots, and places in lists left out."""
    key = models.TextField(blank=True, default="")
    """The idempotency key."""
    tail = models.CharField(max_length=32)
    """The id's digits, the last one first."""

    class Meta:
        default_permissions = ()
        indexes = (
            GinIndex(fields=("words",), name="runs_sought_words"),
            GinIndex(fields=("leaves",), name="runs_sought_leaves"),
            models.Index(fields=("key",), name="runs_sought_key", condition=~models.Q(key="")),
            models.Index(
                fields=("tail",), name="runs_sought_tail", opclasses=("text_pattern_ops",)
            ),
        )

    def __str__(self) -> str:
        return str(self.run_id)
