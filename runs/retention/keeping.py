"""What belongs to runs themselves: the way of their checkpoints, their last states, payloads."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Count, F, Func, IntegerField, JSONField, Model, QuerySet, Sum, Value
from langgraph.checkpoint.postgres import PostgresSaver

from accounts.speech import later as _
from audit.canonical import Json
from runs import checkpoints, statements
from runs.models import Attempt, Run
from runs.ports import Amount

ERASED: dict[str, Json] = {"erased": True}
"""What stands where a payload stood."""


class Bytes(Func):
    """How much room a column takes as it is stored."""

    function = "pg_column_size"
    output_field = IntegerField()


def amount(rows: QuerySet[Model], *columns: str) -> Amount:
    """The number of these rows, and the bytes of these columns in them. One query."""
    found = rows.aggregate(
        rows=Count("pk"), **{f"b{n}": Sum(Bytes(F(name))) for n, name in enumerate(columns)}
    )
    count = found.pop("rows")
    return Amount(rows=count, bytes=sum(value or 0 for value in found.values()))


def erased() -> Value:
    return Value(ERASED, JSONField())


class _Checkpoints:
    """What both classes of checkpoints share."""

    strategy: str

    def held(self) -> None:
        return None

    def measure(self, run_ids: Collection[UUID]) -> Amount:
        found = statements.one(
            statements.read("runs", f"measure_{self.strategy}"),
            {"threads": [str(each) for each in run_ids]},
        )
        if found is None:
            raise AssertionError("an aggregate always answers")
        rows, size = found
        return Amount(rows=rows, bytes=int(size))

    def erase(self, run: Run) -> None:
        """On a connection of the saver's; the caller holds the run's lease, so nobody drives it."""
        PostgresSaver(checkpoints.pool()).prune([run.thread_id], strategy=self.strategy)


class History(_Checkpoints):
    """All checkpoints but the last one of each graph."""

    kind, label, strategy = "history", _("Earlier checkpoints"), "keep_latest"

    def age(self) -> timedelta | None:
        return settings.RUNS_KEEP_HISTORY


class States(_Checkpoints):
    """All checkpoints."""

    kind, label, strategy = "states", _("All checkpoints"), "delete"

    def age(self) -> timedelta | None:
        return settings.RUNS_KEEP_STATES


class Payloads:
    """What runs were given and gave back, and the errors they raised."""

    kind, label = "runs", _("Inputs, outputs and errors of runs")

    def age(self) -> timedelta | None:
        return settings.RUNS_KEEP_PAYLOADS

    def held(self) -> None:
        return None

    def measure(self, run_ids: Collection[UUID]) -> Amount:
        mine = Run.objects.filter(pk__in=run_ids)
        tries = amount(Attempt.objects.filter(run__in=mine).exclude(error=""), "error")
        return amount(mine, "input", "output", "error") + tries

    def erase(self, run: Run) -> None:
        Attempt.objects.filter(run=run).exclude(error="").update(error="erased")
        Run.objects.filter(pk=run.pk, output__isnull=False).update(output=erased())
        Run.objects.filter(pk=run.pk).exclude(error="").update(error="erased")
        Run.objects.filter(pk=run.pk).update(input=erased(), title=f"{run.agent} (erased)")
