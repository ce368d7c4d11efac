"""What happens in each drill. A play starts one run, has something terrible happen to it, and waits
until it has ended by itself; the checker then says whether what must hold does hold.
"""

from __future__ import annotations

import uuid

from runs import controls
from signalbox.drills import expectations
from signalbox.drills.trial import SHELL, Trial

# --- a worker is killed ---------------------------------------------------------------------------


def before_first_checkpoint(trial: Trial) -> None:
    point = trial.choose("driver.before_call", "driver.taken", "saver.put", "saver.pipeline")
    trial.start("line", {point: ["kill"]})
    trial.ends()


def before_call(trial: Trial) -> None:
    trial.start("line", {trial.choose("effect.reserved", "node.refund"): ["kill"]})
    trial.ends()


def after_call(trial: Trial) -> None:
    trial.start("line", {"effect.called": ["kill"]})
    trial.ends()


def after_record(trial: Trial) -> None:
    trial.start("line", {trial.choose("effect.settled", "node.refunded"): ["kill"]})
    trial.ends()


def between_writes_and_checkpoint(trial: Trial) -> None:
    # Writes of a task and the next checkpoint are saved at the same time: the latter waits here.
    task = trial.choose(2, 1, 3, 4)  # prepare, what precedes it, refund, close
    trial.start(
        "line",
        {
            "saver.wrote": ["pass"] * (task - 1) + ["note"],
            "saver.put": ["pass"] * task + ["kill once saver.wrote"],
        },
    )
    trial.ends()


def after_handover(trial: Trial) -> None:
    trial.start("asked")
    question = trial.asks_to_refund()
    trial.arm(trial.choose("driver.handed_over", "node.answered", "saver.put_writes"), "kill")
    trial.decide(question, "approved")
    trial.ends()


def raises_between_questions(trial: Trial) -> None:
    trial.start("twice")
    first = trial.asks_to_refund()
    trial.arm("node.between", "raise")
    trial.decide(first, "approved")
    trial.decide(trial.asks_to_tell(), "rejected")
    trial.ends()


def between_questions(trial: Trial) -> None:
    trial.start("twice")
    first = trial.asks_to_refund()
    trial.arm(trial.choose("saver.wrote", "node.between", "saver.put_writes"), "kill")
    trial.decide(first, "approved")
    trial.decide(trial.asks_to_tell(), "rejected")
    trial.ends()


def two_answers_at_once(trial: Trial) -> None:
    trial.start("pair")
    refund, tell = trial.asks_to_refund(), trial.asks_to_tell()
    trial.arm("driver.taken", "hold")
    trial.arm(trial.choose("node.answered", "driver.handed_over"), "kill")
    trial.decide(refund, "approved")
    trial.held("driver.taken")
    trial.decide(tell, "rejected")
    trial.let_go("driver.taken")
    trial.ends()


def swallowed_doubt(trial: Trial) -> None:
    trial.start("hasty", {trial.choose("effect.called", "effect.reserved"): ["kill"]})
    trial.ends()


def random_kills(trial: Trial) -> None:
    lines = [f"kill after {trial.rng.uniform(0.01, 0.4):.3f}" for _ in range(4)]
    trial.start("asked", {"driver.taken": lines[:2]})
    question = trial.asks_to_refund()
    trial.arm("driver.taken", *lines[2:])
    trial.decide(question, "approved")
    trial.ends()


# --- a worker is frozen, and wakes up late --------------------------------------------------------


def frozen_outside(trial: Trial) -> None:
    point, awake = trial.choose(
        ("saver.put", "late"),
        ("lease.locking", "before"),
        ("effect.called", "late"),
        ("saver.put", "soon"),
        ("effect.reserved", "late"),
        ("node.refund", "before"),
        ("effect.called", "soon"),
    )
    if awake == "before":
        _freeze_and_wake_before(trial, point)
    else:
        _freeze(trial, point, "stop", late=awake == "late")


