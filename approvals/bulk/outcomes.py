"""What may become of one item of many: one table, read by the page of results."""

from __future__ import annotations

from runs.status import State

OUTCOMES: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value="approved",
            label="Approved",
            tone="ok",
            icon="check",
            sentence="Your approval decided it.",
        ),
        State(
            value="rejected",
            label="Rejected",
            tone="neutral",
            icon="cross",
            sentence="Your rejection decided it.",
        ),
        State(
            value="voted",
            label="Recorded",
            tone="human",
            icon="person",
            sentence="Your approval is recorded; more people have to approve.",
        ),
        State(
            value="refused",
            label="Did not count",
            tone="warn",
            icon="slash",
            sentence="Your verdict did not count, and nothing has changed.",
        ),
        State(
            value="proof",
            label="Needs proof",
            tone="info",
            icon="lock",
            sentence="The policy wants to know again that it is you. Nothing has changed.",
        ),
        State(
            value="unreached",
            label="Not reached yet",
            tone="neutral",
            icon="clock",
            sentence="The time for one sending was over. Nothing has changed.",
        ),
    )
}
