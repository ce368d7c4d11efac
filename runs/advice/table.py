"""One advice for each state, overlay and reason that can hold a run up.

A key is the state, overlay or "parked", and after a point why. `wrong` and `todo` are whole
sentences. A test asserts that every state, overlay and reason has its advice.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from runs.status import Park

Words = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What is wrong, and what to do about it."""

    key: str
    wrong: Words
    todo: Words
    tone: str = "warn"
    permission: str = ""
    """To do it; empty: everybody who sees the run may follow the link."""
    action: Words = ""
    """On the link, for who may do it."""
    look: Words = ""
    """On the link, for who may not; empty: they get none."""
    place: str = ""
    """The route of the run's page on which it is done, or of a page without a run; empty: the layer
    that gives the advice knows the address."""


FORCE = _("Force resume…")


def _workers(key: str, wrong: Words, todo: Words, *, tone: str = "warn") -> Advice:
    """Nothing that somebody does on the run's own pages."""
    return Advice(
        key=key,
        tone=tone,
        wrong=wrong,
        todo=todo,
        place="runs:workers",
        action=_("See the workers"),
    )


def _resume(key: str, wrong: Words, todo: Words) -> Advice:
    return Advice(
        key=key,
        wrong=wrong,
        todo=todo,
        permission="runs.force_resume_run",
        action=FORCE,
        place="runs:resume",
    )


def _cancel(key: str, wrong: Words, todo: Words, *, tone: str = "warn") -> Advice:
    return Advice(
        key=key,
        tone=tone,
        wrong=wrong,
        todo=todo,
        permission="runs.cancel_run",
        action=_("Cancel…"),
        place="runs:cancel",
    )