def frozen_in_transaction(trial: Trial) -> None:
    # The first lock of this run is taken to reserve the effect, the second one to end the drive.
    lines, late = trial.choose((["stop"], True), (["pass", "stop"], True), (["stop"], False))
    _freeze(trial, "lease.locked", *lines, late=late)


def frozen_in_pipeline(trial: Trial) -> None:
    passed, late = trial.choose((1, True), (0, True), (4, True), (2, False))
    _freeze(trial, "saver.pipeline", *["pass"] * passed, "stop", late=late)


def _freeze(trial: Trial, point: str, *lines: str, late: bool) -> None:
    """It wakes up when the run has ended, or as soon as it was taken over."""
    trial.start("line", {point: lines})
    with trial.frozen(point) as wake:
        if late:
            trial.ends()
        wake()
    trial.ends()


def _freeze_and_wake_before(trial: Trial, point: str) -> None:
    """It wakes up after the takeover, but before the new driver has come to the same point."""
    trial.start("line", {point: ["stop", "hold"]})
    with trial.frozen(point) as wake:
        trial.held(point)
        wake()
        trial.let_go(point)
    trial.ends()


# --- people decide --------------------------------------------------------------------------------


def without_doorbell(trial: Trial) -> None:
    trial.start("asked")
    question = trial.asks_to_refund()
    trial.arm(trial.choose("decision.committed", "doorbell"), "kill")
    if trial.post(trial.ballot(question, "approved")) is not None:
        trial.trouble.append("the process that decided was not killed")
    trial.ends()


def as_the_run_rests(trial: Trial) -> None:
    trial.start("asked")
    question = trial.asks_to_refund()
    trial.arm("lease.locking", "hold")
    controls.force_resume(trial.run_id, actor=SHELL, reason="The drill wants it looked at.")
    trial.held("lease.locking")  # it has looked, found nothing decided, and is about to rest again
    trial.decide(question, "approved")
    trial.let_go("lease.locking")
    trial.ends()


def twenty_times(trial: Trial) -> None:
    trial.start("asked")
    question = trial.asks_to_refund()
    tokens = [uuid.uuid4().hex for _ in range(trial.choose(1, 2))]  # one form, or two tabs
    told = trial.post(
        *(trial.ballot(question, "approved", token=tokens[n % len(tokens)]) for n in range(20))
    )
    _one_decides(trial, told)
    trial.ends()


def approve_and_reject(trial: Trial) -> None:
    trial.start("asked")
    question = trial.asks_to_refund()
    told = trial.post(
        trial.ballot(question, "approved", by="ben"), trial.ballot(question, "rejected", by="bea")
    )
    _one_decides(trial, told)
    trial.ends()


def at_the_deadline(trial: Trial) -> None:
    trial.start("brief")
    question = trial.asks_to_refund()
    moment = question.deadline + trial.choose(0.01, -0.05, -0.15, 0.0, -0.3)
    trial.post(
        *(
            trial.ballot(question, "approved", by=by, at=moment + 0.005 * n)
            for by in ("ben", "bea")
            for n in range(5)
        )
    )
    trial.ends()


def question_changed(trial: Trial) -> None:
    trial.start("pair")
    refund, tell = trial.asks_to_refund(), trial.asks_to_tell()
    trial.arm("node.answered", "hold")
    trial.change_words()
    trial.outdated.append(tell.text)
    trial.decide(refund, "approved")
    trial.held("node.answered")  # meanwhile the other question is put again, with other words
    trial.decide(tell, "approved")
    trial.let_go("node.answered")
    trial.decide(trial.asks_to_tell(expectations.TODAY), "rejected")
    trial.ends()


def _one_decides(trial: Trial, told: list[str] | None) -> None:
    if told is None or told.count("decided") != 1:
        trial.trouble.append(f"one person should have been told that they decided: {told}")
