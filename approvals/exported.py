"""What the file about a run tells of its questions: each with its votes and its decision."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from accounts.models import User
from approvals import queries
from approvals.models import Decision, Request, Vote
from runs.story import Hide, Section

SEE = "approvals.view_request"
PAGE = 500

Row = dict[str, object]


def sections(run_id: UUID, user: User, hide: Hide) -> list[Section]:
    """Only the questions that this person may see."""
    if not user.has_perm(SEE):
        return [Section(name="requests", left_out="You may not see requests for approval.")]
    return [Section(name="requests", rows=_requests(run_id, user, hide))]


def _requests(run_id: UUID, user: User, hide: Hide) -> Iterator[Row]:
    found = queries.visible_to(user).filter(run_id=run_id).order_by("created_at", "pk")
    related = found.select_related("decision").prefetch_related("votes__user")
    for request in related.iterator(chunk_size=PAGE):
        yield _request(request, hide)


def _request(request: Request, hide: Hide) -> Row:
    decision: Decision | None = getattr(request, "decision", None)
    return {
        "id": request.pk,
        "attempt": request.fence,
        "node": request.node,
        "interrupt_id": request.interrupt_id,
        "checkpoint_id": request.checkpoint_id,
        "checkpoint_ns": request.checkpoint_ns,
        "round": request.round,
        "shape": request.shape,
        "tool": request.tool,
        "title": hide(request.title),
        "payload": hide(request.payload),
        "digest": request.digest,
        "policy_version": request.policy_version,
        "groups": request.groups,
        "people": hide(request.people),
        "status": request.status,
        "created_at": request.created_at,
        "deadline": request.deadline,
        "closed_at": request.closed_at,
        "close_reason": hide(request.close_reason),
        "votes": [_vote(vote, hide) for vote in sorted(request.votes.all(), key=_when)],
        "decision": _decision(decision, hide) if decision else None,
    }


def _when(vote: Vote) -> tuple[object, int]:
    return vote.at, vote.pk


def _vote(vote: Vote, hide: Hide) -> Row:
    return {
        "at": vote.at,
        "by": vote.user.label,
        "verdict": vote.verdict,
        "value": hide(vote.value),
        "args": hide(vote.args),
        "comment": hide(vote.comment),
        "reason": hide(vote.reason),
        "entry": vote.entry,
        "missing": vote.missing,
    }


def _decision(decision: Decision, hide: Hide) -> Row:
    return {
        "id": decision.pk,
        "at": decision.at,
        "by": decision.decider,
        "verdict": decision.verdict,
        "value": hide(decision.value),
        "args": hide(decision.args),
        "answer": hide(decision.answer),
        "comment": hide(decision.comment),
        "delivery": decision.delivery,
        "deliveries": decision.deliveries,
        "delivered_at": decision.delivered_at,
    }
