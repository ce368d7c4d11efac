"""How a node's run is stopped from inside of it, by the ledger or by a question.

`StopRun` is a GraphBubbleUp: it passes through retry policies and tool-retry middleware, lets
siblings finish and stores no error in the checkpoint. User code can still swallow it; therefore
nothing relies on it alone: the ledger refuses every later effect by itself.
"""

from __future__ import annotations

from langgraph.errors import GraphBubbleUp

from runs.status import Park


class StopRun(GraphBubbleUp):
    """The run must stop here and be parked."""

    park: Park | None = None
    """The reason shown to the operator; None: the lease is lost and somebody else goes on."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))


class AskAnew(StopRun):
    """The answer that the node got is no longer good, so its question is asked once more."""

    # No error: the driver cuts the answer, and the node asks from what is true then.
    free = True
    retry_after = 0.0
