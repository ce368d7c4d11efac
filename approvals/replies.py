"""Questions as they are kept, handed to the shapes: what was asked, and what may be answered."""

from __future__ import annotations

from collections.abc import Mapping

from approvals import shapes
from approvals.models import Request
from approvals.policy import Gate
from approvals.shapes import Asked

ANSWER = "approvals.answer_request"
"""Leave to answer a plain question with any value; whoever has it must be asked by the policy."""


def asked(request: Request, gate: Gate, *, free: bool = False) -> Asked:
    """The question, with what the policies agree about its answer. `free`: see `ANSWER`."""
    return Asked(
        shape=request.shape,
        payload=request.payload,
        digest=request.digest,
        schema=request.answer_schema,
        answers=gate.answers,
        may_change=gate.may_change,
        free=free,
    )


def unattended(request: Request, answers: Mapping[str, object]) -> Asked:
    """The question as its deadline sees it; `answers` are those of the policy as of then."""
    return Asked(
        shape=request.shape,
        payload=request.payload,
        digest=request.digest,
        schema=request.answer_schema,
        answers=answers,
    )


def why_not(request: Request, gate: Gate, verdict: str) -> str:
    """Why this verdict means nothing to this question; empty if it means something."""
    return shapes.why_not(asked(request, gate), verdict)
