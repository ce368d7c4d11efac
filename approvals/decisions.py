"""Decisions: one verdict per request, permitted, in time, on the payload that was shown.

`decide` is the only way in, for every page, fragment, command and API. In one transaction, with the
run and then the request locked:

1. the same form of the same person again: the first outcome, and nothing new
2. permission now, by the policies of then and of now, whoever has joined by an escalation included
3. still open, and nobody asked to cancel
4. the deadline, by the database's clock after the locks, whether or not a sweeper has run
5. the digest is that of what was shown; of many approved at once, each can be judged at a glance
6. the verdict, the value and the comment can be used; changed arguments meet their policies, too
7. the vote; once enough people agree, the one decision row, and the run wakes

A refusal changes nothing and is recorded in a transaction of its own. One refusal does more: a
verdict that comes too late makes the request expire, and is recorded with that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NoReturn
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction
from psycopg.errors import LockNotAvailable

from accounts import actors, clock
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.speech import later
from approvals import (
    deadlines,
    eligibility,
    errors,
    gates,
    glance,
    nudges,
    persons,
    policy,
    refusals,
    replies,
    shapes,
    votes,
)
from approvals.eligibility import Person
from approvals.errors import NotEligible
from approvals.models import Request, Vote
from approvals.policy import Gate, Subject
from approvals.shapes import Given
from approvals.status import Status, Verdict
from approvals.votes import Ballot, Outcome
from audit import canonical
from runs.models import Run

__all__ = ["BULK", "LONGEST_COMMENT", "LONGEST_TOKEN", "Outcome", "decide"]

LONGEST_COMMENT = 10_000
"""Characters."""
LONGEST_TOKEN = 64
BULK: Final = "bulk"
"""The entry through which many are decided at once."""


def decide(  # noqa: PLR0913 (what a form sends)
    request_id: UUID,
    *,
    actor: Actor,
    verdict: str,
    value: object = None,
    comment: str = "",
    seen_digest: str,
    token: str,
    reason: str = "",
    args: Mapping[str, object] | None = None,
) -> Outcome:
    """Record one person's verdict, `approved` or `rejected`. Call it outside of transactions.

    `value` is what is chosen or answered, in the form of the question's shape; without it the
    verdict speaks for itself. `args` are those of a question of ours, as changed.
    `seen_digest` is the digest of the payload that was shown; `token` names the form that was sent;
    `reason` is one of the policy's named reasons to reject.

    Raises NoSuchRequest, NotEligible, ReauthenticationNeeded, PasskeyNeeded, AlreadyDecided,
    PayloadChanged, OneByOne, Withdrawn, CancelAsked, DeadlinePassed, BadValue, NobodyElse,
    ReasonMissing, TokenReused, Busy.
    """
    ballot = Ballot(
        actor=actor,
        verdict=verdict,
        value=value,
        comment=comment,
        seen_digest=seen_digest,
        token=token,
        reason=reason,
        args=args,
    )
    run_id: UUID | None = None
    try:
        run_id = _run_of(request_id)
        with transaction.atomic(durable=True):
            outcome = _decide(run_id, request_id, ballot)
    except (errors.ApprovalsError, accounts_errors.AccountsError) as refusal:
        _record_refusal(request_id, run_id, ballot, refusal)
        raise
    except (IntegrityError, OperationalError) as exc:
        refused = _translated(exc)
        _record_refusal(request_id, run_id, ballot, refused)
        raise refused from exc
    # Raised out here, because that the request has expired must be kept, and so must the refusal.
    if isinstance(outcome, errors.DeadlinePassed):
        raise outcome
    return outcome


def _run_of(request_id: UUID) -> UUID:
    if isinstance(request_id, UUID):
        run_id = Request.objects.filter(pk=request_id).values_list("run_id", flat=True).first()
        if run_id is not None:
            return run_id
    raise errors.NoSuchRequest


def _translated(exc: Exception) -> errors.ApprovalsError:
    """Raises `exc` itself if it is not one of the two that a person can do something about."""
    if "approvals_vote_token" in str(exc):
        return errors.TokenReused()
    if isinstance(exc.__cause__, LockNotAvailable):
        return errors.Busy()
    raise exc


def _record_refusal(
    request_id: UUID, run_id: UUID | None, ballot: Ballot, refusal: Exception
) -> None:
    refusals.record(
        request_id,
        refusal,
        actor=ballot.actor,
        verdict=ballot.verdict,
        run_id=run_id,
        more={"seen_digest": ballot.seen_digest},
    )


# --- the seven steps ------------------------------------------------------------------------------


def _decide(run_id: UUID, request_id: UUID, ballot: Ballot) -> Outcome | errors.DeadlinePassed:
    run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
    request = Request.objects.select_for_update(no_key=True).get(pk=request_id)

    first = _first_outcome(request, ballot)
    if first is not None:
        return first

    person = persons.identify(ballot.actor)
    involved = persons.involved(run)
    book = policy.hold()  # from here no change of a policy is saved until this has ended
    at = clock.now()  # of the vote and the decision too, so that none is later than the deadline
    if request.status == Status.PENDING and not deadlines.passed(request, at):
        nudges.catch_up(request, at)
    gate = gates.of(request, book)
    standing = eligibility.standing(person, gate, involved, ballot.verdict)
    if isinstance(standing, NotEligible):
        raise standing
    _require_proof(gate, ballot)

    _require_open(run, request)
    if deadlines.passed(request, at):
        return _too_late(run, request, ballot)
    if request.votes.filter(user_id=person.user_id).exists():
        raise eligibility.voted()

    if ballot.seen_digest != request.digest:
        raise errors.PayloadChanged(request.pk)
    _require_a_look(request, gate, person, ballot)
    given = _given(request, gate, ballot)
    also: tuple[Subject, ...] = ()
    if given.edited:
        # With other arguments other policies may hold: more people, other people, or no changes.
        also = _subjects(request, given)
        gate = gates.of(request, book, also=also)
        standing = eligibility.standing(person, gate, involved, ballot.verdict)
        if isinstance(standing, NotEligible):
            raise standing
        _require_proof(gate, ballot)
        given = _given(request, gate, ballot)
    count = votes.Count(
        request=request,
        gate=gate,
        involved=involved,
        standing=standing,
        ballot=ballot,
        given=given,
        at=at,
        widest=gates.of(request, book, also=also, joining=_joining(request)),
    )
    return count.add()


def _too_late(run: Run, request: Request, ballot: Ballot) -> errors.DeadlinePassed:
    """The request expires, and the refusal is kept with that: both or neither."""
    deadlines.expire(run, request)
    refusal = errors.DeadlinePassed(request)
    refusals.note(
        request.pk,
        refusal,
        actor=ballot.actor,
        verdict=ballot.verdict,
        run_id=run.pk,
        more={"seen_digest": ballot.seen_digest},
    )
    return refusal


def _joining(request: Request) -> list[str]:
    return [step.group for step in gates.steps(request)]


def _subjects(request: Request, given: Given) -> tuple[Subject, ...]:
    """The actions that would be approved, with the arguments as changed."""
    agent, node, shape = request.run.agent, request.node, request.shape
    return gates.subjects(agent, node, shape, shapes.changed(given))


def _require_proof(gate: Gate, ballot: Ballot) -> None:
    within = gate.reauthenticate_within
    if within is None:
        return
    if gate.passkey and not actors.fresh_passkey(ballot.actor, within):
        raise accounts_errors.PasskeyNeeded
    if not actors.fresh(ballot.actor, within):
        raise accounts_errors.ReauthenticationNeeded


def _require_a_look(request: Request, gate: Gate, person: Person, ballot: Ballot) -> None:
    """Many are approved at once only where a row of a list shows all there is to know."""
    if ballot.actor.entry != BULK or ballot.verdict != Verdict.APPROVED:
        return
    why = glance.why_open(request, gate, person.groups)
    if why:
        raise errors.OneByOne(later("{why} Open it, read it and decide it there.", why=why))


def _first_outcome(request: Request, ballot: Ballot) -> Outcome | None:
    """What became of this very form, if this person has sent it before."""
    if not _clean(ballot.token) or not 0 < len(ballot.token) <= LONGEST_TOKEN:
        raise errors.BadValue(
            later("The form has no valid token. Reload the page and decide there.")
        )
    if ballot.actor.kind != "user" or ballot.actor.user_id is None:
        return None
    vote = Vote.objects.filter(user_id=ballot.actor.user_id, token=ballot.token).first()
    if vote is None:
        return None
    if vote.request_id != request.pk:
        raise errors.TokenReused
    return votes.outcome(request, vote, repeated=True)


def _require_open(run: Run, request: Request) -> None:
    if request.status != Status.PENDING:
        _raise_closed(request)
    if run.cancel_asked_at is not None:
        raise errors.CancelAsked
    if run.ended:
        raise errors.Withdrawn


def _raise_closed(request: Request) -> NoReturn:
    """Say what became of a request that is not open any more."""
    if request.status == Status.EXPIRED:
        raise errors.DeadlinePassed(request)
    if request.status == Status.SUPERSEDED:
        raise errors.PayloadChanged(_current(request))
    if request.status == Status.WITHDRAWN:
        raise errors.Withdrawn
    decision = request.decision
    raise errors.AlreadyDecided(verdict=decision.verdict, decider=decision.decider, at=decision.at)


def _current(request: Request) -> UUID | None:
    """The request that asks now what this one asked before it was replaced."""
    while request.replaced_by is not None:
        request = request.replaced_by
    return request.pk if request.status == Status.PENDING else None


def _given(request: Request, gate: Gate, ballot: Ballot) -> Given:
    """What the ballot means for this question."""
    if ballot.verdict not in (Verdict.APPROVED, Verdict.REJECTED):
        raise errors.BadValue(later("The verdict must be approved or rejected."))
    why = replies.why_not(request, gate, ballot.verdict)
    if why:
        raise errors.NotAnswerable(why)
    comment = ballot.comment
    if not _clean(comment):
        raise errors.BadValue(
            later("The comment contains characters that cannot be stored, such as NUL.")
        )
    if len(comment) > LONGEST_COMMENT:
        raise errors.BadValue(
            later(
                "The comment is longer than {longest_comment} characters.",
                longest_comment=LONGEST_COMMENT,
            )
        )
    given = shapes.give(
        replies.asked(request, gate, free=_is_free(ballot.actor)),
        ballot.verdict,
        value=ballot.value,
        args=ballot.args,
        comment=ballot.said,
    )
    _require_reasons(gate, ballot, given)
    return given


def _is_free(actor: Actor) -> bool:
    try:
        return actors.require(actor, replies.ANSWER) is not None
    except accounts_errors.NotPermitted:
        return False


def _require_reasons(gate: Gate, ballot: Ballot, given: Given) -> None:
    rejected = ballot.verdict == Verdict.REJECTED
    if ballot.reason and (not rejected or ballot.reason not in gate.reject_reasons):
        raise errors.BadValue(
            later("This is not one of the reasons to reject. Choose one of the list.")
        )
    if rejected and gate.reject_reasons and not ballot.reason:
        raise errors.ReasonMissing(
            later("Choose the reason for the rejection, and reject again."), field="reason"
        )
    if ballot.comment.strip():
        return
    if gate.comment_required_to_reject and given.unexplained(ballot.said):
        raise errors.ReasonMissing
    if gate.comment_required_to_approve and not rejected:
        raise errors.ReasonMissing(
            later("An approval needs a comment here. Write why, and approve again.")
        )


def _clean(words: object) -> bool:
    """Whether this is text that the database keeps as it is."""
    return isinstance(words, str) and canonical.text(words) == words
