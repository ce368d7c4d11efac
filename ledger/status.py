"""The states of an effect and of its attempts: one table each, read by code, pages and docs."""

from __future__ import annotations

from django.db import models

from runs.status import State


class Status(models.TextChoices):
    PENDING = "pending", "Pending"
    SENT = "sent", "Sent"
    CONFIRMED = "confirmed", "Confirmed"
    FAILED = "failed", "Failed"
    IN_DOUBT = "in_doubt", "In doubt"


DONE = (Status.SENT, Status.CONFIRMED)

STATES: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value=Status.PENDING,
            label="Pending",
            tone="neutral",
            icon="clock",
            sentence="Reserved; it has not been performed yet.",
            next=(Status.SENT, Status.CONFIRMED, Status.FAILED, Status.IN_DOUBT),
        ),
        State(
            value=Status.SENT,
            label="Done",
            tone="ok",
            icon="check",
            sentence="It happened: the provider said so.",
            next=(Status.CONFIRMED,),
        ),
        State(
            value=Status.CONFIRMED,
            label="Done, confirmed",
            tone="ok",
            icon="check-double",
            sentence="It happened: the provider said so again or when asked, or a person says so.",
        ),
        State(
            value=Status.FAILED,
            label="Failed",
            tone="bad",
            icon="cross",
            sentence="Refused for certain: nothing happened outside.",
            next=(Status.PENDING, Status.SENT, Status.CONFIRMED),
        ),
        State(
            value=Status.IN_DOUBT,
            label="In doubt",
            tone="warn",
            icon="triangle",
            sentence=(
                "A call was started and nobody heard how it ended."
                " Nothing is sent again until somebody settles it."
            ),
            next=(Status.PENDING, Status.SENT, Status.CONFIRMED, Status.FAILED),
        ),
    )
}
CALLING = State(
    value="calling",
    label="Calling",
    tone="info",
    icon="arc",
    sentence="A call to the provider is going on.",
)
"""Overlay of `pending` while an attempt is open."""
NOT_PERFORMED = State(
    value="not_performed",
    label="Not performed",
    tone="neutral",
    icon="slash",
    sentence="Not performed; the run has ended.",
)
"""Overlay of `pending` once its run has ended, if all its calls are known to have done nothing."""


class Outcome(models.TextChoices):
    """How one attempt of an effect ended."""

    OPEN = "open", "Calling"
    SUCCEEDED = "succeeded", "Succeeded"
    REFUSED = "refused", "Refused for certain"
    RETRYABLE = "retryable", "Refused for now"
    UNKNOWN = "unknown", "Unknown"
    ABSENT = "absent", "Looked up: did not happen"


OUTCOMES: dict[str, State] = {
    Outcome.OPEN: CALLING,
    Outcome.SUCCEEDED: State(
        value="succeeded", label="Done", tone="ok", icon="check", sentence="It happened."
    ),
    Outcome.REFUSED: State(
        value="refused",
        label="Refused",
        tone="bad",
        icon="cross",
        sentence="The provider refused for certain; nothing happened.",
    ),
    Outcome.RETRYABLE: State(
        value="retryable",
        label="Refused for now",
        tone="neutral",
        icon="clock",
        sentence="The provider refused for now; nothing happened, and it may be tried again.",
    ),
    Outcome.UNKNOWN: State(
        value="unknown",
        label="Unknown",
        tone="warn",
        icon="triangle",
        sentence="Nobody heard how the call ended.",
    ),
    Outcome.ABSENT: State(
        value="absent",
        label="Did not happen",
        tone="neutral",
        icon="slash",
        sentence="A look-up or a person found that the call had no effect.",
    ),
}


def shown(stored: str, *, calling: bool, unheard: bool, ended: bool) -> State:
    """The state of an effect as pages show it: `calling`, `unheard`, if a call is open or nobody
    knows how one ended; `ended`, if its run has.
    """
    if stored != Status.PENDING:
        return STATES[stored]
    if calling:
        return CALLING
    return NOT_PERFORMED if ended and not unheard else STATES[stored]


class Answer(models.TextChoices):
    """What the provider said when it was asked whether an effect had happened."""

    FOUND = "found", "It happened"
    ABSENT = "absent", "It knows of nothing"
    SILENT = "silent", "No answer"


