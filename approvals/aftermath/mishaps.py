"""Saying that something approved went wrong, and withdrawing it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts import actors
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from accounts.speech import later
from approvals import errors, queries, rounds
from approvals.models import Mishap, Request, Withdrawal
from approvals.status import SEVERITIES, Delivery, Verdict
from audit import canonical, trail
from runs.status import State

PERMISSION = "approvals.report_mishap"
ANY = "audit.view_entry"
"""Who may withdraw what somebody else said."""
LONGEST = 2000
"""Characters of a note or a reason."""
LONGEST_TOKEN = 64
T = TypeVar("T", Mishap, Withdrawal)


def report(request_id: UUID, *, severity: str, note: str, token: str, actor: Actor) -> Mishap:
    """Say that what was approved went wrong. The same token of this person: what they said first.

    Raises NotPermitted, NoSuchRequest, NothingHappened, BadValue, ReasonMissing. Call it outside
    of transactions.
    """

    def act() -> Mishap:
        user = _person(actor)
        request = _request(user, request_id)
        first = Mishap.objects.filter(by=user, token=token, request=request).first()
        if first is not None:
            return first
        if not happened(request):
            raise errors.NothingHappened
        made = Mishap.objects.create(
            request=request,
            severity=_severity(severity),
            note=_words(note, later("Write what went wrong, and save again.")),
            by=user,
            by_label=user.label,
            token=_token(token),
        )
        _record("mishap.reported", made, actor, made.note)
        return made

    return _refusals_recorded(act, actor, str(request_id))


def withdraw(mishap_id: int, *, reason: str, actor: Actor) -> Withdrawal:
    """Say that it had not gone wrong after all.

    Raises NotPermitted, NoSuchMishap, NotYours, MishapWithdrawn, ReasonMissing.
    """
    target = Mishap.objects.filter(pk=mishap_id).values_list("request_id", flat=True).first()

    def act() -> Withdrawal:
        user = _person(actor)
        mishap = get(mishap_id, user)
        _request(user, mishap.request_id)
        if not _may_withdraw(mishap, user):
            raise errors.NotYours
        if Withdrawal.objects.filter(mishap=mishap).exists():
            raise errors.MishapWithdrawn
        words = _words(reason, later("A withdrawal needs a reason. Write one and try again."))
        made = Withdrawal.objects.create(mishap=mishap, reason=words, by=user, by_label=user.label)
        _record("mishap.withdrawn", mishap, actor, words)
        return made

    return _refusals_recorded(act, actor, str(target or mishap_id))


def get(mishap_id: int, user: User) -> Mishap:
    """Raises NoSuchMishap, also for what this person may not see."""
    found = Mishap.objects.select_related("request", "request__run").filter(pk=mishap_id).first()
    if found is None or not queries.visible_to(user).filter(pk=found.request_id).exists():
        raise errors.NoSuchMishap
    return found


def happened(request: Request) -> bool:
    """Whether this was approved and has been handed to its run, so that it can have gone wrong."""
    decision = rounds.decision_of(request)
    if decision is None or decision.verdict != Verdict.APPROVED:
        return False
    return decision.deliveries > 0 or decision.delivery == Delivery.TOOK_EFFECT


def may_report(request: Request, user: User) -> bool:
    """Whether the page of this request, which this person sees, offers it."""
    return user.has_perm(PERMISSION) and happened(request)


def of_run(run_id: UUID) -> QuerySet[Mishap]:
    return _said().filter(request__run=run_id).order_by("at", "pk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One mishap as the page of its request shows it."""

    mishap: Mishap
    state: State
    withdrawn: bool
    may_withdraw: bool


def marks(request_id: UUID, user: User) -> list[Mark]:
    """Everything that was said about one request that this person sees, oldest first."""
    return [
        Mark(
            mishap=each,
            state=SEVERITIES[each.severity],
            withdrawn=withdrawal_of(each) is not None,
            may_withdraw=_may_withdraw(each, user),
        )
        for each in _said().filter(request=request_id).order_by("at", "pk")
    ]


def _may_withdraw(mishap: Mishap, user: User) -> bool:
    return user.has_perm(PERMISSION) and (mishap.by_id == user.pk or user.has_perm(ANY))


def withdrawal_of(mishap: Mishap) -> Withdrawal | None:
    found: Withdrawal | None = getattr(mishap, "withdrawal", None)
    return found


def worst(request_ids: Collection[UUID]) -> Mapping[UUID, State]:
    """The worst that stands, by request. One query."""
    order = list(SEVERITIES)
    found: dict[UUID, str] = {}
    standing = Mishap.objects.filter(request__in=list(request_ids), withdrawal__isnull=True)
    for request_id, severity in standing.values_list("request_id", "severity"):
        found[request_id] = max(found.get(request_id, severity), severity, key=order.index)
    return {request_id: SEVERITIES[severity] for request_id, severity in found.items()}


def _said() -> QuerySet[Mishap]:
    return Mishap.objects.select_related("request", "withdrawal")


def _person(actor: Actor) -> User:
    user = actors.require(actor, PERMISSION)
    if user is None:
        raise errors.NotYours(later("Only a person who is signed in can say this. Use the page."))
    return user


def _request(user: User, request_id: UUID) -> Request:
    """The request, locked, so that what is said about it is said one after the other."""
    visible = queries.visible_to(user).filter(pk=request_id)
    found = visible.select_for_update(no_key=True, of=("self",)).select_related("run").first()
    if found is None:
        raise errors.NoSuchRequest
    return found


def _severity(given: str) -> str:
    if given not in SEVERITIES:
        raise errors.BadValue(later("Choose how bad it was: low, medium or high."))
    return given


def _words(given: str, missing: str) -> str:
    if not given.strip():
        raise errors.ReasonMissing(missing)
    return canonical.text(given.strip())[:LONGEST]


def _token(given: str) -> str:
    if not 0 < len(given) <= LONGEST_TOKEN or canonical.text(given) != given:
        raise errors.BadValue(
            later("The form has no valid token. Reload the page and write it there.")
        )
    return given


def _record(verb: str, mishap: Mishap, actor: Actor, reason: str) -> None:
    request = mishap.request
    trail.record(
        verb,
        actor=actor,
        target=("request", str(request.pk)),
        run_id=request.run_id,
        reason=reason,
        data={"mishap": mishap.pk, "severity": mishap.severity, "title": request.title},
    )


def _refusals_recorded(act: Callable[[], T], actor: Actor, target: str) -> T:
    try:
        with transaction.atomic(durable=True):
            return act()
    except (errors.ApprovalsError, accounts_errors.AccountsError) as refusal:
        trail.record_refused(
            "mishap.refused", actor=actor, target=("request", target), reason=str(refusal)
        )
        raise
