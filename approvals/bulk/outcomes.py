"""What may become of one item of many: one table, read by the page of results."""

from __future__ import annotations

from accounts.speech import later as _
from runs.status import State

OUTCOMES: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value="approved",
            label=_("Approved"),
            tone="ok",
            icon="check",
            sentence=_("Your approval decided it."),
        ),
        State(
            value="rejected",
            label=_("Rejected"),
            tone="neutral",
            icon="cross",
            sentence=_("Your rejection decided it."),
        ),
        State(
            value="voted",
            label=_("Recorded"),
            tone="human",
            icon="person",
            sentence=_("Your approval is recorded; more people have to approve."),
        ),
        State(
            value="refused",
            label=_("Did not count"),
            tone="warn",
            icon="slash",
            sentence=_("Your verdict did not count, and nothing has changed."),
        ),
        State(
            value="proof",
            label=_("Needs proof"),
            tone="info",
            icon="lock",
            sentence=_("The policy wants to know again that it is you. Nothing has changed."),
        ),
        State(
            value="unreached",
            label=_("Not reached yet"),
            tone="neutral",
            icon="clock",
            sentence=_("The time for one sending was over. Nothing has changed."),
        ),
    )
}