_ADVICES = (
    # --- it waits for a worker --------------------------------------------------------------------
    _workers(
        key="queued",
        tone="neutral",
        wrong=_("It waits for a free worker."),
        todo=_("There is nothing to do: a worker takes it in a moment."),
    ),
    _workers(
        key="queued.no_worker",
        wrong=_("No worker is alive, so nothing happens until one is started."),
        todo=_("Whoever runs this server starts one, as shown under Workers."),
    ),
    _workers(
        key="queued.unknown_agent",
        wrong=_("No worker that knows this agent is alive, so nothing happens."),
        todo=_("Whoever runs this server starts one from a release that has the agent."),
    ),
    _workers(
        key="queued.busy",
        tone="neutral",
        wrong=_("Every worker that knows this agent is busy."),
        todo=_("The next one that is free takes the oldest run. More workers shorten the wait."),
    ),
    _workers(
        key="queued.broker_away",
        wrong=_("The broker is away, so no worker hears of this run."),
        todo=_(
            "It is kept, and goes on by itself once the broker is back: whoever runs this server"
            " starts it."
        ),
    ),
    _workers(
        key="queued.sweeper_quiet",
        wrong=_("It waits for a worker. The sweeper, which finds what was missed, does not run."),
        todo=_("Whoever runs this server starts beat and a worker on the queue sweep."),
    ),
    Advice(
        key="queued.stopped",
        wrong=_("An emergency stop is on, so the run will be parked."),
        todo=_("When the stop is lifted, it goes on by itself."),
        permission="runs.emergency_stop",
        action=_("Emergency stops"),
        look=_("Emergency stops"),
    ),
    Advice(
        key="retrying",
        tone="neutral",
        wrong=_("An error may pass by itself, so the run is tried again at the time shown."),
        todo=_("There is nothing to do. If the cause is gone, have it tried at once."),
        permission="runs.retry_run",
        action=_("Retry now…"),
        place="runs:retry",
    ),
    # --- it runs, and does not move ---------------------------------------------------------------
    _resume(
        key="stuck",
        wrong=_("Running, but its lease has expired: its worker is gone, or hangs."),
        todo=_("The sweeper hands it to another worker."),
    ),
    _workers(
        key="stuck.no_worker",
        wrong=_(
            "Its lease has expired: its worker is gone. No worker is alive, so nothing happens"
            " until one is started."
        ),
        todo=_("Whoever runs this server starts one, as shown under Workers."),
    ),
    _workers(
        key="stuck.unknown_agent",
        wrong=_(
            "Its lease has expired: its worker is gone. No worker that knows this agent is"
            " alive, so nothing happens until one is started."
        ),
        todo=_("Whoever runs this server starts one from a release that has the agent."),
    ),
    _workers(
        key="stuck.broker_away",
        wrong=_(
            "Its lease has expired: its worker is gone. The broker is away, so no other worker"
            " hears of it."
        ),
        todo=_("It goes on by itself once the broker is back: whoever runs this server starts it."),
    ),
    _resume(
        key="stuck.sweeper_quiet",
        wrong=_(
            "Running, but its lease has expired. The sweeper, which would hand it to another"
            " worker, does not run."
        ),
        todo=_(
            "Force it to resume; and whoever runs this server starts beat and a worker on the"
            " queue sweep."
        ),
    ),
    _workers(
        key="stalled",
        wrong=_("The lease is renewed, but no step has moved for longer than the agent allows."),
        todo=_("If it hangs it is given up; stopping that worker is quicker."),
    ),
    Advice(
        key="in_doubt",
        wrong=_(
            "A call was started and nobody heard how it ended. Nothing else of this run is sent"
            " until somebody settles it."
        ),
        todo=_("Look at the provider, and say whether it happened."),
        permission="ledger.settle_effect",
        action=_("Settle the effect"),
        look=_("See the effect"),
    ),
    _cancel(
        key="read_only",
        tone="neutral",
        wrong=_("A deadline lapsed, so the run goes on without changing anything outside."),
        todo=_("There is nothing to do. If its result is of no use without that, cancel it."),
    ),
    _workers(
        key="cancelling",
        tone="neutral",
        wrong=_("A person asked to cancel it."),
        todo=_("There is nothing to do: it ends at its next step."),
    ),
    _workers(
        key="cancelling.resting",
        tone="neutral",
        wrong=_("A person asked to cancel it."),
        todo=_("There is nothing to do: a worker ends it in a moment."),
    ),
    _workers(
        key="cancelling.no_worker",
        wrong=_("A person asked to cancel it."),
        todo=_(
            "No worker is alive to end it: whoever runs this server starts one, as shown under"
            " Workers."
        ),
    ),
    _workers(
        key="cancelling.broker_away",
        wrong=_("A person asked to cancel it."),
        todo=_(
            "No worker hears of it while the broker is away: whoever runs this server starts it."
        ),
    ),
    _workers(
        key="cancelling.stuck",
        wrong=_("A person asked to cancel it."),
        todo=_("Its worker is gone, or hangs: the sweeper hands it to another one, which ends it."),
    ),
    _resume(
        key="cancelling.sweeper_quiet",
        wrong=_("A person asked to cancel it."),
        todo=_(
            "Its worker is gone, and the sweeper, which would hand it to another one, does not"
            " run. Force it to resume: the worker that takes it ends it."
        ),
    ),
    _workers(
        key="cancelling.stalled",
        wrong=_("A person asked to cancel it."),
        todo=_(
            "Its step does not move. If it hangs it is given up and ended; stopping that worker"
            " is quicker."
        ),
    ),
    # --- it waits for people ----------------------------------------------------------------------
    Advice(
        key="waiting",
        tone="human",
        wrong=_("It waits for an answer."),
        todo=_("Whoever may decide it finds it in their inbox."),
        permission="approvals.decide_request",
        action=_("Review request"),
        look=_("See request"),
    ),
    Advice(
        key="waiting.nobody",
        tone="bad",
        wrong=_("It waits for an answer that nobody can give: too few people may decide it."),
        todo=_("Add people to the group, or change the policy; trying it out says why."),
        permission="approvals.change_policy",
        action=_("Try the policies"),
        look=_("See request"),
    ),
    _workers(
        key="waiting.answered",
        tone="neutral",
        wrong=_("No question of it is open: an answer is on its way to the run."),
        todo=_("There is nothing to do: a worker takes it in a moment."),
    ),
    # --- it was stopped on purpose ----------------------------------------------------------------
    _cancel(
        key=f"parked.{Park.STATE_LOST}",
        wrong=_("The saved checkpoints of this run are gone."),
        todo=_("Restore them and force it to resume, or cancel it."),
    ),
    Advice(
        key=f"parked.{Park.EFFECT_IN_DOUBT}",
        wrong=_("A call's outcome is unknown."),
        todo=_("Settle the effect; the run then goes on."),
        permission="ledger.settle_effect",
        action=_("Settle the effect"),
        look=_("See the effect"),
    ),
    _resume(
        key=f"parked.{Park.GRAPH_CHANGED}",
        wrong=_("The deployed graph does not fit this run."),
        todo=_(
            "Deploy a version that fits or is declared compatible, then force it to resume; or"
            " cancel it."
        ),
    ),
    Advice(
        key=f"parked.{Park.BAD_ANSWER}",
        wrong=_("The agent could not use the answer it was given."),
        todo=_("Have the question asked again, or correct the agent and retry."),
        permission="runs.ask_again_run",
        action=_("Ask again…"),
        place="runs:ask_again",
    ),
    _resume(
        key=f"parked.{Park.CRASH_LOOP}",
        wrong=_("Workers were lost several times in a row at the same step."),
        todo=_("Find out why, memory for instance; then force it to resume."),
    ),
    _resume(
        key=f"parked.{Park.PAYLOAD_UNSTABLE}",
        wrong=_("The agent asks something else each time its code runs again."),
        todo=_("Make the question depend on saved state only; then force it to resume."),
    ),
    _cancel(
        key=f"parked.{Park.READ_ONLY}",
        wrong=_("A deadline made this run read-only, and it tried to change something outside."),
        todo=_("Cancel it, and start a new one if the work is still needed."),
    ),
    Advice(
        key=f"parked.{Park.EMERGENCY_STOP}",
        wrong=_("An emergency stop is on."),
        todo=_("When it is lifted, the run goes on by itself."),
        permission="runs.emergency_stop",
        action=_("Emergency stops"),
        look=_("Emergency stops"),
    ),
    _cancel(
        key=f"parked.{Park.PERMIT_MISSING}",
        wrong=_("The agent tried an effect that needs an approval with exactly these arguments."),
        todo=_("Correct the agent, or cancel the run."),
    ),
    Advice(
        key=f"parked.{Park.DEADLINE}",
        wrong=_("Nobody decided in time."),
        todo=_("Have the question asked again, or cancel the run."),
        permission="runs.ask_again_run",
        action=_("Ask again…"),
        place="runs:ask_again",
    ),
    Advice(
        key=f"parked.{Park.DRIFT}",
        wrong=_(
            "A step ran again and wanted something else done than the first time. Nothing more"
            " is sent."
        ),
        todo=_("Compare the two, and accept the new one or cancel the run."),
        permission="ledger.settle_effect",
        action=_("Compare the two"),
        look=_("Compare the two"),
    ),
    _workers(
        key="parked.waking",
        tone="neutral",
        wrong=_("What it was parked for is no longer so."),
        todo=_("There is nothing to do: a worker looks at it in a moment."),
    ),
    # --- it ended badly ---------------------------------------------------------------------------
    Advice(
        key="failed",
        tone="bad",
        wrong=_("The agent raised an error that will not go away by itself."),
        todo=_("Correct what it says, and start a new run."),
        permission="runs.start_run",
        action=_("Start a new run"),
        place="runs:new",
    ),
)

ADVICES: dict[str, Advice] = {advice.key: advice for advice in _ADVICES}
