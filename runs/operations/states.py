"""What an operation and each of its runs may have come to: two tables, read by the pages."""

from __future__ import annotations

from accounts.speech import later as _
from runs.models import Operation, OperationItem
from runs.status import State

Outcome = OperationItem.Outcome

STATUSES: dict[str, State] = {
    Operation.Status.WORKING: State(
        value="working",
        label=_("At work"),
        tone="info",
        icon="arc",
        sentence=_("Workers deal with one run after the other."),
        next=(Operation.Status.DONE, Operation.Status.STOPPED),
    ),
    Operation.Status.DONE: State(
        value="done",
        label=_("Done"),
        tone="ok",
        icon="check",
        sentence=_("Every run was reached. What became of each stands beside it."),
    ),
    Operation.Status.STOPPED: State(
        value="stopped",
        label=_("Stopped"),
        tone="neutral",
        icon="slash",
        sentence=_("A person stopped it; the runs that were not reached were left as they are."),
    ),
}

OUTCOMES: dict[str, State] = {
    Outcome.PENDING: State(
        value="pending",
        label=_("Not reached yet"),
        tone="neutral",
        icon="clock",
        sentence=_("Nothing has been done to the run so far."),
        next=(Outcome.DONE, Outcome.SKIPPED, Outcome.REFUSED, Outcome.STOPPED),
    ),
    Outcome.DONE: State(
        value="done",
        label=_("Done"),
        tone="ok",
        icon="check",
        sentence=_("It was done, as if on the page of the run."),
    ),
    Outcome.SKIPPED: State(
        value="skipped",
        label=_("Skipped"),
        tone="neutral",
        icon="slash",
        sentence=_("The run did not stand any more as it was shown, and was left alone."),
    ),
    Outcome.REFUSED: State(
        value="refused",
        label=_("Refused"),
        tone="warn",
        icon="hand",
        sentence=_("It was not allowed, or could not be done. Nothing has changed."),
    ),
    Outcome.STOPPED: State(
        value="stopped",
        label=_("Left alone"),
        tone="neutral",
        icon="slash",
        sentence=_("The operation was stopped before it reached the run."),
    ),
}
