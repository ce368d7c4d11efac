"""How a node's run is stopped from inside of it, by the ledger or by a question.

`StopRun` is a GraphBubbleUp: it passes through retry policies and tool-retry middleware, lets
siblings finish and stores no error in the checkpoint. User code can still swallow it; therefore
nothing relies on it alone: the ledger refuses every later effect by itself.
"""

from __future__ import annotations

from langgraph.errors import GraphBubbleUp

from accounts import speech
from accounts.speech import later as _
from runs.status import Park

NO_PROGRESS = "NoProgress"
SEVERAL_INTERRUPTS = "SeveralInterrupts"
SEEN = {
    NO_PROGRESS: _("The agent did nothing at this step: it neither went on nor asked anything"),
    SEVERAL_INTERRUPTS: _(
        "One step of the agent asked several questions at once, so that their answers could be"
        " mixed up; it has to ask them one after the other"
    ),
}
"""What ends a run although its code raised nothing."""


class StopRun(GraphBubbleUp):
    """The run must stop here and be parked."""

    park: Park | None = None
    """The reason shown to the operator; None: the lease is lost and somebody else goes on."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.sentence())

    @classmethod
    def sentence(cls) -> str:
        """What it says where nothing more is known, in English."""
        return " ".join((cls.__doc__ or "").split())


class AskAnew(StopRun):
    """The answer that the node got is no longer good, so its question is asked once more."""

    # No error: the driver cuts the answer, and the node asks from what is true then.
    free = True
    retry_after = 0.0


def told(error_class: str, error: str) -> str:
    """What an attempt has raised, as people read it.

    What stops a run is no error of the agent's code: it is told in our words, without the name of
    its class, and in other languages than English without what was kept besides. What only we saw
    is told in our words, too, and its name stands behind them: lists are filtered by it.
    """
    if error_class in SEEN:
        return f"{SEEN[error_class]} ({error_class})"
    ours = {each.__name__: each for each in StopRun.__subclasses__()}.get(error_class)
    if ours is None:
        return f"{error_class}: {error}".strip(": ")
    return error if speech.is_english() else speech.shown(ours.sentence())
