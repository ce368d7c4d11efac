"""Forms of a decision that do not come from our page, or from a page of an older session.

Django refuses them before a view is reached. An attempt by somebody who is known is kept in the log
like every other refused one; a form from another site comes without the session, so its sender is
not known.
"""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from accounts.actors import Actor
from approvals import decisions, errors, refusals
from audit import trail

ONE = "approvals:review"
MANY = {"approvals:bulk_approve": "approved", "approvals:bulk_reject": "rejected"}
"""Names of the addresses that decide."""


def keep(request: HttpRequest) -> None:
    """Keep that a form of a decision was refused; nothing for any other form."""
    match = request.resolver_match
    known = getattr(request, "user", None)
    if match is None or known is None or not known.is_authenticated:
        return
    if match.view_name == ONE:
        _keep_one(request, match.kwargs["request_id"])
    elif match.view_name in MANY:
        _keep_many(request, MANY[match.view_name])


def _keep_one(request: HttpRequest, request_id: UUID) -> None:
    verdict = request.POST.get("verdict", "")
    refusals.record(request_id, errors.FormForged(), actor=Actor.of(request), verdict=verdict)


def _keep_many(request: HttpRequest, verdict: str) -> None:
    trail.record_refused(
        "decision.refused",
        actor=Actor.of(request, entry=decisions.BULK),
        target=("bulk", request.POST.get("batch", "")[: decisions.LONGEST_TOKEN]),
        reason=str(errors.FormForged()),
        data={"refusal": "FormForged", "verdict": verdict},
    )
