"""The pages that `benchmarks.pages` asks for, by name, with runs of the seeded database."""

from __future__ import annotations

from django.urls import reverse
from django.utils.http import urlencode

from approvals.models import Request
from ledger.models import Effect
from runs.models import Run
from signalbox.seed.originals import ORDER


def pages() -> dict[str, str]:
    """Name and address of every page."""
    return _overview() | _runs() | _one_run() | _ledger() | _approvals() | _audit()


def _overview() -> dict[str, str]:
    return {"overview": reverse("overview"), "workers": reverse("runs:workers")}


def _runs() -> dict[str, str]:
    middle = Run.objects.order_by("-created_at")[Run.objects.count() // 2]
    place = f"{middle.created_at.isoformat()}~{middle.pk}"
    list_ = reverse("runs:list")
    filters: dict[str, dict[str, str]] = {
        "": {},
        "failed": {"status": "failed"},
        "waiting": {"status": "waiting"},
        "stuck": {"status": "stuck"},
        "of an agent": {"agent": "mailing"},
        "search": {"q": ORDER},
        "search for what is not there": {"q": "zzzzzz"},
        "of a week": {"since": "7d"},
        "half way down": {"after": place},
        "that need attention": {"attention": "on"},
    }
    return {f"runs {name}".strip(): f"{list_}?{urlencode(q)}" for name, q in filters.items()}


def _one_run() -> dict[str, str]:
    sizes = {"small": {"given__how": "small"}, "asked": {"given__how": "asked"}}
    found = {
        name: Run.objects.filter(**{k.replace("given", "input"): v for k, v in q.items()})[0]
        for name, q in sizes.items()
    }
    found["with 40 effects"] = Run.objects.filter(agent="mailing")[0]
    found["of 5,000 steps"] = Run.objects.filter(agent="report").order_by("-input__size")[0]
    shown = {f"run {name}": reverse("runs:run", args=[run.pk]) for name, run in found.items()}
    for tab in ("effects", "approvals"):
        run = found["with 40 effects" if tab == "effects" else "asked"]
        shown[f"run, {tab}"] = reverse("runs:tab", args=[run.pk, tab])
    shown["run, state"] = reverse("runs:state", args=[found["of 5,000 steps"].pk])
    shown["run, audit"] = reverse("runs:audit", args=[found["asked"].pk])
    return shown


def _ledger() -> dict[str, str]:
    list_ = reverse("ledger:list")
    middle = Effect.objects.order_by("-updated_at", "-uid")[
        200_000 if Effect.objects.count() > 300_000 else 100
    ]
    filters: dict[str, dict[str, str]] = {
        "": {},
        "in doubt": {"status": "in_doubt"},
        "sent": {"status": "sent"},
        "of a tool": {"tool": "mail.send"},
        "of an agent": {"agent": "refund_desk"},
        "search": {"q": "20077"},
        "far down": {"after": f"{middle.updated_at.isoformat()}~{middle.uid}"},
    }
    shown = {f"ledger {name}".strip(): f"{list_}?{urlencode(q)}" for name, q in filters.items()}
    effect = Effect.objects.filter(tool="payments.refund")[0]
    return shown | {
        "effect": reverse("ledger:effect", args=[effect.uid]),
        "outbox": reverse("ledger:outbox"),
    }


def _approvals() -> dict[str, str]:
    inbox = reverse("approvals:inbox")
    shown = {f"inbox {view}": f"{inbox}?view={view}" for view in ("mine", "pending", "decided")}
    request = Request.objects.filter(decision__isnull=False)[0]
    return shown | {"review": reverse("approvals:review", args=[request.pk])}


def _audit() -> dict[str, str]:
    list_ = reverse("audit:list")
    filters: dict[str, dict[str, str]] = {
        "": {},
        "refused": {"allowed": "no"},
        "of a verb": {"verb": "decision.made"},
        "search": {"q": "Person 7"},
    }
    return {f"audit {name}".strip(): f"{list_}?{urlencode(q)}" for name, q in filters.items()}
