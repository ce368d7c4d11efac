"""Every error of the ledger. The docstring is the message an operator reads.

They are ordinary exceptions: a node may catch them, pages show them. What ends the node instead is
in `refusals`.
"""

from __future__ import annotations

from accounts import speech


class LedgerError(speech.Spoken):
    """Something went wrong with an effect."""

    http_status = 409
    transient = False
    """For the driver: running the node again would raise it again."""


# --- in the agent's code -------------------------------------------------------------------------


class NotAnEffect(LedgerError):
    """This function cannot be an effect as it is declared. Correct the declaration."""

    http_status = 422


class UndeclaredTools(LedgerError):
    """Tools that an agent may call declare neither @effect nor @reads. Declare them."""

    http_status = 422


class NoAuthority(LedgerError):
    """An effect was called outside a node of a driven run. Nothing was sent.

    Start a run; in threads of your own, run the call in a copy of the node's context.
    """


class InsideTransaction(LedgerError):
    """An effect was called inside a database transaction, so the mark that a call was started would
    not be committed before the call. Nothing was sent. Call the effect outside of it.
    """


class InsideEffect(LedgerError):
    """An effect was called inside another effect, whose outcome would then be unclear. Call one
    after the other in the node.
    """


class BadArguments(LedgerError):
    """The arguments of an effect cannot be kept exactly. Nothing was sent. Pass them as text."""

    http_status = 422


class BadKey(LedgerError):
    """The business key of an effect cannot be used. Nothing was sent. Correct the key."""

    http_status = 422


class EffectConflict(LedgerError):
    """The key of an effect came back with another tool, run or other arguments. Nothing was sent.

    Correct the agent: one key stands for one effect.
    """


class EffectFailed(LedgerError):
    """The provider refused for certain; nothing happened outside."""

    def __init__(
        self, message: str, *, tool: str = "", reason: str = "", http_status: int | None = None
    ) -> None:
        super().__init__(message)
        self.tool = tool
        self.reason = reason
        self.provider_status = http_status
        """What the provider answered, if it was HTTP."""


class ResultNotKept(LedgerError):
    """The effect happened, but its result was not kept whole, so the node cannot have it.

    Have the tool return only what the agent needs.
    """

    def __init__(self, message: str | None = None, *, reference: str = "") -> None:
        super().__init__(message)
        self.reference = reference
        """The provider's reference to what happened."""


class SecretMissing(LedgerError):
    """An argument names a secret that cannot be had. Nothing was sent. Provide the secret."""


class Declined(LedgerError):
    """People did not allow what an agent's tool asked for. Nothing was sent."""


# --- people --------------------------------------------------------------------------------------


class NoSuchEffect(LedgerError):
    """There is no effect with this id. Look for it in the ledger."""

    http_status = 404


class NotInDoubt(LedgerError):
    """The effect is not in doubt, so there is nothing to settle. Reload the page."""


class CannotBeAsked(LedgerError):
    """The provider of this effect cannot be asked. Find out by hand, then settle the effect."""


class ReasonMissing(LedgerError):
    """A reason is required; it is kept in the audit log. Write one and try again."""

    http_status = 422


class ReferenceMissing(LedgerError):
    """Say what proves that it happened: the provider's reference, at most 300 characters."""

    http_status = 422


class UnknownVerdict(LedgerError):
    """An effect either happened or did not happen. Choose one of the two."""

    http_status = 422


class BadResult(LedgerError):
    """The result for the agent must be plain JSON of a moderate size. Shorten or correct it."""

    http_status = 422


class NoSuchDrift(LedgerError):
    """There is no change between attempts with this id. Look for it on the page of its run."""

    http_status = 404


class NothingToAccept(LedgerError):
    """Nothing waits for this to be accepted: it was accepted already, or stopped nothing."""


class NoUndo(LedgerError):
    """Nothing takes this effect back. Settle it as done, and put it right by hand."""


class RunGoesOn(LedgerError):
    """The run goes on, so what it did is not taken back. Cancel it first."""


class UndoUnderWay(LedgerError):
    """Effects of this run are being taken back already. Wait for the end of that."""


class SettleFirst(LedgerError):
    """Nobody knows of an effect of this run whether it happened. Settle it first."""


class NothingToUndo(LedgerError):
    """Nothing of this run can be taken back. Nothing has changed. Reload the page."""


class PlanChanged(LedgerError):
    """What can be taken back has changed since the page was shown. Nothing was done. Look again."""


class NoSuchStop(LedgerError):
    """There is no emergency stop with this id. Reload the page."""

    http_status = 404


class StopIsOn(LedgerError):
    """This emergency stop is already on. Nothing has changed."""


class StopIsLifted(LedgerError):
    """This emergency stop has been lifted already. Nothing has changed."""


class BadStop(LedgerError):
    """An emergency stop is for everything, for one agent or for one tool. Name it, or nothing."""

    http_status = 422


# --- lists and exports ---------------------------------------------------------------------------


class SearchTooSlow(LedgerError):
    """Looking for this takes too long. Name a time, a tool or a run as well."""

    http_status = 503


# --- the outbox ----------------------------------------------------------------------------------


class BadMessage(LedgerError):
    """A message of the outbox cannot be kept as it is. Nothing was added. Correct the call."""

    http_status = 422


class NoSuchDestination(LedgerError):
    """No handler is registered for the destination of a message. Add it to LEDGER_DESTINATIONS."""

    def __init__(self, destination: str) -> None:
        super().__init__(
            f"Nothing is registered for {destination}. Add it to LEDGER_DESTINATIONS, or correct"
            " the name where the message is added."
        )


class NoSuchMessage(LedgerError):
    """There is no message with this id. Look for it on the page Outbox."""

    http_status = 404


class NotGivenUp(LedgerError):
    """Only a message that was given up can be queued again. Reload the page."""
