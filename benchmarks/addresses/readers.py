"""Who asks for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Count, QuerySet

from accounts.models import User
from runs.models import Run
from signalbox.seed.people import OWNERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One request."""

    name: str
    reader: User
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """One person of each kind; of those who see only their own runs, one with many."""

    admin: User
    operator: User
    auditor: User
    approver: User
    owner: User
    """May look, and only at runs of their own."""

    @classmethod
    def found(cls) -> Readers:
        return cls(
            admin=_in_group("admin")[0],
            operator=_in_group("operator")[0],
            auditor=_in_group("auditor")[0],
            approver=_busiest(_in_group("approver")),
            owner=_busiest(_in_group(OWNERS)),
        )


def listed(
    name: str, reader: User, address: str, asked: dict[str, dict[str, object]]
) -> Iterable[Page]:
    """The same list with several sets of parameters."""
    for what, query in asked.items():
        parameters = f"?{urlencode(query, doseq=True)}" if query else ""
        yield Page(name=f"{name} {what}".strip(), reader=reader, address=address + parameters)


def check(pages: Iterable[Page]) -> None:
    """Raise if two pages have one name."""
    twice = [name for name, count in Counter(page.name for page in pages).items() if count > 1]
    if twice:
        raise ValueError(f"Two pages are called {twice[0]}.")


def _in_group(name: str) -> QuerySet[User]:
    return User.objects.filter(groups__name=name).order_by("pk")


def _busiest(people: QuerySet[User]) -> User:
    counts = Run.objects.filter(started_by__in=people).values("started_by").annotate(n=Count("pk"))
    busiest = counts.order_by("-n").first()
    return people.get(pk=busiest["started_by"]) if busiest else people[0]
