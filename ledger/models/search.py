"""What searches look at; triggers write it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from ledger.models.effects import Effect


class Sought(models.Model):
    """By which whole words an effect is found. Written by triggers only."""

    effect = models.OneToOneField(
        Effect,
        primary_key=True,
        to_field="uid",
        on_delete=models.CASCADE,
        related_name="sought",
        db_constraint=False,
    )
    words = ArrayField(models.TextField())
    """In lower case: every text and number in the arguments and in the run's input as a whole, and
    the words of the run's title."""

    class Meta:
        default_permissions = ()
        indexes = (GinIndex(fields=("words",), name="ledger_sought_words"),)

    def __str__(self) -> str:
        return f"{self.effect_id}"


class Number(models.Model):
    """One number in the arguments of an effect, to be compared. Written by triggers only."""

    pk = models.CompositePrimaryKey("path", "value", "effect_id")
    path = models.CharField(max_length=200)
    """Names joined by dots; places in lists are left out."""
    value = models.DecimalField(max_digits=27, decimal_places=15)
    effect = models.ForeignKey(
        Effect,
        to_field="uid",
        on_delete=models.CASCADE,
        related_name="numbers",
        db_constraint=False,
        db_index=False,
    )

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.path} {self.value}"
