"""Every error of the runs app. The docstring is the message an operator reads."""

from __future__ import annotations

from accounts import speech


class RunsError(speech.Spoken):
    """Something went wrong with a run."""

    http_status = 409


class NoSuchRun(RunsError):
    """There is no run with this id. Look for it in the list of runs."""

    http_status = 404


class NoSuchCheckpoint(RunsError):
    """This run has no such checkpoint. Open the run's list of checkpoints."""

    http_status = 404


class UnknownAgent(RunsError):
    """No agent of this name is registered. Add it to RUNS_AGENTS, or use a registered name."""

    http_status = 422


class UnfitGraph(RunsError):
    """This graph cannot be driven safely."""

    http_status = 422


class BadInput(RunsError):
    """The input of the run cannot be used. Correct it and start again."""

    http_status = 422


class KeyReused(RunsError):
    """This idempotency key already started another run. Use a new key, or the same input."""


class RunEnded(RunsError):
    """The run has already ended. Start a new run if the work is still needed."""


class NothingToDo(RunsError):
    """The run is not in a state in which this helps. Reload the page to see what it does now."""


class SearchTooSlow(RunsError):
    """This takes too long. Name an agent or a time as well, to have less looked through."""

    http_status = 422


class NoRunChosen(RunsError):
    """No run is chosen that this could be done to. Go back to the list and choose some."""

    http_status = 422


class TooManyRuns(RunsError):
    """This is more runs than are dealt with at once. Narrow the filters, or choose fewer."""

    http_status = 422


class StateChanged(RunsError):
    """The run does not stand as it stood when it was chosen. Look at it, and choose it again."""


class NoSuchOperation(RunsError):
    """There is no operation with this id. Look for it in the list of operations."""

    http_status = 404


class OperationEnded(RunsError):
    """The operation has ended, so there is nothing to stop. Reload the page to see what it did."""


class RunMoved(RunsError):
    """The run has changed since you opened this page. Read the facts again, then confirm."""


class LeaseLost(RunsError):
    """This worker's lease was taken over. Stop writing at once."""


class ReasonMissing(RunsError):
    """A reason is required; it is kept in the audit log. Write one and try again."""

    http_status = 422


class StateNotStorable(RunsError):
    """The state of the agent holds what the database cannot store."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"A value of the agent's state cannot be stored: {' '.join(why.split())}"
            " Have the agent clean it, or keep it inside a list or an object."
        )


class SaverNotReady(RunsError):
    """The checkpoint tables are missing or of another version. Run `manage.py migrate`."""
