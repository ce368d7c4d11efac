"""Approvals: the inbox of each kind of reader, one request, many at once, statistics, policies."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from accounts.models import User
from approvals.models import Request
from benchmarks.addresses.readers import Page, Readers, listed

VIEWS: dict[str, dict[str, object]] = {
    view: {"view": view} for view in ("mine", "pending", "decided")
}


def pages(who: Readers) -> Iterator[Page]:
    for role in ("approver", "operator", "owner"):
        yield from listed(f"inbox, {role},", getattr(who, role), reverse("approvals:inbox"), VIEWS)
    closed = Request.objects.exclude(closed_at=None).order_by("-closed_at", "-pk")
    old = closed[closed.count() // 2]
    at = old.closed_at.isoformat() if old.closed_at else ""
    asked: dict[str, dict[str, object]] = {
        "half way down": {"view": "decided", "after": f"{at}~{old.pk}"},
        "by me": {"view": "decided", "by": "me"},
    }
    yield from listed("inbox, decided,", who.approver, reverse("approvals:inbox"), asked)
    pending = Request.objects.filter(status="pending").exclude(run__started_by=who.approver)
    for name, found in {"open": pending, "decided": closed}.items():
        if (request := found.first()) is not None:
            yield _page(f"request {name}", who.approver, "review", request.pk)
            yield _page(f"request {name}, auditor", who.auditor, "review", request.pk)
    yield _page("waiting, the number in the menu", who.approver, "")
    yield _page("many at once", who.approver, "bulk")
    for name in ("statistics", "policies", "policy_history", "delegations"):
        yield _page(name.replace("_", " "), who.admin, name)


def _page(name: str, reader: User, view: str, *given: object) -> Page:
    address = reverse(f"approvals:{view}", args=given) if view else reverse("waiting")
    return Page(name=name, reader=reader, address=address)
