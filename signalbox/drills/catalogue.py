"""The drills: what each is called, the moment at which it strikes, the safeguard it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from signalbox.drills import plays
from signalbox.drills.trial import Trial

GUARDS = ("PROVIDER", "LOOKUP", "LEDGER")
"""Who prevents a second performance. Every drill is played for each of them."""


class Lane(Enum):
    """How many trials may be under way at once."""

    PLAIN = 14
    FROZEN = 5
    """Each keeps a worker process busy that does nothing."""
    CROWD = 3
    """Each opens many connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """One entry of the catalogue."""

    name: str
    moment: str
    safeguard: str
    play: Callable[[Trial], None]
    lane: Lane = Lane.PLAIN


DRILLS = (
    Drill(
        name="before-first-checkpoint",
        moment="A worker is killed after admission, before the first checkpoint.",
        safeguard="A run is a committed row; without checkpoints it starts from its stored input.",
        play=plays.before_first_checkpoint,
    ),
    Drill(
        name="before-call",
        moment="A worker is killed in a node, before the provider is called.",
        safeguard="The mark says that a call may have gone out; nothing is assumed.",
        play=plays.before_call,
    ),
    Drill(
        name="after-call",
        moment="A worker is killed after the provider performed, before the ledger recorded it.",
        safeguard="The call is marked as started, and committed, before it is made.",
        play=plays.after_call,
    ),
    Drill(
        name="after-record",
        moment="A worker is killed after the ledger recorded, before the checkpoint.",
        safeguard="The node that runs again gets the stored result.",
        play=plays.after_record,
    ),
    Drill(
        name="between-writes-and-checkpoint",
        moment="A worker is killed between a task's writes and the next checkpoint.",
        safeguard="A head with pending writes is not finished, although nothing seems to be next.",
        play=plays.between_writes_and_checkpoint,
    ),
    Drill(
        name="decision-without-doorbell",
        moment="The process that decides is killed between the commit and the doorbell.",
        safeguard="The decision itself wakes the run; the sweeper finds it.",
        play=plays.without_doorbell,
    ),
    Drill(
        name="after-handover",
        moment="A worker is killed after it handed over the answer, before the node finished.",
        safeguard="A decision is delivered until it has taken effect.",
        play=plays.after_handover,
    ),
    Drill(
        name="raises-between-questions",
        moment="A node takes the answer, raises, and then asks a second question.",
        safeguard="An answer that LangGraph holds is never sent again.",
        play=plays.raises_between_questions,
    ),
    Drill(
        name="between-questions",
        moment="A worker is killed between two questions of one node.",
        safeguard="Answers are addressed to their question; each question is a request of its own.",
        play=plays.between_questions,
    ),
    Drill(
        name="frozen-outside",
        moment="A worker is frozen past its lease, taken over, and wakes up: in the open.",
        safeguard="Checkpoints and reservations are written under the fence.",
        play=plays.frozen_outside,
        lane=Lane.FROZEN,
    ),
    Drill(
        name="frozen-in-transaction",
        moment="The same, with the run locked in a transaction.",
        safeguard="Whoever takes over ends the connection that blocks an expired lease.",
        play=plays.frozen_in_transaction,
        lane=Lane.FROZEN,
    ),
    Drill(
        name="frozen-in-pipeline",
        moment="The same, in the middle of the saver's pipeline.",
        safeguard="The fence check locks the lease; its blocker is ended at a takeover.",
        play=plays.frozen_in_pipeline,
        lane=Lane.FROZEN,
    ),
    Drill(
        name="same-decision-twenty-times",
        moment="The same decision is posted twenty times at once.",
        safeguard="The same form is one vote, and a request has one decision.",
        play=plays.twenty_times,
        lane=Lane.CROWD,
    ),
    Drill(
        name="approve-and-reject",
        moment="Two people approve and reject at once.",
        safeguard="A request has one decision; the other person is told.",
        play=plays.approve_and_reject,
        lane=Lane.CROWD,
    ),
    Drill(
        name="random-kills",
        moment="Workers are killed at random times.",
        safeguard="All of them.",
        play=plays.random_kills,
    ),
    Drill(
        name="two-answers-at-once",
        moment="A worker is killed while it hands over the answers to two questions at once.",
        safeguard="Answers are keyed by interrupt id.",
        play=plays.two_answers_at_once,
    ),
    Drill(
        name="decision-as-the-run-rests",
        moment="Somebody decides just as a driver that has found nothing to do gives back the run.",
        safeguard="Resting compares what woke the run in the transaction that rests.",
        play=plays.as_the_run_rests,
    ),
    Drill(
        name="swallowed-doubt",
        moment="An agent swallows that an effect is in doubt, and goes on to the next.",
        safeguard="The latch: no effect starts while another one of the run is in doubt.",
        play=plays.swallowed_doubt,
    ),
    Drill(
        name="at-the-deadline",
        moment="Ten verdicts arrive around the deadline, while the sweeper fires it.",
        safeguard="The deadline is read from the database's clock under the lock.",
        play=plays.at_the_deadline,
        lane=Lane.CROWD,
    ),
    Drill(
        name="question-changed",
        moment="A question changes while somebody decides it as it was.",
        safeguard="A decision counts only for the payload that was shown.",
        play=plays.question_changed,
    ),
)


def find(name: str) -> Drill | None:
    return next((drill for drill in DRILLS if drill.name == name), None)
