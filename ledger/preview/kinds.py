"""What may become of one effect, as a person is told before they act: one table."""

from __future__ import annotations

from dataclasses import replace

from accounts.speech import later as _
from ledger import rules
from ledger.status import DONE, Status
from runs.status import State

REUSED = State(
    value="reused",
    label=_("Already done"),
    tone="ok",
    icon="check",
    sentence=_("It happened. The agent gets the stored result again, and nothing is sent."),
)
NOT_KEPT = replace(
    REUSED,
    value="not_kept",
    sentence=_(
        "It happened, but its result was too large to keep. The agent is told so, and nothing"
        " is sent."
    ),
)
WILL_RUN = State(
    value="will_run",
    label=_("Will run"),
    tone="info",
    icon="arrow",
    sentence=_("It has not been done yet, and would be called."),
)
PERMITTED = replace(
    WILL_RUN,
    value="permitted",
    sentence=_(
        "It has not been done yet in this run. Approving allows it once, with exactly these"
        " arguments."
    ),
)
REPEATED = State(
    value="repeated",
    label=_("Done before"),
    tone="warn",
    icon="triangle",
    sentence=_(
        "This run has done exactly this in an earlier step. Approving allows it once more;"
        " the stored result is used only if the agent gives it the same key."
    ),
)
ELSEWHERE = replace(
    REPEATED,
    value="elsewhere",
    label=_("Done by another run"),
    sentence=_("Another run has done exactly this. Approving does it again."),
)
MAYBE_ELSEWHERE = replace(
    ELSEWHERE,
    value="maybe_elsewhere",
    label=_("Begun by another run"),
    sentence=_("Another run has begun exactly this. Approving does it again."),
)
UNDER_WAY = State(
    value="under_way",
    label=_("Under way"),
    tone="info",
    icon="arc",
    sentence=_("A call has been started, and its worker may still hear how it ends."),
)
AGAIN = State(
    value="again",
    label=_("Same key again"),
    tone="info",
    icon="retry",
    sentence=_(
        "Nobody heard how a call ended. It would be called again with the same key, by which"
        " the provider knows a repeat."
    ),
)
ASKED = State(
    value="asked",
    label=_("Asked first"),
    tone="info",
    icon="search",
    sentence=_(
        "Nobody heard how a call ended. The provider would be asked whether it happened,"
        " before anything is sent."
    ),
)
TRIED = State(
    value="tried",
    label=_("Tried again"),
    tone="info",
    icon="retry",
    sentence=_("The last call certainly did nothing. It would be called again."),
)
ALLOWED = replace(
    TRIED,
    value="allowed",
    sentence=_(
        "Somebody has settled that it did not happen and allowed one more attempt. It would"
        " be called again."
    ),
)
WILL_DOUBT = State(
    value="will_doubt",
    label=_("Will be in doubt"),
    tone="warn",
    icon="triangle",
    sentence=_(
        "Nobody heard how a call ended, and nobody can be asked. It would not be called"
        " again: the run parks until somebody settles it."
    ),
)
SETTLE = State(
    value="settle",
    label=_("In doubt"),
    tone="warn",
    icon="triangle",
    sentence=_(
        "Nobody heard how a call ended. Settle it first: until then nothing of this run is sent."
    ),
)
REFUSED = State(
    value="refused",
    label=_("Refused"),
    tone="bad",
    icon="cross",
    sentence=_(
        "The provider refused for certain. It is not tried again: the agent gets the same refusal."
    ),
)
HELD = State(
    value="held",
    label=_("Held back"),
    tone="neutral",
    icon="lock",
    sentence=_("It would be called, but may not be now."),
)
UNKNOWN = State(
    value="unknown",
    label=_("Not known"),
    tone="neutral",
    icon="info",
    sentence=_(
        "No live worker has declared this tool, or they do not agree on it, so what would be"
        " done is not known beforehand."
    ),
)

STAYS = State(
    value="stays",
    label=_("Stays done"),
    tone="ok",
    icon="check",
    sentence=_("It happened and stays done. Nothing is undone."),
)
NEVER = State(
    value="never",
    label=_("Not performed"),
    tone="neutral",
    icon="slash",
    sentence=_("Its calls so far did nothing, and it is not tried again."),
)
NOTHING = replace(
    REFUSED, value="nothing", sentence=_("The provider refused for certain: nothing happened.")
)
MAYBE = State(
    value="maybe",
    label=_("May happen"),
    tone="warn",
    icon="triangle",
    sentence=_(
        "A call was started and nobody has heard how it ended. Cancelling does not stop it;"
        " it still has to be found out."
    ),
)
DOUBT_STAYS = replace(
    SETTLE,
    value="doubt_stays",
    sentence=_(
        "Nobody heard how a call ended. Cancelling does not settle it: somebody still has to."
    ),
)

ALL = (
    *(REUSED, NOT_KEPT, WILL_RUN, PERMITTED, REPEATED, ELSEWHERE, MAYBE_ELSEWHERE, UNDER_WAY),
    *(AGAIN, ASKED, TRIED, ALLOWED),
    *(WILL_DOUBT, SETTLE, REFUSED, HELD, UNKNOWN),
    *(STAYS, NEVER, NOTHING, MAYBE, DOUBT_STAYS),
)
SENDS = (WILL_RUN, PERMITTED, REPEATED, AGAIN, TRIED, ALLOWED)
"""Something would leave, unless it is forbidden."""


def of_pending(step: rules.Step, *, allowed: bool, unheard: bool) -> State:
    """What would be done about an effect that is not decided.

    `allowed`: a person allowed one attempt. `unheard`: nobody knows how some call ended.
    """
    match step:
        case rules.Attend():
            return UNDER_WAY
        case rules.Ask():
            return ASKED
        case rules.Doubt():
            return WILL_DOUBT
        case rules.Call(new_key=True):
            return ALLOWED if allowed else TRIED
        case rules.Call():
            return AGAIN if unheard else WILL_RUN
        case rules.Rest():
            return TRIED


def of_decided(status: str, *, cut: bool = False) -> State:
    """What would be told of an effect that is decided or in doubt."""
    if status in DONE:
        return NOT_KEPT if cut else REUSED
    return SETTLE if status == Status.IN_DOUBT else REFUSED


def at_the_end(status: str, *, unheard: bool) -> State:
    """What ending its run means for an effect. `unheard`: as above, or a call is under way."""
    if status in DONE:
        return STAYS
    if status == Status.PENDING:
        return MAYBE if unheard else NEVER
    return DOUBT_STAYS if status == Status.IN_DOUBT else NOTHING
