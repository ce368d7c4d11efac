"""What a run does next: a pure function of what the database holds. No I/O, no clock.

`next_move(facts)` is the table of docs/architecture.md; the first row that matches decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from runs import status, stop
from runs.heads import Head
from runs.ports import Answer, Answers


class Fit(Enum):
    """Whether this worker's graph fits the version under which the run was admitted."""

    FITS = auto()
    """The same version, or one that is declared compatible."""
    OTHER = auto()
    """Another version, older or newer, that is not declared compatible."""
    UNKNOWN = auto()
    """This worker does not know the agent at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How the last attempt at this very head raised, as far as nobody has dealt with it yet."""

    error_class: str
    error: str
    transient: bool
    tries_left: bool
    park: status.Park | None = None
    """The ledger stopped the run for this reason."""
    retry_after: float | None = None
    """Seconds until it makes sense to try again, where somebody said so."""
    free: bool = False
    """No error, only a wait: it does not count against the tries."""
    ask_anew: bool = False
    """No error: the node does not want the answer that it got, and asks once more."""

    def stored(self) -> dict[str, object]:
        """What the attempt keeps of it besides class and text."""
        return {
            "transient": self.transient,
            "park": self.park and self.park.value,
            "free": self.free,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that the next move depends on."""

    head: Head | None
    """None: this worker cannot read it."""
    answers: Answers
    cancel_asked: bool = False
    ask_again: bool = False
    saved_before: bool = False
    in_doubt: bool = False
    stopped: bool = False
    drifted: bool = False
    fit: Fit = Fit.FITS
    right_worker: str = ""
    """A live worker that offers the run's own version."""
    failure: Failure | None = None
    retrying: bool = False
    """An error at this head has been granted its retry."""
    crash_loop: bool = False
    why_unfit: str = ""


@dataclass(frozen=True, slots=True)
class Cancel:
    pass


@dataclass(frozen=True, slots=True)
class AskAgain:
    pass


@dataclass(frozen=True, slots=True)
class AskAnew:
    pass


@dataclass(frozen=True, slots=True)
class Start:
    pass


@dataclass(frozen=True, slots=True)
class Continue:
    pass


@dataclass(frozen=True, slots=True)
class Finish:
    pass


@dataclass(frozen=True, slots=True)
class Wait:
    pass


@dataclass(frozen=True, slots=True)
class Resume:
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Park:
    reason: status.Park
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    to: str


@dataclass(frozen=True, slots=True)
class RetryLater:
    failure: Failure


@dataclass(frozen=True, slots=True)
class Fail:
    failure: Failure


Move = (
    Cancel
    | AskAgain
    | AskAnew
    | Start
    | Continue
    | Finish
    | Wait
    | Resume
    | Park
    | Release
    | RetryLater
    | Fail
)


def next_move(facts: Facts) -> Move:  # noqa: C901 (a table with one line per row reads best)
    """The first row that matches."""
    head, answers, failure = facts.head, facts.answers, facts.failure

    if facts.cancel_asked:
        return Cancel()
    if head is not None and not head.exists and facts.saved_before:
        return Park(status.Park.STATE_LOST)
    if head is not None and not head.exists and _fits(facts) and not (failure or facts.crash_loop):
        return Park(status.Park.EMERGENCY_STOP) if facts.stopped else Start()
    if facts.in_doubt:
        return Park(status.Park.EFFECT_IN_DOUBT)
    if facts.drifted:
        return Park(status.Park.DRIFT)
    if head is not None and head.finished:
        return Finish()
    if not _fits(facts) and facts.right_worker:
        return Release(facts.right_worker)
    if not _fits(facts):
        why = facts.why_unfit or "no live worker offers the version of this run"
        return Park(status.Park.GRAPH_CHANGED, why)
    if head is None:
        return Park(status.Park.CRASH_LOOP, "workers were lost while they read the saved state")
    if head.lost:
        return Park(status.Park.GRAPH_CHANGED, f"missing: {', '.join(head.lost)}")
    if facts.ask_again:
        return AskAgain()
    if head.crowded:
        return Fail(_crowded(head))
    if failure is not None:
        return _after(failure, answers)
    if facts.crash_loop:
        return Park(status.Park.CRASH_LOOP)
    if facts.stopped:
        return Park(status.Park.EMERGENCY_STOP)
    if answers.outdated:
        return AskAnew()
    if answers.consumed:
        return Continue()
    if answers.ready:
        return Resume(answers.ready[:1] if facts.retrying else answers.ready)
    if head.idle:
        return Continue()
    if head.pending and answers.lapsed:
        return Park(status.Park.DEADLINE)
    if head.pending and answers.unstable:
        return Park(status.Park.PAYLOAD_UNSTABLE)
    if head.pending:
        return Wait()
    return Continue()


def _fits(facts: Facts) -> bool:
    return facts.fit is Fit.FITS


def _crowded(head: Head) -> Failure:
    return Failure(
        error_class=stop.SEVERAL_INTERRUPTS,
        error=(
            f"{', '.join(head.crowded)}: several interrupts from threads of one node;"
            " their answers could be swapped. Ask in parallel nodes, or one after the other."
        ),
        transient=False,
        tries_left=False,
    )


def _after(failure: Failure, answers: Answers) -> Move:
    if failure.ask_anew:
        return AskAnew()
    if failure.park is not None:
        return Park(failure.park, failure.error)
    if failure.free or (failure.transient and failure.tries_left):
        return RetryLater(failure)
    if answers.consumed:
        return Park(status.Park.BAD_ANSWER, failure.error)
    return Fail(failure)
