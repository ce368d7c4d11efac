"""The filters of a list of effects, each as what it asks of an effect and where these are found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from uuid import UUID

from django.db.models import Exists, Model, OuterRef, Q, QuerySet, Value
from django.db.models.lookups import IContains

from accounts.models import User
from ledger import ports, queries
from ledger.browse import conditions, documents, hidden, words
from ledger.browse.conditions import Condition
from ledger.browse.filters import Filters, Role
from ledger.models import Effect, EffectAttempt, Incident, Number

NEWEST = 10_000
"""Effects, the newest ones, in which parts of arguments are looked for."""
_KEY = re.compile(r"(?P<key>.+?)(#[0-9]+)?")
Ids = QuerySet[Model, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One filter that may be rare."""

    where: Q
    """What it asks of an effect."""
    ids: tuple[Ids, ...]
    """The same as ids of effects: all that one of these queries finds, each from an index."""
    exact: bool = False
    """The very same. Otherwise some of them may not meet `where`."""
    expected: int = 0
    """Effects that the planner expects to meet it; 0: it has not been asked."""
    shown: Q = field(default_factory=Q)
    """What is asked besides: see `search.Scope`."""


def of(filters: Filters, user: User) -> Iterator[Side]:
    if filters.settled_by_hand:
        yield exactly(~Q(settled_by=""))
    if filters.incident:
        with_one = Incident.objects.values_list("effect__uid", flat=True)
        some = Exists(Incident.objects.filter(effect=OuterRef("pk")))
        yield Side(where=Q(some), ids=(with_one,), exact=True)
    if filters.person:
        yield _somebody(filters.person, filters.role)
    if filters.key:
        yield exactly(_key(filters.key))
    if filters.reference:
        yield _reference(filters.reference)
    for path, compared in _by_path(filters.conditions):
        yield replace(_compared(path, compared), shown=hidden.value(path, compared, user))
    if filters.text:
        yield _text(filters, user)


def plain(filters: Filters) -> Q:
    """Filters that have an index in the order of the list."""
    asked = {
        "status": filters.status,
        "tool": filters.tool,
        "agent": filters.agent,
        "run_id": filters.run_id,
        "created_at__gte": filters.since,
        "created_at__lt": filters.until,
    }
    return Q(**{name: value for name, value in asked.items() if value})


def exactly(where: Q) -> Side:
    return Side(where=where, ids=(_ids(where),), exact=True)


def _ids(where: Q) -> Ids:
    return Effect.objects.filter(where).values_list("uid", flat=True)


# --- people ---------------------------------------------------------------------------------------


def _somebody(name: str, role: Role) -> Side:
    people = [person.pk for person in _people(name)]
    parts = {
        Role.STARTED: Q(run__started_by__in=people),
        Role.ALLOWED: Q(permit__in=ports.grounds().allowed_by(people)),
        Role.SETTLED: ~Q(settled_by="") & Q(settled_by__in=_labels(name)),
    }
    asked = list(parts.values()) if role is Role.ANY else [parts[role]]
    return Side(where=_any(*asked), ids=tuple(map(_ids, asked)), exact=True)


def _people(name: str) -> list[User]:
    """By address, or by the whole name."""
    found = User.objects.filter(email=name.strip().lower())
    first, _, last = name.strip().partition(" ")
    return list(found or User.objects.filter(first_name=first, last_name=last.strip()))


def _labels(name: str) -> list[str]:
    return [name, *(person.label for person in _people(name))]


# --- keys and references --------------------------------------------------------------------------


def _key(text: str) -> Q:
    """Of the effect, or the one that the provider got: numbered, or hashed after the run's id."""
    match = _KEY.fullmatch(text)
    bare = match["key"] if match else text
    where = Q(idempotency_key__in=(text, bare))
    run_id = _uuid(bare.partition(":")[0])
    return where | Q(run_id=run_id, provider_key__startswith=bare) if run_id else where


def _reference(text: str) -> Side:
    called = EffectAttempt.objects.filter(provider_ref=text)
    return Side(
        where=Q(provider_ref=text) | Q(Exists(called.filter(effect=OuterRef("pk")))),
        ids=(_ids(Q(provider_ref=text)), called.values_list("effect__uid", flat=True)),
        exact=True,
    )


# --- arguments ------------------------------------------------------------------------------------


def _by_path(asked: Iterable[Condition]) -> Iterator[tuple[str, list[Condition]]]:
    in_order = sorted(asked, key=lambda each: each.path)
    for path, group in groupby(in_order, key=lambda each: each.path):
        yield path, list(group)


def _compared(path: str, asked: list[Condition]) -> Side:
    where = Q(documents.Meets("args", Value(conditions.jsonpath(path, asked))))
    alone = [[each.word] for each in asked if each.operator == "=" and each.word]
    if alone:
        return Side(where=where, ids=(words.known_by(alone),), expected=words.expected(alone))
    bounds = {
        {">=": "value__gte", "<=": "value__lte"}[each.operator]: each.number
        for each in asked
        if each.operator != "="
    }
    if not bounds:
        return exactly(where)
    numbers = Number.objects.filter(path=path, **bounds)
    return Side(where=where, ids=(numbers.values_list("effect_id", flat=True),))


# --- words ----------------------------------------------------------------------------------------


def _text(filters: Filters, user: User) -> Side:
    text = filters.text.replace("\x00", "").strip()
    sought = words.spellings(text)
    named = [_begins(text), Q(tool__in=_tools_like(text)), _key(text)]
    identity = _uuid(text)
    if identity is not None:
        named += [Q(uid=identity), Q(run_id=identity)]
    parts = list(named)
    if filters.in_arguments:
        parts.append(Q(_newest(), IContains(documents.Values("args"), text)))
    return Side(
        where=_any(*parts, words.all_of("sought__words", sought)),
        ids=(*map(_ids, parts), words.known_by(sought)),
        exact=True,
        expected=words.expected(sought),
        shown=hidden.words(sought, user, named=_any(*named)),
    )


def _any(*parts: Q) -> Q:
    where = Q()
    for part in parts:
        where |= part
    return where


def _begins(text: str) -> Q:
    """The second part says what the index is told by: without it, PostgreSQL does not use it."""
    return Q(provider_ref__startswith=text) & ~Q(provider_ref="")


def _newest() -> Q:
    """The NEWEST effects, as a moment: only then the planner knows how few they are."""
    times = Effect.objects.order_by("-created_at").values_list("created_at", flat=True)
    first = times[NEWEST : NEWEST + 1].first()
    return Q(created_at__gt=first) if first else Q()


def _tools_like(text: str) -> list[str]:
    return [name for name in queries.tools() if text.lower() in name.lower()]


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
