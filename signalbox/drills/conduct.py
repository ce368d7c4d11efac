"""Conducting an evening of drills: all trials, many at once, on one scene; then the checker."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from pathlib import Path

from django.core.management import call_command
from django.db import connections

from signalbox.drills import checker, evidence, scene
from signalbox.drills.catalogue import GUARDS, Drill, Lane
from signalbox.drills.report import Report, Row
from signalbox.drills.scene import Scene
from signalbox.drills.trial import Stuck, Trial

Say = Callable[[str], None]

FEW = 20
"""So many trials need no second worker, which takes seconds to start."""


def conduct(  # noqa: PLR0913 (where, what, how often)
    state: Path, logs: Path, drills: Sequence[Drill], *, trials: int, seed: int, say: Say
) -> Report:
    """Play every drill `trials` times in every class. Raises SceneError if that cannot be done."""
    workers = 1 if len(drills) * len(GUARDS) * trials <= FEW else 2
    with scene.set_up(state, logs, workers=workers, say=say) as stage:
        played = _play(stage, drills, trials=trials, seed=seed, say=say)
        say("Checking")
        return Report(
            rows=_rows(stage, drills, played),
            audit=[*_audit(state), *checker.strangers(stage.books.path, _expected(played))],
            seed=seed,
        )


def _play(
    stage: Scene, drills: Sequence[Drill], *, trials: int, seed: int, say: Say
) -> list[Trial]:
    every = [
        (
            drill,
            Trial(
                scene=stage,
                drill=drill.name,
                guard=guard,
                number=number,
                rng=random.Random(f"{seed}/{drill.name}/{guard}/{number}"),  # noqa: S311 (times of kills)
            ),
        )
        for number in range(trials)
        for drill in drills
        for guard in GUARDS
    ]
    done = 0
    with ExitStack() as stack:
        lanes = {lane: stack.enter_context(ThreadPoolExecutor(lane.value)) for lane in Lane}
        futures: list[Future[None]] = [
            lanes[drill.lane].submit(_perform, drill, trial) for drill, trial in every
        ]
        try:
            for future in as_completed(futures):
                future.result()
                done += 1
                say(f"{done} of {len(every)} trials played")
        except BaseException:
            stage.watch.problem = "The drill was interrupted."  # ends every wait
            for future in futures:
                future.cancel()
            raise
    return [trial for _, trial in every]


def _perform(drill: Drill, trial: Trial) -> None:
    """Play one trial. What goes wrong is kept with it; the checker looks at the run anyway."""
    try:
        drill.play(trial)
    except Stuck as stuck:
        trial.trouble.append(str(stuck))
    except Exception as error:  # whatever a safeguard that is missing leads to
        trial.trouble.append(f"the play failed: {type(error).__name__}: {error}")
    finally:
        trial.trouble += trial.unreached()
        trial.scene.watch.remove(trial.run_id)
        connections.close_all()


def _expected(trials: Sequence[Trial]) -> list[evidence.Expected]:
    return [trial.expected() for trial in trials if trial.agent]


def _rows(stage: Scene, drills: Sequence[Drill], trials: Sequence[Trial]) -> list[Row]:
    rows = {
        (drill.name, guard): Row(name=drill.name, guard=guard)
        for drill in drills
        for guard in GUARDS
    }
    started = [trial for trial in trials if trial.agent]
    found = checker.check(stage.database, stage.books.path, _expected(started))
    outcomes = dict(zip(map(id, started), found, strict=True))
    for trial in trials:
        row, outcome = rows[trial.drill, trial.guard], outcomes.get(id(trial))
        row.trials += 1
        violations = list(trial.trouble)
        if outcome is not None:
            row.effects_outside += outcome.effects_outside
            row.effects_expected += outcome.effects_expected
            row.requests_received += outcome.requests_received
            row.questions_asked += outcome.questions_asked
            row.questions_expected += outcome.questions_expected
            violations += outcome.violations
        row.violations += [f"trial {trial.number}: {violation}" for violation in violations]
    return list(rows.values())


def _audit(state: Path) -> list[str]:
    """Have the audit log proved as anybody would, by the command."""
    proof = state / "proof.json"
    with suppress(SystemExit):  # its status says what the proof says
        call_command("verify_audit", json=str(proof), stdout=io.StringIO())
    return [problem["what"] for problem in json.loads(proof.read_text())["problems"]]
