"""The list of runs, and the pages of one run: small, asked about, with many effects, long."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import QuerySet
from django.urls import reverse

from accounts.models import User
from approvals.models import Request
from benchmarks.addresses.readers import Page, Readers, listed
from runs import visible
from runs.listing.forms import COLUMNS, SIZES
from runs.models import Run
from runs.trace import listing

HOUR = timedelta(hours=1)


def pages(who: Readers) -> Iterator[Page]:
    yield from _list(who)
    yield _page("operations", who.operator, "operations")
    yield from _one(who)


def _list(who: Readers) -> Iterator[Page]:
    list_ = reverse("runs:list")
    run = Run.objects.filter(agent="refund_desk").order_by("pk")[1000:].first()
    title = run.title if run else ""
    asked: dict[str, dict[str, object]] = {
        "": {},
        **{s: {"status": s} for s in ("succeeded", "failed", "cancelled", "waiting", "parked")},
        **{s: {"status": s} for s in ("queued", "running", "stuck", "stalled")},
        "that need attention": {"attention": "on"},
        "of an agent": {"agent": "mailing"},
        "of a rare agent": {"agent": "report"},
        "of an agent, failed": {"agent": "refund_desk", "status": "failed"},
        "of a rare agent, failed": {"agent": "report", "status": "failed"},
        "of a person": {"owner": who.owner.pk},
        "of a person, failed": {"owner": who.owner.pk, "status": "failed"},
        "of an hour": {"since": "1h"},
        "of a month, of an agent": {"since": "30d", "agent": "mailing"},
        "by a word of titles": {"q": "refund"},
        "by a rare word of titles": {"q": title.rpartition(" ")[2]},
        "by a title": {"q": title},
        "by a field of inputs": {"q": f"order_id:{title.rpartition(' ')[2]}"},
        "by a common field of inputs": {"q": "how:small"},
        "by a field and a word": {"q": "how:asked refund", "status": "failed"},
        "of a version": {"version": "1.0"},
        "of an error": {"error": "ValueError"},
        "of an error and an agent": {"error": "ValueError", "agent": "mailing"},
        "driven": {"status": "driven"},
        "ended in an hour long ago": _ended(0.5),
        "with all columns, as long as can be": {
            "col": [name for name, _ in COLUMNS],
            "size": SIZES[-1],
        },
        "by an id": {"q": run.pk if run else ""},
        "by the end of an id": {"q": str(run.pk)[-8:] if run else ""},
        "by what is not there": {"q": "zzzzzz"},
        "by a word, failed, of an agent": {
            "q": "order",
            "status": "failed",
            "agent": "refund_desk",
        },
        "half way down": {"after": _at(Run.objects.all(), 0.5)},
        "at the end": {"after": _at(Run.objects.all(), 0.999)},
        "failed, half way down": {
            "status": "failed",
            "after": _at(Run.objects.filter(status="failed"), 0.5),
        },
    }
    yield from listed("runs", who.operator, list_, asked)
    for role in ("approver", "owner"):
        yield from _of_some(role, getattr(who, role))


def _of_some(role: str, user: User) -> Iterator[Page]:
    """Of somebody who sees only what is theirs."""
    asked: dict[str, dict[str, object]] = {
        "": {},
        "succeeded": {"status": "succeeded"},
        "waiting": {"status": "waiting"},
        "stuck": {"status": "stuck"},
        "that need attention": {"attention": "on"},
        "of an agent": {"agent": "mailing"},
        "by a word of titles": {"q": "refund"},
        "by what is not there": {"q": "zzzzzz"},
        "half way down": {"after": _at(visible.to(user), 0.5)},
    }
    yield from listed(f"runs, {role}", user, reverse("runs:list"), asked)


def _at(runs: QuerySet[Run], share: float) -> str:
    place = int(runs.count() * share)
    found = runs.order_by("-created_at", "-id")[place:].first()
    return f"{found.created_at.isoformat()}~{found.pk}" if found else ""


def _ended(share: float) -> dict[str, object]:
    ended = Run.objects.exclude(ended_at=None).order_by("ended_at")
    at = ended[int(ended.count() * share)].ended_at
    if at is None:
        return {}
    return {"ended_from": f"{at:%Y-%m-%dT%H:%M}", "ended_until": f"{at + HOUR:%Y-%m-%dT%H:%M}"}


def _one(who: Readers) -> Iterator[Page]:
    kinds = {
        "small": Run.objects.filter(input__how="small", status="succeeded"),
        "failed": Run.objects.filter(status="failed"),
        "waiting": Run.objects.filter(status="waiting"),
        "parked": Run.objects.filter(status="parked"),
        "decided": Run.objects.filter(input__how="asked", status="succeeded"),
        "with 40 effects": Run.objects.filter(agent="mailing"),
        "of 5,000 steps": Run.objects.filter(agent="report").order_by("-input__size"),
    }
    for name, found in kinds.items():
        if (run := found.first()) is not None:
            yield from _of_run(f"run {name}", who.operator, run)
            if run.started_by is not None:
                yield _page(f"run {name}, its owner", run.started_by, "run", run.pk)


def _of_run(name: str, reader: User, run: Run) -> Iterator[Page]:
    yield _page(name, reader, "run", run.pk)
    yield _page(f"{name}, state", reader, "state", run.pk)
    yield _page(f"{name}, audit", reader, "audit", run.pk)
    yield _page(f"{name}, attempts", reader, "attempts", run.pk)
    yield _page(f"{name}, replay", reader, "replay", run.pk)
    yield _page(f"{name}, effects", reader, "tab", run.pk, "effects")
    if Request.objects.filter(run=run).exists():
        yield _page(f"{name}, approvals", reader, "tab", run.pk, "approvals")
    yield from _checkpoints(name, reader, run)


def _checkpoints(name: str, reader: User, run: Run) -> Iterator[Page]:
    yield _page(f"{name}, checkpoints", reader, "checkpoints", run.pk)
    ids = listing.at_place(run.pk, 1, most=listing.count(run.pk))[::-1]
    for place, at in (("newest", 0), ("middle", len(ids) // 2)):
        yield _page(f"{name}, {place} checkpoint", reader, "checkpoint", run.pk, ids[at])
    address = reverse("runs:checkpoints", args=[run.pk])
    asked: dict[str, dict[str, object]] = {"half way down": {"before": ids[len(ids) // 2]}}
    yield from listed(f"{name}, checkpoints", reader, address, asked)


def _page(name: str, reader: User, view: str, *given: object) -> Page:
    return Page(name=name, reader=reader, address=reverse(f"runs:{view}", args=given))
