"""Why an effect was not started and its node had to end. The docstring is what an operator reads.

Each says how the run goes on: parked, or looked at again. User code can swallow them, so nothing
relies on them alone: the next effect is refused as well.
"""

from __future__ import annotations

from runs.status import Park
from runs.stop import StopRun


class EffectInDoubt(StopRun):
    """A call was started and nobody heard how it ended. Settle the effect; the run then goes on."""

    park = Park.EFFECT_IN_DOUBT


class ReadOnly(StopRun):
    """A deadline made this run read-only, so no effect is started. Cancel the run."""

    park = Park.READ_ONLY


class EmergencyStopped(StopRun):
    """An emergency stop is on, so no effect is started. When it is lifted, the run goes on."""

    park = Park.EMERGENCY_STOP


class PermitMissing(StopRun):
    """This effect needs an approval with exactly these arguments, and there is none left to use.

    Correct the agent, or cancel the run.
    """

    park = Park.PERMIT_MISSING


class Drifted(StopRun):
    """A later attempt of a step asked for another effect than the earlier one. Nothing was sent.

    Accept the new arguments, or cancel the run.
    """

    park = Park.DRIFT


class LeaseGone(StopRun):
    """This worker may not start effects for the run any more; whoever holds the lease goes on."""

    # It may have been a short loss of contact and the lease still ours: then look again soon.
    free = True
    retry_after = 1.0


class CancelAsked(StopRun):
    """Somebody asked to cancel this run, so no effect is started."""

    free = True
    retry_after = 0.0


class LookAgainLater(StopRun):
    """It is too early to call or to ask the provider again. The run comes back by itself."""

    free = True

    def __init__(self, message: str | None = None, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds until it makes sense to run the node again."""
