"""The states of a run, its overlays, park reasons and attempt outcomes: one table each.

Code, pages, filters and documentation read these tables; a test asserts that they are complete.

1. Stored states are what the database holds. Overlays (stuck, ...) are computed, never stored.
2. `next` lists where a state may go; an ended run goes nowhere.
3. Six tones exist: neutral, info, human, ok, warn, bad. "human" means that a person is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import models

from accounts.speech import later as _


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How one state is called, looks, and what it means."""

    value: str
    label: str
    tone: str
    icon: str
    sentence: str
    next: tuple[str, ...] = ()


class Status(models.TextChoices):
    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    WAITING = "waiting", _("Waiting for approval")
    PARKED = "parked", _("Parked")
    SUCCEEDED = "succeeded", _("Succeeded")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
LIVE = (Status.QUEUED, Status.RUNNING, Status.WAITING, Status.PARKED)

STATES: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value=Status.QUEUED,
            label=_("Queued"),
            tone="neutral",
            icon="clock",
            sentence=_("Accepted; waits for a free worker."),
            next=(Status.RUNNING,),
        ),
        State(
            value=Status.RUNNING,
            label=_("Running"),
            tone="info",
            icon="arc",
            sentence=_("A worker holds the lease and drives the run."),
            next=(*LIVE, *ENDED),
        ),
        State(
            value=Status.WAITING,
            label=_("Waiting for approval"),
            tone="human",
            icon="person",
            sentence=_("Paused until a person decides; no worker is held."),
            next=(Status.RUNNING,),
        ),
        State(
            value=Status.PARKED,
            label=_("Parked"),
            tone="warn",
            icon="hand",
            sentence=_("Stopped on purpose; an operator must look."),
            next=(Status.RUNNING,),
        ),
        State(
            value=Status.SUCCEEDED,
            label=_("Succeeded"),
            tone="ok",
            icon="check",
            sentence=_("The agent finished and its output is stored."),
        ),
        State(
            value=Status.FAILED,
            label=_("Failed"),
            tone="bad",
            icon="cross",
            sentence=_("The agent raised an error that will not go away by itself."),
        ),
        State(
            value=Status.CANCELLED,
            label=_("Cancelled"),
            tone="neutral",
            icon="slash",
            sentence=_("Stopped by a person before it finished."),
        ),
    )
}


class Park(models.TextChoices):
    """Why a run is parked: what an operator has to look at."""

    STATE_LOST = "state_lost", _("State lost")
    EFFECT_IN_DOUBT = "effect_in_doubt", _("Effect in doubt")
    GRAPH_CHANGED = "graph_changed", _("Graph changed")
    BAD_ANSWER = "bad_answer", _("Bad answer")
    CRASH_LOOP = "crash_loop", _("Crash loop")
    PAYLOAD_UNSTABLE = "payload_unstable", _("Question keeps changing")
    READ_ONLY = "read_only", _("Read-only")
    EMERGENCY_STOP = "emergency_stop", _("Emergency stop")
    PERMIT_MISSING = "permit_missing", _("Permit missing")
    DEADLINE = "deadline", _("Deadline passed")
    DRIFT = "drift", _("Changed on retry")


PARKS: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value=Park.STATE_LOST,
            label=_("Parked: state lost"),
            tone="warn",
            icon="hand",
            sentence=_(
                "The saved checkpoints of this run are gone. Restore them, or cancel the run."
            ),
        ),
        State(
            value=Park.EFFECT_IN_DOUBT,
            label=_("Parked: effect in doubt"),
            tone="warn",
            icon="triangle",
            sentence=_("A call's outcome is unknown. Settle the effect; the run then goes on."),
        ),
        State(
            value=Park.GRAPH_CHANGED,
            label=_("Parked: graph changed"),
            tone="warn",
            icon="hand",
            sentence=_(
                "The deployed graph does not fit this run. Deploy a version that fits or is"
                " declared compatible, then force-resume; or cancel the run."
            ),
        ),
        State(
            value=Park.BAD_ANSWER,
            label=_("Parked: bad answer"),
            tone="warn",
            icon="hand",
            sentence=_("The agent could not use the answer it was given. Ask again, or retry."),
        ),
        State(
            value=Park.CRASH_LOOP,
            label=_("Parked: crash loop"),
            tone="warn",
            icon="hand",
            sentence=_(
                "Workers were lost several times in a row at the same step. Find out why"
                " (memory?), then force-resume."
            ),
        ),
        State(
            value=Park.PAYLOAD_UNSTABLE,
            label=_("Parked: question keeps changing"),
            tone="warn",
            icon="hand",
            sentence=_(
                "The agent asks something else each time its code runs again. Make the"
                " question depend on saved state only, then force-resume."
            ),
        ),
        State(
            value=Park.READ_ONLY,
            label=_("Parked: read-only"),
            tone="warn",
            icon="lock",
            sentence=_("A deadline made this run read-only, and it tried an effect. Cancel it."),
        ),
        State(
            value=Park.EMERGENCY_STOP,
            label=_("Parked: emergency stop"),
            tone="warn",
            icon="hand",
            sentence=_("An emergency stop is on. When it is lifted, the run goes on by itself."),
        ),
        State(
            value=Park.PERMIT_MISSING,
            label=_("Parked: permit missing"),
            tone="warn",
            icon="lock",
            sentence=_(
                "The agent tried an effect that needs an approval with exactly these"
                " arguments. Correct the agent, or cancel the run."
            ),
        ),
        State(
            value=Park.DEADLINE,
            label=_("Parked: deadline passed"),
            tone="warn",
            icon="clock",
            sentence=_("Nobody decided in time. Ask again, or cancel the run."),
        ),
        State(
            value=Park.DRIFT,
            label=_("Parked: changed on retry"),
            tone="warn",
            icon="hand",
            sentence=_(
                "A step ran again and wanted something else done than the first time. Nothing"
                " more was sent. Compare the two, and accept the new one or cancel the run."
            ),
        ),
    )
}

