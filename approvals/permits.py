"""Permits: an approval allows exactly one effect, with exactly the arguments that were shown."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists, OuterRef

from approvals.models import Decision
from approvals.shapes import Shape
from approvals.status import Delivery, Verdict
from ledger.models import Effect


class Permits:
    """What the ledger asks before it reserves an effect that needs a permit."""

    def find(self, run_id: UUID, tool: str, args_hash: str) -> UUID | None:
        """An approval of this run for this tool and these arguments that no effect has used yet.

        `args_hash` is `canonical.digest` of the arguments. An effect that has its permit already
        keeps it; the ledger need not ask again.
        """
        if not tool or not args_hash:
            return None
        return (
            Decision.objects.filter(
                ~Exists(Effect.objects.filter(permit=OuterRef("pk"))),
                request__run_id=run_id,
                request__shape=Shape.OURS,
                request__tool=tool,
                args_hash=args_hash,
                verdict=Verdict.APPROVED,
            )
            .exclude(delivery=Delivery.NOT_DELIVERED)
            .order_by("at", "pk")
            .values_list("pk", flat=True)
            .first()
        )
