"""What may be erased of the questions of ended runs: everything that was asked and answered.

Who was asked, who decided what and when, on which fingerprint and under which policies, stays; so
do the comments and reasons that people wrote.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Concat, NullIf
from django.db.models.functions.comparison import Coalesce

from approvals import light
from approvals.models import Decision, Request, Vote
from approvals.shapes import Shape
from runs.models import Run
from runs.ports import Amount
from runs.retention import keeping
from runs.retention.keeping import erased


class Payloads:
    """Questions, answers and edits."""

    kind, label = "requests", "Questions and answers"

    def age(self) -> timedelta | None:
        return settings.APPROVALS_KEEP_PAYLOADS

    def held(self) -> None:
        return None

    def measure(self, run_ids: Collection[UUID]) -> Amount:
        return (
            keeping.amount(Request.objects.filter(run__in=run_ids), "payload", "schema")
            + keeping.amount(Vote.objects.filter(request__run__in=run_ids), "value", "args")
            + keeping.amount(
                Decision.objects.filter(request__run__in=run_ids), "value", "args", "answer"
            )
        )

    def erase(self, run: Run) -> None:
        """A plain question is left: its shape says nothing any more that a form could need.

        This process forgets at once what it has read of open requests; see `light` for others.
        """
        Vote.objects.filter(request__run=run).update(value=None, args=None)
        Decision.objects.filter(request__run=run).update(value=None, args=None, answer=erased())
        named = Coalesce(NullIf("tool", Value("")), Value("Question"))
        Request.objects.filter(run=run).update(
            payload=erased(),
            schema="",
            shape=Shape.PLAIN,
            title=Concat(named, Value(" (erased)")),
        )
        transaction.on_commit(light.forget)
