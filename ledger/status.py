"""The states of an effect and of its attempts: one table each, read by code, pages and docs."""

from __future__ import annotations

from django.db import models

from accounts.speech import later as _
from runs.status import State


class Status(models.TextChoices):
    PENDING = "pending", _("Pending")
    SENT = "sent", _("Sent")
    CONFIRMED = "confirmed", _("Confirmed")
    FAILED = "failed", _("Failed")
    IN_DOUBT = "in_doubt", _("In doubt")


DONE = (Status.SENT, Status.CONFIRMED)

STATES: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value=Status.PENDING,
            label=_("Pending"),
            tone="neutral",
            icon="clock",
            sentence=_("Reserved; it has not been performed yet."),
            next=(Status.SENT, Status.CONFIRMED, Status.FAILED, Status.IN_DOUBT),
        ),
        State(
            value=Status.SENT,
            label=_("Done"),
            tone="ok",
            icon="check",
            sentence=_("It happened: the provider said so."),
            next=(Status.CONFIRMED,),
        ),
        State(
            value=Status.CONFIRMED,
            label=_("Done, confirmed"),
            tone="ok",
            icon="check-double",
            sentence=_(
                "It happened: the provider said so again or when asked, or a person says so."
            ),
        ),
        State(
            value=Status.FAILED,
            label=_("Failed"),
            tone="bad",
            icon="cross",
            sentence=_("Refused for certain: nothing happened outside."),
            next=(Status.PENDING, Status.SENT, Status.CONFIRMED),
        ),
        State(
            value=Status.IN_DOUBT,
            label=_("In doubt"),
            tone="warn",
            icon="triangle",
            sentence=_(
                "A call was started and nobody heard how it ended. Nothing is sent again"
                " until somebody settles it."
            ),
            next=(Status.PENDING, Status.SENT, Status.CONFIRMED, Status.FAILED),
        ),
    )
}
CALLING = State(
    value="calling",
    label=_("Calling"),
    tone="info",
    icon="arc",
    sentence=_("A call to the provider is going on."),
)
"""Overlay of `pending` while an attempt is open."""
NOT_PERFORMED = State(
    value="not_performed",
    label=_("Not performed"),
    tone="neutral",
    icon="slash",
    sentence=_("Not performed; the run has ended."),
)
"""Overlay of `pending` once its run has ended, if all its calls are known to have done nothing."""


class Outcome(models.TextChoices):
    """How one attempt of an effect ended."""

    OPEN = "open", _("Calling")
    SUCCEEDED = "succeeded", _("Succeeded")
    REFUSED = "refused", _("Refused for certain")
    RETRYABLE = "retryable", _("Refused for now")
    UNKNOWN = "unknown", _("Unknown")
    ABSENT = "absent", _("Looked up: did not happen")


