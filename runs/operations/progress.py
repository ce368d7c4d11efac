"""How far operations have come, for their pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import speech
from accounts.models import User
from runs import errors, visible
from runs.models import Operation, OperationItem
from runs.operations.kinds import KINDS, Kind
from runs.operations.states import OUTCOMES, STATUSES
from runs.status import State

Outcome = OperationItem.Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One operation, and how many of its runs have come to what."""

    operation: Operation
    counts: dict[str, int]

    @property
    def kind(self) -> Kind:
        return KINDS[self.operation.kind]

    @property
    def state(self) -> State:
        return STATUSES[self.operation.status]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def reached(self) -> int:
        left = self.counts.get(Outcome.PENDING, 0) + self.counts.get(Outcome.STOPPED, 0)
        return self.total - left

    @property
    def outcomes(self) -> list[tuple[State, int]]:
        """Those that there are, in the order of the table."""
        return [
            (state, self.counts[name]) for name, state in OUTCOMES.items() if name in self.counts
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One run of an operation, as one reader may see it."""

    item: OperationItem
    state: State
    title: str
    """Empty for what the reader may not see."""

    @property
    def why(self) -> str:
        """What is kept of its outcome, in the reader's language."""
        if self.item.outcome == Outcome.STOPPED:
            return _("Stopped by {person}.").format(person=self.item.operation.stopped_by)
        return speech.shown(self.item.why)


def of(operations: Iterable[Operation]) -> list[Progress]:
    """One query for all of them."""
    found = list(operations)
    counts: dict[UUID, dict[str, int]] = {operation.pk: {} for operation in found}
    counted = (
        OperationItem.objects.filter(operation__in=found)
        .values_list("operation_id", "outcome")
        .annotate(Count("pk"))
    )
    for operation_id, outcome, count in counted:
        counts[operation_id][outcome] = count
    return [Progress(operation=each, counts=counts[each.pk]) for each in found]


def newest(
    *, after: Operation | None = None, before: Operation | None = None, limit: int
) -> list[Operation]:
    """Up to `limit`, newest first; those after or before one of the list."""
    found = Operation.objects.all()
    if before is not None:
        at = Q(created_at__gt=before.created_at) | Q(created_at=before.created_at, pk__gt=before.pk)
        return list(found.filter(at).order_by("created_at", "id")[:limit])[::-1]
    if after is not None:
        at = Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, pk__lt=after.pk)
        found = found.filter(at)
    return list(found.order_by("-created_at", "-id")[:limit])


def one(operation_id: UUID) -> Progress:
    """Raises NoSuchOperation."""
    operation = Operation.objects.filter(pk=operation_id).first()
    if operation is None:
        raise errors.NoSuchOperation
    return of([operation])[0]


def names(ids: Iterable[UUID]) -> list[tuple[UUID, str]]:
    """What these operations are called, such as "Cancel 4 runs". One query."""
    found = Operation.objects.filter(pk__in=list(ids)).annotate(total=Count("items"))
    return [
        (
            key,
            ngettext("%(verb)s %(count)s run", "%(verb)s %(count)s runs", total)
            % {"verb": KINDS[kind].verb, "count": total},
        )
        for key, kind, total in found.values_list("pk", "kind", "total")
    ]


def items(operation: Operation, user: User, *, outcome: str, after: int, limit: int) -> list[Shown]:
    """Up to `limit` of its runs in the order in which they are reached, behind place `after`."""
    found: QuerySet[OperationItem] = operation.items.filter(position__gt=after)
    if outcome:
        found = found.filter(outcome=outcome)
    shown = list(found.select_related("run", "operation").order_by("position")[:limit])
    ids = [item.run_id for item in shown]
    seen = set(visible.to(user).filter(pk__in=ids).values_list("pk", flat=True))
    return [
        Shown(
            item=item,
            state=OUTCOMES[item.outcome],
            title=item.run.title if item.run_id in seen else "",
        )
        for item in shown
    ]
