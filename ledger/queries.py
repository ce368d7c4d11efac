"""What pages show of the ledger, in pages by key: (updated_at, uid), newest first."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    Func,
    JSONField,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.lookups import IContains

from accounts.models import User
from audit.models import ClockTimestamp
from ledger import errors, status
from ledger.models import Effect, EffectAttempt, Incident, Look
from runs import visible
from runs.models import Lease
from runs.status import State

NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What to show; an empty field shows all."""

    status: str = ""
    tool: str = ""
    agent: str = ""
    run_id: UUID | None = None
    settled_by_hand: bool = False
    text: str = ""
    """Part of the provider's reference, of the tool's name or of the run's title; or one of the
    arguments, an id or a key, exactly."""
    in_arguments: bool = False
    """`text` may be part of an argument too. Only for who may see hidden values: with parts, what
    is hidden could be guessed letter by letter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page ends: the last (or first) row that it shows."""

    updated_at: datetime
    uid: UUID

    @classmethod
    def of(cls, effect: Effect) -> Place:
        return cls(updated_at=effect.updated_at, uid=effect.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One effect with everything that is known about it."""

    effect: Effect
    calls: list[EffectAttempt]
    looks: list[Look]
    incidents: list[Incident]
    calling: bool
    """A call is under way, as far as anybody knows."""
    holder_lives: bool
    """The worker that made the last call still holds the lease: its answer may still come."""

    @property
    def state(self) -> State:
        if self.calling:
            return status.CALLING
        return status.shown(
            self.effect.status,
            calling=False,
            unheard=any(call.outcome == status.Outcome.UNKNOWN for call in self.calls),
            ended=self.effect.left_alone,
        )

    @property
    def may_be_settled(self) -> bool:
        return self.effect.status == status.Status.IN_DOUBT


def effects(
    filters: Filters,
    user: User,
    *,
    after: Place | None = None,
    before: Place | None = None,
    limit: int = 50,
) -> Sequence[Effect]:
    """Up to `limit` effects that `user` may see, last changed first, each with its run, `calling`
    (a call is open) and `unheard` (nobody knows how one ended).

    `after` is the last row of the page before, `before` the first row of the page after.
    """
    calls = EffectAttempt.objects.filter(effect=OuterRef("pk"))
    found = (
        Effect.objects.filter(_where(filters), visible.within(user, "run"))
        .select_related("run")
        .annotate(
            calling=Exists(calls.filter(outcome=status.Outcome.OPEN)),
            unheard=Exists(calls.filter(outcome=status.Outcome.UNKNOWN)),
        )
    )
    if before is not None:
        newer = found.filter(
            Q(updated_at__gt=before.updated_at)
            | Q(updated_at=before.updated_at, uid__gt=before.uid)
        )
        return list(newer.order_by("updated_at", "uid")[:limit])[::-1]
    if after is not None:
        found = found.filter(
            Q(updated_at__lt=after.updated_at) | Q(updated_at=after.updated_at, uid__lt=after.uid)
        )
    return list(found.order_by("-updated_at", "-uid")[:limit])


def effect(uid: UUID, user: User) -> Detail:
    """One effect, its calls, look-ups and incidents, oldest first.

    Raises NoSuchEffect, also for one of a run that this person may not see.
    """
    found = (
        Effect.objects.filter(visible.within(user, "run"), uid=uid)
        .select_related("run")
        .prefetch_related(
            Prefetch("calls", EffectAttempt.objects.order_by("number")),
            Prefetch("looks", Look.objects.order_by("at", "id")),
            Prefetch("incidents", Incident.objects.order_by("at", "id")),
        )
        .first()
    )
    if found is None:
        raise errors.NoSuchEffect
    calls = list(found.calls.all())
    last = calls[-1] if calls else None
    return Detail(
        effect=found,
        calls=calls,
        looks=list(found.looks.all()),
        incidents=list(found.incidents.all()),
        calling=any(call.outcome == status.Outcome.OPEN for call in calls),
        holder_lives=last is not None and _drives(found.run_id, last.fence),
    )


def counts(user: User, filters: Filters | None = None) -> dict[str, int]:
    """How many effects that `user` may see there are in each state; states without any count 0."""
    found = Effect.objects.filter(_where(filters or Filters()), visible.within(user, "run"))
    counted = dict(found.values_list("status").annotate(Count("pk")))
    return {state: counted.get(state, 0) for state in status.Status.values}


def incidents(*, limit: int = 50, kinds: Collection[str] = ()) -> QuerySet[Incident]:
    """The newest incidents, with run and effect."""
    found = Incident.objects.select_related("run", "effect").order_by("-at", "-id")
    return (found.filter(kind__in=kinds) if kinds else found)[:limit]


def tools() -> list[str]:
    """The tools that have effects, by name: for the filter."""
    return list(Effect.objects.order_by("tool").values_list("tool", flat=True).distinct())


def _drives(run_id: UUID, fence: int) -> bool:
    from_now = Lease.objects.filter(pk=run_id, fence=fence, expires_at__gt=ClockTimestamp())
    return from_now.exists()


def _where(filters: Filters) -> Q:
    equal = {
        "status": filters.status,
        "tool": filters.tool,
        "run__agent": filters.agent,
        "run_id": filters.run_id,
    }
    where = Q(**{name: value for name, value in equal.items() if value})
    if filters.settled_by_hand:
        where &= ~Q(settled_by="")
    text = filters.text.strip().replace("\x00", "")
    if text:
        where &= _matching(text, in_arguments=filters.in_arguments)
    return where


class _HasValue(Func):
    """Whether some value in a JSON document, however deep, is this text or this number."""

    template = "jsonb_path_exists(%(expressions)s)"
    arg_joiner = ", '$.** ? (@ == $text || @ == $number)', "
    output_field = BooleanField()


class _Values(Func):
    """All texts and numbers of a JSON document, as one text."""

    template = (
        "jsonb_path_query_array(%(expressions)s,"
        """ '$.** ? (@.type() == "string" || @.type() == "number")')::text"""
    )
    output_field = TextField()


def _matching(text: str, *, in_arguments: bool) -> Q:
    named = (
        Q(provider_ref__icontains=text)
        | Q(tool__icontains=text)
        | Q(idempotency_key=text)
        | Q(run__title__icontains=text)
    )
    if in_arguments:
        named |= Q(IContains(_Values("args"), text))
    else:
        sought = {"text": text, "number": _number(text)}
        named |= Q(_HasValue("args", Value(sought, JSONField())))
    try:
        identity = UUID(text)
    except ValueError:
        return named
    return named | Q(uid=identity) | Q(run_id=identity)


def _number(text: str) -> int | float | None:
    """The number that `text` writes, if it is one."""
    try:
        return json.loads(text) if NUMBER.fullmatch(text) else None
    except ValueError:
        return None