OVERLAYS: dict[str, State] = {
    state.value: state
    for state in (
        State(
            value="stuck",
            label=_("Stuck"),
            tone="warn",
            icon="triangle",
            sentence=_("Running, but its lease has expired: its worker is gone, or hangs."),
        ),
        State(
            value="stalled",
            label=_("Stalled"),
            tone="warn",
            icon="hourglass",
            sentence=_(
                "The lease is renewed, but no step has moved for longer than the agent allows."
            ),
        ),
        State(
            value="in_doubt",
            label=_("Effect in doubt"),
            tone="warn",
            icon="triangle",
            sentence=_("A call's outcome is unknown."),
        ),
        State(
            value="retrying",
            label=_("Retrying"),
            tone="neutral",
            icon="clock",
            sentence=_("An error may pass by itself; the run is tried again at the time shown."),
        ),
        State(
            value="read_only",
            label=_("Read-only"),
            tone="neutral",
            icon="lock",
            sentence=_("Goes on without side effects after its deadline lapsed."),
        ),
        State(
            value="cancelling",
            label=_("Cancelling"),
            tone="neutral",
            icon="slash",
            sentence=_("A person asked to cancel; it ends at the next step."),
        ),
    )
}


class Outcome(models.TextChoices):
    """How an attempt ended."""

    OPEN = "open", _("Driving")
    FINISHED = "finished", _("Finished")
    WAITED = "waited", _("Asked a person")
    PARKED = "parked", _("Parked")
    RAISED = "raised", _("Raised an error")
    DRAINED = "drained", _("Drained")
    RELEASED = "released", _("Handed on")
    CANCELLED = "cancelled", _("Cancelled")
    LOST = "lost", _("Lost")


OUTCOMES: dict[str, State] = {
    Outcome.OPEN: State(
        value="open", label=_("Driving"), tone="info", icon="arc", sentence=_("Going on now.")
    ),
    Outcome.FINISHED: State(
        value="finished",
        label=_("Finished"),
        tone="ok",
        icon="check",
        sentence=_("Reached the end."),
    ),
    Outcome.WAITED: State(
        value="waited",
        label=_("Asked a person"),
        tone="human",
        icon="person",
        sentence=_("Stopped at a question and gave the lease back."),
    ),
    Outcome.PARKED: State(
        value="parked",
        label=_("Parked"),
        tone="warn",
        icon="hand",
        sentence=_("Stopped on purpose and gave the lease back."),
    ),
    Outcome.RAISED: State(
        value="raised",
        label=_("Raised an error"),
        tone="bad",
        icon="cross",
        sentence=_("The agent's code raised an error."),
    ),
    Outcome.DRAINED: State(
        value="drained",
        label=_("Drained"),
        tone="neutral",
        icon="slash",
        sentence=_("The worker was asked to stop and gave the lease back at a step's end."),
    ),
    Outcome.RELEASED: State(
        value="released",
        label=_("Handed on"),
        tone="neutral",
        icon="arrow",
        sentence=_("This worker could not drive the run and left it to another."),
    ),
    Outcome.CANCELLED: State(
        value="cancelled",
        label=_("Cancelled"),
        tone="neutral",
        icon="slash",
        sentence=_("Ended because a person asked to cancel."),
    ),
    Outcome.LOST: State(
        value="lost",
        label=_("Lost"),
        tone="warn",
        icon="triangle",
        sentence=_("The worker disappeared; another one took the lease over."),
    ),
}
