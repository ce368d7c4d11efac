"""Reading the audit log, in pages by key: a log that grows does not shift the page being read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from audit import trail
from audit.models import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What to show; an empty field shows all."""

    verbs: tuple[str, ...] = ()
    actor_id: str = ""
    actor_label: str = ""
    """Exactly as recorded; parts of the system have a label and no id."""
    target_kind: str = ""
    target_id: str = ""
    run_id: UUID | None = None
    allowed: bool | None = None
    """False: refused attempts only."""
    since: datetime | None = None
    until: datetime | None = None
    """Not included."""


def entries(filters: Filters, *, after_id: int | None = None, limit: int = 50) -> list[Entry]:
    """Up to `limit` entries, newest first; `after_id` is the last id of the page before."""
    found = Entry.objects.filter(_where(filters)).order_by("-id")
    if after_id is not None:
        found = found.filter(id__lt=after_id)
    return list(found[:limit])


def for_run(run_id: UUID) -> QuerySet[Entry]:
    """Every entry about one run, oldest first."""
    return Entry.objects.filter(run_id=run_id).order_by("id")


def _where(filters: Filters) -> Q:
    asked = {
        "verb__in": filters.verbs,
        "actor_id": filters.actor_id,
        "actor_label": filters.actor_label,
        "target_kind": filters.target_kind,
        "target_id": trail.stored_id(filters.target_id),
        "run_id": filters.run_id,
        "at__gte": filters.since,
        "at__lt": filters.until,
    }
    where = Q(**{field: value for field, value in asked.items() if value})
    return where if filters.allowed is None else where & Q(allowed=filters.allowed)