OUTCOMES: dict[str, State] = {
    Outcome.OPEN: CALLING,
    Outcome.SUCCEEDED: State(
        value="succeeded", label=_("Done"), tone="ok", icon="check", sentence=_("It happened.")
    ),
    Outcome.REFUSED: State(
        value="refused",
        label=_("Refused"),
        tone="bad",
        icon="cross",
        sentence=_("The provider refused for certain; nothing happened."),
    ),
    Outcome.RETRYABLE: State(
        value="retryable",
        label=_("Refused for now"),
        tone="neutral",
        icon="clock",
        sentence=_("The provider refused for now; nothing happened, and it may be tried again."),
    ),
    Outcome.UNKNOWN: State(
        value="unknown",
        label=_("Unknown"),
        tone="warn",
        icon="triangle",
        sentence=_("Nobody heard how the call ended."),
    ),
    Outcome.ABSENT: State(
        value="absent",
        label=_("Did not happen"),
        tone="neutral",
        icon="slash",
        sentence=_("A look-up or a person found that the call had no effect."),
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

    FOUND = "found", _("It happened")
    ABSENT = "absent", _("It knows of nothing")
    SILENT = "silent", _("No answer")


ANSWERS: dict[str, State] = {
    Answer.FOUND: State(
        value="found",
        label=_("It happened"),
        tone="ok",
        icon="check",
        sentence=_("The provider knows it under this key."),
    ),
    Answer.ABSENT: State(
        value="absent",
        label=_("Nothing known"),
        tone="neutral",
        icon="slash",
        sentence=_("The provider knows of nothing under this key."),
    ),
    Answer.SILENT: State(
        value="silent",
        label=_("No answer"),
        tone="warn",
        icon="triangle",
        sentence=_("The provider could not be asked."),
    ),
}


class MessageStatus(models.TextChoices):
    """What has become of a message of the outbox."""

    PENDING = "pending", _("Pending")
    SENT = "sent", _("Sent")
    DEAD = "dead", _("Given up")


MESSAGES: dict[str, State] = {
    MessageStatus.PENDING: State(
        value="pending",
        label=_("Pending"),
        tone="neutral",
        icon="clock",
        sentence=_("Waits for its time, or for a dispatcher."),
        next=(MessageStatus.SENT, MessageStatus.DEAD),
    ),
    MessageStatus.SENT: State(
        value="sent",
        label=_("Sent"),
        tone="ok",
        icon="check",
        sentence=_("The receiver took it, at least once."),
    ),
    MessageStatus.DEAD: State(
        value="dead",
        label=_("Given up"),
        tone="bad",
        icon="cross",
        sentence=_("It could not be sent. It is kept, and can be queued again."),
        next=(MessageStatus.PENDING, MessageStatus.SENT),
    ),
}
SENDING = State(
    value="sending",
    label=_("Sending"),
    tone="info",
    icon="arc",
    sentence=_("A dispatcher has claimed it and is sending it."),
)
"""Overlay of `pending` while a claim is live."""
RETRYING = State(
    value="retrying",
    label=_("Retrying"),
    tone="warn",
    icon="retry",
    sentence=_("It was not sent the last time, and will be tried again."),
)
"""Overlay of `pending` between two tries."""


class Heard(models.TextChoices):
    """What a provider's webhook meant for the ledger."""

    CONFIRMED = "confirmed", _("Confirmed")
    KNOWN = "known", _("Known already")
    REFUSED = "refused", _("Did not happen")
    INCIDENT = "incident", _("Incident")
    EXPECTED = "expected", _("Undone as wanted")
    UNMATCHED = "unmatched", _("Of nothing here")
    UNUSED = "unused", _("Not used")


HEARD: dict[str, State] = {
    Heard.CONFIRMED: State(
        value="confirmed",
        label=_("Confirmed"),
        tone="ok",
        icon="check-double",
        sentence=_("The provider told that it happened."),
    ),
    Heard.KNOWN: State(
        value="known",
        label=_("Known already"),
        tone="neutral",
        icon="check",
        sentence=_("It told what the ledger knew."),
    ),
    Heard.REFUSED: State(
        value="refused",
        label=_("Did not happen"),
        tone="bad",
        icon="cross",
        sentence=_("The provider told that nothing happened."),
    ),
    Heard.INCIDENT: State(
        value="incident",
        label=_("Incident"),
        tone="bad",
        icon="triangle",
        sentence=_("It contradicts what the ledger knew; somebody has to look."),
    ),
    Heard.EXPECTED: State(
        value="expected",
        label=_("Undone as wanted"),
        tone="neutral",
        icon="retry",
        sentence=_("The provider took back what Signalbox had asked it to take back."),
    ),
    Heard.UNMATCHED: State(
        value="unmatched",
        label=_("Of nothing here"),
        tone="neutral",
        icon="slash",
        sentence=_("No effect of this ledger has the key or the reference that it names."),
    ),
    Heard.UNUSED: State(
        value="unused",
        label=_("Not used"),
        tone="neutral",
        icon="slash",
        sentence=_("It tells nothing about how an effect ended."),
    ),
}


class UndoStatus(models.TextChoices):
    """How far the undoing of effects has come."""

    WORKING = "working", _("Undoing")
    DONE = "done", _("Undone")
    STOPPED = "stopped", _("Stopped")


UNDOING: dict[str, State] = {
    UndoStatus.WORKING: State(
        value="working",
        label=_("Undoing"),
        tone="info",
        icon="arc",
        sentence=_("A worker takes the effects back, one after another."),
        next=(UndoStatus.DONE, UndoStatus.STOPPED),
    ),
    UndoStatus.DONE: State(
        value="done",
        label=_("Undone"),
        tone="ok",
        icon="check",
        sentence=_("Everything in the plan was taken back."),
    ),
    UndoStatus.STOPPED: State(
        value="stopped",
        label=_("Stopped"),
        tone="bad",
        icon="cross",
        sentence=_("One effect could not be taken back, so the ones before it were left."),
    ),
}
UNDONE = State(
    value="undone",
    label=_("Undone"),
    tone="neutral",
    icon="retry",
    sentence=_("It happened, and was taken back by another effect."),
)
"""Overlay of what is done once the effect that takes it back is done."""
