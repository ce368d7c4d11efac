"""A person who answers the questions of runs, through the one way in that there is."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from accounts.actors import Actor
from accounts.models import User
from approvals import decisions
from approvals.models import Request
from approvals.status import Status
from tests.support.people import person


def ben() -> User:
    return User.objects.filter(email="ben@example.com").first() or person("Ben")


def open_questions(run_id: UUID) -> dict[str, Request]:
    """The open requests of a run by the words of the question."""
    found = Request.objects.filter(run_id=run_id, status=Status.PENDING)
    return {_words(request.payload): request for request in found}


def _words(payload: Any) -> str:
    return str(payload["question"] if isinstance(payload, dict) else payload)


def answer(run_id: UUID, question: str, value: object = None, verdict: str = "approved") -> Request:
    """Decide an open question of the run."""
    request = open_questions(run_id)[question]
    decisions.decide(
        request.pk,
        actor=Actor.person(ben(), entry="page"),
        verdict=verdict,
        value=value,
        comment="because" if verdict == "rejected" else "",
        seen_digest=request.digest,
        token=uuid4().hex,
    )
    return request
