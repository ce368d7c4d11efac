"""Everything that is known of one run as one JSON document."""

from __future__ import annotations

import json
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs import queries, web
from runs.masking import Cloak
from runs.queries import Row
from runs.trace import downloads, showing


@never_cache
@require_safe
def export(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The run as one JSON document, hidden values hidden unless asked for and allowed."""
    user = web.reader(request)
    row = queries.one(run_id, user)
    show_all = web.reveals(request, run_id, "export")
    hides = showing.cloak(run_id, user, everything=show_all)
    text = json.dumps(_document(row, hides), indent=2, ensure_ascii=False)
    return downloads.attached(text, f"run-{run_id}.json")


def _document(row: Row, cloak: Cloak | None) -> dict[str, object]:
    run = row.run
    return {
        "id": str(run.pk),
        "agent": run.agent,
        "version": run.agent_version,
        "title": run.title,
        "status": run.status,
        "park_reason": run.park_reason or None,
        "started_by": run.starter,
        "created_at": run.created_at.isoformat(),
        "ended_at": run.ended_at and run.ended_at.isoformat(),
        "idempotency_key": run.idempotency_key,
        "input": showing.masked(run.input, cloak).value,
        "output": showing.masked(run.output, cloak).value,
        "error": f"{run.error_class}: {run.error}" if run.error_class else None,
        "attempts": [
            {
                "fence": attempt.fence,
                "holder": attempt.holder,
                "cause": attempt.cause,
                "outcome": attempt.outcome,
                "error": f"{attempt.error_class}: {attempt.error}" if attempt.error_class else None,
                "started_at": attempt.started_at.isoformat(),
                "ended_at": attempt.ended_at and attempt.ended_at.isoformat(),
            }
            for attempt in run.attempts.order_by("fence")
        ],
        "interventions": [
            {"kind": done.kind, "by": done.label, "reason": done.reason, "at": done.at.isoformat()}
            for done in run.interventions.order_by("at")
        ],
    }
