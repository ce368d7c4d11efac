"""Every error of the approvals app. The docstring is the message that a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext_noop as noop

from accounts import speech

if TYPE_CHECKING:
    from approvals.jsonforms.schemas import Problem
    from approvals.models import Request
    from approvals.policies.declared import Fault


class ApprovalsError(speech.Spoken):
    """Something went wrong with an approval."""

    http_status = 409


# --- a verdict is refused ------------------------------------------------------------------------


class NoSuchRequest(ApprovalsError):
    """There is no request with this id. Look for it in the list of approvals."""

    http_status = 404


_DECIDED = {
    "approved": noop(
        "{decider} already approved this at {at:%Y-%m-%d %H:%M:%S} UTC. Nothing more is"
        " needed from you."
    ),
    "rejected": noop(
        "{decider} already rejected this at {at:%Y-%m-%d %H:%M:%S} UTC. Nothing more is"
        " needed from you."
    ),
}


class AlreadyDecided(ApprovalsError):
    """This request was already decided. Nothing more is needed from you."""

    def __init__(self, *, verdict: str, decider: str, at: datetime) -> None:
        super().__init__(
            _DECIDED.get(verdict, _DECIDED["rejected"]),
            decider=decider,
            at=at,
        )
        self.verdict = verdict
        self.decider = decider
        self.at = at


class DeadlinePassed(ApprovalsError):
    """The deadline has passed, so this request has expired and your verdict does not count."""

    def __init__(self, request: Request) -> None:
        super().__init__(
            noop(
                "The deadline was {at:%Y-%m-%d %H:%M:%S} UTC. The request has expired and"
                " your verdict does not count. The run shows what it did instead."
            ),
            at=request.deadline,
        )
        self.deadline = request.deadline


class PayloadChanged(ApprovalsError):
    """What is asked is not what you were shown. Read the question as it is now and decide again."""

    def __init__(self, now: UUID | None) -> None:
        """`now` is the request that asks what is asked now; None if nothing is asked any more."""
        super().__init__()
        self.now = now


class Withdrawn(ApprovalsError):
    """The question was taken back: the run ended or moved on. Nothing more is needed from you."""


class CancelAsked(ApprovalsError):
    """Somebody asked to cancel this run, so nothing can be decided any more."""


class NotEligible(ApprovalsError):
    """You may not decide this request. Ask somebody else of the group that it waits for."""

    http_status = 403

    def __init__(self, why: str, message: str) -> None:
        """`why`: unknown, permission, group, requester, hands or voted."""
        super().__init__(message)
        self.why = why


class BadValue(ApprovalsError):
    """This answer cannot be used. Correct it and decide again."""

    http_status = 422

    def __init__(
        self, message: str | None = None, *, problems: Mapping[str, Sequence[Problem]] | None = None
    ) -> None:
        """`problems`: what is wrong with which part, by the token of the action."""
        super().__init__(message)
        self.problems = problems or {}

    @property
    def told(self) -> str:
        """What the log keeps: where and why it does not fit, and never a value that was entered."""
        found = [each for held in self.problems.values() for each in held]
        if not any(each.quotes for each in found):
            return str(self)
        places = sorted({".".join(map(str, each.path)) or "its root" for each in found})
        return f"The answer does not fit at: {', '.join(places)}."


class NotTaken(ApprovalsError):
    """Only a verdict and a value can be sent. Nothing was decided. Use the form of the page."""

    http_status = 400


class FormIncomplete(BadValue):
    """The form was incomplete or did not fit. Correct what is marked and decide again."""


class FormForged(ApprovalsError):
    """The form did not come from the page of this session. Reload the page and decide there."""

    http_status = 403


class NotAnswerable(BadValue):
    """A question of this kind cannot be answered with a plain approve or reject."""


_NOBODY = noop(
    "Nothing was stored: with these values it needs {needs}. {missing} more would have to"
    " approve, and nobody else may. Change it in another way, reject, or ask an administrator"
    " to add people."
)
_TOO_FEW = noop(
    "Nothing was stored: with these values it needs {needs}. {missing} more would have to"
    " approve, and only {able} may. Change it in another way, reject, or ask an administrator"
    " to add people."
)


class NobodyElse(BadValue):
    """Nobody else could approve what you have changed. Change it in another way, or reject."""

    def __init__(self, *, needs: str, missing: int, able: int) -> None:
        super().__init__(
            speech.later(_TOO_FEW if able else _NOBODY, needs=needs, missing=missing, able=able)
        )


class ReasonMissing(ApprovalsError):
    """A rejection needs a comment: it tells the agent and the log why. Write one and try again."""

    http_status = 422

    def __init__(self, message: str | None = None, *, field: str = "comment") -> None:
        """`field` is where it is missing."""
        super().__init__(message)
        self.field = field


class OneByOne(ApprovalsError):
    """This cannot be approved together with others. Open it, read it and decide it there."""


class TokenReused(ApprovalsError):
    """This form was already used for another request. Reload the page and decide there."""


class Busy(ApprovalsError):
    """Something else is changing this run right now. Nothing was decided; try again in a moment."""

    http_status = 503


# --- what went wrong afterwards ------------------------------------------------------------------


class NothingHappened(ApprovalsError):
    """This was not approved, or has not reached its run: nothing can have gone wrong by it."""


class NoSuchMishap(ApprovalsError):
    """There is no such note, or it is none that you may see. Look for it at its request."""

    http_status = 404


class MishapWithdrawn(ApprovalsError):
    """This was withdrawn already. Nothing has changed."""


class NotYours(ApprovalsError):
    """Only who said that it went wrong, or an auditor, can withdraw it. Ask one of them."""

    http_status = 403


# --- policies and delegations --------------------------------------------------------------------


class NoSuchPolicy(ApprovalsError):
    """There is no such policy in force. Look for it in the list of policies."""

    http_status = 404


class PoliciesChanged(ApprovalsError):
    """Somebody else changed the policies since you opened them. Nothing of yours was saved.

    Look at what is in force now, and make your change to that.
    """

    def __init__(self, *, by: str, what: str, number: int) -> None:
        super().__init__(
            noop(
                "{by} changed the policies since you opened them: {what}. Nothing of yours"
                " was saved. What you entered is still below; look at what is in force now,"
                " and save again if your change still fits."
            ),
            by=by,
            what=what,
        )
        self.number = number


class BadPolicy(ApprovalsError):
    """The policy cannot be used as it is written. Correct it and save again."""

    http_status = 422

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__(speech.joined(" ", (fault.sentence for fault in faults)))
        self.faults = faults


class NothingChanged(ApprovalsError):
    """This is what is in force already, so nothing was saved."""

    http_status = 422


class BadDelegation(ApprovalsError):
    """This cannot be delegated. Correct it and try again."""

    http_status = 422


class NoSuchDelegation(ApprovalsError):
    """There is no such delegation, or it is none of yours. Look for it in the list."""

    http_status = 404


class DelegationEnded(ApprovalsError):
    """This delegation has ended already. Nothing has changed."""


# --- inside the driver and the graph -------------------------------------------------------------


class DecisionGone(ApprovalsError):
    """A decision was given up before it was handed to the run. The run is looked at again."""


class PayloadNotPlain(ApprovalsError):
    """A question must consist of plain JSON values. Pass everything else as text."""

    http_status = 422


class AnswerForOtherPayload(ApprovalsError):
    """The answer was given to another question than this code asks now, so it is not used.

    Make the question depend on saved state only, then have an operator ask again.
    """
