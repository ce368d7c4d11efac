"""Pages about the whole."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from benchmarks.addresses.readers import Page, Readers


def pages(who: Readers) -> Iterator[Page]:
    for role in ("operator", "approver", "auditor", "owner"):
        yield Page(name=f"overview, {role}", reader=getattr(who, role), address=reverse("overview"))
    for name, address in (("workers", "runs:workers"), ("tools", "ledger:tools"), ("me", "me")):
        yield Page(name=name, reader=who.operator, address=reverse(address))
