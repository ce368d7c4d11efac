"""Signalbox with one rule broken each, to see whether the harness sees it.

Applied in the parent before it forks; nothing on disk is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from langgraph.types import Command

from approvals import rounds
from approvals.status import Delivery
from runs import driver, graphs, heads, leases, moves, savers
from runs.authority import Lease


def _put(owner: object, name: str, broken: object) -> None:
    """Replace something that must be there, so that a rule that has moved is not left whole."""
    if not hasattr(owner, name):
        raise AttributeError(f"{owner} has no {name}; correct the mutation")
    setattr(owner, name, broken)


def consumed_ignored() -> None:
    """An answer that LangGraph holds is sent again."""
    _put(heads.Head, "consumed", lambda *_: False)


def bare_resume() -> None:
    """A single answer is sent without saying which question it is for."""
    keyed = driver._Drive._given

    def given(self: Any, move: moves.Move) -> Any:
        found = keyed(self, move)
        if isinstance(found, Command) and isinstance(found.resume, dict) and len(found.resume) == 1:
            return Command(resume=next(iter(found.resume.values())))
        return found

    _put(driver._Drive, "_given", given)


def fence_off() -> None:
    """Savers write whoever holds the lease; progress is noted all the same."""
    unchecked = (
        "WITH given (run, fence, saved) AS (SELECT %s::uuid, %s::bigint, %s) UPDATE runs_lease"
        " SET progress_at = clock_timestamp() FROM given WHERE run_id = run AND saved"
    )
    _put(savers, "CHECK", unchecked)


def half_finished_output() -> None:
    """What a failed task had written stays."""
    _put(savers, "without_half_finished_output", lambda writes: writes)


def wakes_not_compared() -> None:
    """Who ends a drive takes every wake-up for seen."""
    compared = driver._Drive._end

    def end(self: Any, look: leases.Look, head: Any, move: moves.Move) -> Any:
        with transaction.atomic():
            wakes = leases.lock(self.mine.lease)
            now = leases.Look(
                held=look.held,
                wakes=wakes,
                cancel_asked=look.cancel_asked,
                ask_again=look.ask_again,
                asked=look.asked,
                saved=look.saved,
            )
            return compared(self, now, head, move)

    _put(driver._Drive, "_end", end)


def finished_without_next() -> None:
    """A run counts as finished when LangGraph names no next node."""

    def finished(self: heads.Head) -> bool:
        return self.exists and not self.idle and not self.pending and not self.lost

    _put(heads.Head, "finished", property(finished))


def delivered_once() -> None:
    """An answer that was handed over once is never handed over again."""
    _put(rounds, "UNDER_WAY", (Delivery.RECORDED,))


def saved_late() -> None:
    """Checkpoints are saved in the background."""
    synced = driver._Drive._options

    def options(self: Any, move: moves.Move) -> dict[str, Any]:
        return {**synced(self, move), "durability": "async"}

    _put(driver._Drive, "_options", options)


def first_step_at_once() -> None:
    """The first step of an @entrypoint runs while its checkpoint is being saved."""
    _put(graphs.Agent, "begins_at_once", False)


def started_again() -> None:
    """After a crash the run starts again with its input, whatever was saved."""
    whole, named = moves.next_move, driver._Drive._config

    def next_move(facts: moves.Facts) -> moves.Move:
        move = whole(facts)
        return moves.Start() if isinstance(move, moves.Continue) else move

    def config(self: Any) -> Any:
        # With the run's id in the metadata LangGraph goes on where the thread is.
        return {**named(self), "metadata": {"fence": self.mine.lease.fence}}

    _put(moves, "next_move", next_move)
    _put(driver._Drive, "_config", config)


def not_strict() -> None:
    """LangGraph's strict resume is off."""
    _put(driver, "STRICT", "strict_is_off")


def all_answers_after_an_error() -> None:
    """After an error, all answers go in one call."""
    whole = moves.next_move

    def next_move(facts: moves.Facts) -> moves.Move:
        move = whole(facts)
        return moves.Resume(facts.answers.ready) if isinstance(move, moves.Resume) else move

    _put(moves, "next_move", next_move)


def stale_head() -> None:
    """The lease is not looked at after the graph has returned."""
    _put(leases, "look", partial(_look_held, leases.look))


def _look_held(look: Callable[[Lease], leases.Look], lease: Lease) -> leases.Look:
    seen = look(lease)
    return leases.Look(
        held=True,
        wakes=seen.wakes,
        cancel_asked=seen.cancel_asked,
        ask_again=seen.ask_again,
        asked=seen.asked,
        saved=seen.saved,
    )


MUTATIONS: dict[str, Callable[[], None]] = {
    mutation.__name__: mutation
    for mutation in (
        consumed_ignored,
        bare_resume,
        fence_off,
        half_finished_output,
        wakes_not_compared,
        finished_without_next,
        delivered_once,
        saved_late,
        first_step_at_once,
        started_again,
        not_strict,
        all_answers_after_an_error,
        stale_head,
    )
}


def apply(name: str) -> None:
    """Break the rule of this name; nothing for an empty name."""
    if name:
        MUTATIONS[name]()