ANSWERS: dict[str, State] = {
    Answer.FOUND: State(
        value="found",
        label="It happened",
        tone="ok",
        icon="check",
        sentence="The provider knows it under this key.",
    ),
    Answer.ABSENT: State(
        value="absent",
        label="Nothing known",
        tone="neutral",
        icon="slash",
        sentence="The provider knows of nothing under this key.",
    ),
    Answer.SILENT: State(
        value="silent",
        label="No answer",
        tone="warn",
        icon="triangle",
        sentence="The provider could not be asked.",
    ),
}


class MessageStatus(models.TextChoices):
    """What has become of a message of the outbox."""

    PENDING = "pending", "Pending"
    SENT = "sent", "Sent"
    DEAD = "dead", "Given up"


MESSAGES: dict[str, State] = {
    MessageStatus.PENDING: State(
        value="pending",
        label="Pending",
        tone="neutral",
        icon="clock",
        sentence="Waits for its time, or for a dispatcher.",
        next=(MessageStatus.SENT, MessageStatus.DEAD),
    ),
    MessageStatus.SENT: State(
        value="sent",
        label="Sent",
        tone="ok",
        icon="check",
        sentence="The receiver took it, at least once.",
    ),
    MessageStatus.DEAD: State(
        value="dead",
        label="Given up",
        tone="bad",
        icon="cross",
        sentence="It could not be sent. It is kept, and can be queued again.",
        next=(MessageStatus.PENDING, MessageStatus.SENT),
    ),
}
SENDING = State(
    value="sending",
    label="Sending",
    tone="info",
    icon="arc",
    sentence="A dispatcher has claimed it and is sending it.",
)
"""Overlay of `pending` while a claim is live."""
RETRYING = State(
    value="retrying",
    label="Retrying",
    tone="warn",
    icon="retry",
    sentence="It was not sent the last time, and will be tried again.",
)
"""Overlay of `pending` between two tries."""


class Heard(models.TextChoices):
    """What a provider's webhook meant for the ledger."""

    CONFIRMED = "confirmed", "Confirmed"
    KNOWN = "known", "Known already"
    REFUSED = "refused", "Did not happen"
    INCIDENT = "incident", "Incident"
    EXPECTED = "expected", "Undone as wanted"
    UNMATCHED = "unmatched", "Of nothing here"
    UNUSED = "unused", "Not used"


HEARD: dict[str, State] = {
    Heard.CONFIRMED: State(
        value="confirmed",
        label="Confirmed",
        tone="ok",
        icon="check-double",
        sentence="The provider told that it happened.",
    ),
    Heard.KNOWN: State(
        value="known",
        label="Known already",
        tone="neutral",
        icon="check",
        sentence="It told what the ledger knew.",
    ),
    Heard.REFUSED: State(
        value="refused",
        label="Did not happen",
        tone="bad",
        icon="cross",
        sentence="The provider told that nothing happened.",
    ),
    Heard.INCIDENT: State(
        value="incident",
        label="Incident",
        tone="bad",
        icon="triangle",
        sentence="It contradicts what the ledger knew; somebody has to look.",
    ),
    Heard.EXPECTED: State(
        value="expected",
        label="Undone as wanted",
        tone="neutral",
        icon="retry",
        sentence="The provider took back what Signalbox had asked it to take back.",
    ),
    Heard.UNMATCHED: State(
        value="unmatched",
        label="Of nothing here",
        tone="neutral",
        icon="slash",
        sentence="No effect of this ledger has the key or the reference that it names.",
    ),
    Heard.UNUSED: State(
        value="unused",
        label="Not used",
        tone="neutral",
        icon="slash",
        sentence="It tells nothing about how an effect ended.",
    ),
}


class UndoStatus(models.TextChoices):
    """How far the undoing of effects has come."""

    WORKING = "working", "Undoing"
    DONE = "done", "Undone"
    STOPPED = "stopped", "Stopped"


UNDOING: dict[str, State] = {
    UndoStatus.WORKING: State(
        value="working",
        label="Undoing",
        tone="info",
        icon="arc",
        sentence="A worker takes the effects back, one after another.",
        next=(UndoStatus.DONE, UndoStatus.STOPPED),
    ),
    UndoStatus.DONE: State(
        value="done",
        label="Undone",
        tone="ok",
        icon="check",
        sentence="Everything in the plan was taken back.",
    ),
    UndoStatus.STOPPED: State(
        value="stopped",
        label="Stopped",
        tone="bad",
        icon="cross",
        sentence="One effect could not be taken back, so the ones before it were left.",
    ),
}
UNDONE = State(
    value="undone",
    label="Undone",
    tone="neutral",
    icon="retry",
    sentence="It happened, and was taken back by another effect.",
)
"""Overlay of what is done once the effect that takes it back is done."""
