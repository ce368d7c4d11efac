"""Driving a run: take the lease, then look, decide and act until there is nothing left to do.

    drive(run_id) = take the lease → loop { look → read the head → next_move → act } → give back

1. The only caller of the graph. What to do is decided by `moves.next_move` alone.
2. `wakes` is read before the head. Whatever ends a drive is one transaction that locks the run and
   compares: if it rose meanwhile, look again. So no wake-up is lost.
3. A checkpoint is only ever written under the fence. After every exit of the graph, normal or not,
   the lease is checked again before anything is concluded.
4. Answers go to LangGraph keyed by interrupt id, in strict mode, and never twice once LangGraph
   holds them.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained, UnknownInterruptError
from langgraph.runtime import RunControl
from langgraph.types import Command

from runs import (
    authority,
    checkpoints,
    errors,
    failures,
    graphs,
    heads,
    history,
    killpoints,
    leases,
    moves,
    ports,
    resting,
    savers,
    status,
    stop,
    workers,
)
from runs.authority import Authority
from runs.heads import Head
from runs.heartbeat import heart
from runs.models import Run

logger = logging.getLogger(__name__)

STRICT = "__pregel_strict_resume"
"""LangGraph's switch that makes an answer to a question nobody asks an error; see runs.fitness."""
HAND_ONS = 10
"""Workers in a row that may hand a run on to one that offers its version, before it is parked."""
NO_PROGRESS = 3
"""Calls in a row that return normally and change nothing, before the run fails."""


def drive(run_id: UUID, *, holder: str, cause: str) -> status.Outcome | None:
    """Drive the run as far as it goes and return how the attempt ended.

    None: there was nothing to do, somebody else drives it, or the lease was lost on the way.
    """
    taken = leases.take(run_id, holder=holder, cause=cause)
    if taken is None:
        return None
    killpoints.reach("driver.taken", run_id)
    margin = settings.RUNS_LEASE - settings.RUNS_LEASE_MARGIN
    control = RunControl()
    mine = Authority(
        lease=taken.lease,
        agent=taken.agent,
        deadline=taken.taken_at + margin.total_seconds(),
        control=control,
    )
    drive_ = _Drive(taken=taken, mine=mine, control=control)
    with heart.keep(mine, drive_.stall_after()):
        try:
            return drive_.run()
        except errors.LeaseLost:
            logger.warning("run %s: fence %s was taken over", run_id, taken.lease.fence)
            return None


@dataclass(slots=True, kw_only=True)
class _Drive:
    """One holding of the lease."""

    taken: leases.Taken
    mine: Authority
    control: RunControl
    agent: graphs.Agent | None = None
    unfit: str = ""
    unreadable: str = ""
    failure: moves.Failure | None = None
    first_look: leases.Look | None = None
    saved: bool = False
    unchanged: int = 0
    signature: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        self.first_look = self.taken.look
        try:
            self.agent = graphs.load(self.taken.agent)
        except errors.RunsError as exc:
            self.unfit = str(exc)

    @property
    def run_id(self) -> UUID:
        return self.taken.lease.run_id

    def stall_after(self) -> float:
        declared = self.agent and self.agent.declared.stall_after
        return (declared or settings.RUNS_STALL_AFTER).total_seconds()

    # --- the loop ---------------------------------------------------------------------------------

    def run(self) -> status.Outcome:
        while True:
            look = self._look()
            head = self._head()
            facts = self._facts(look, head)
            move = moves.next_move(facts)
            match move:
                case moves.Start() | moves.Continue() | moves.Resume():
                    if self.mine.control.drain_requested:
                        outcome = self._end(look, head, moves.Release(""))
                    else:
                        self._call(move, head)
                        continue
                case moves.AskAgain():
                    self._ask_again()
                    continue
                case moves.AskAnew():
                    self._ask_anew()
                    continue
                case _:
                    outcome = self._end(look, head, move)
            if outcome is not None:
                return outcome

    def _look(self) -> leases.Look:
        """The run's facts, read before the head. Raises LeaseLost."""
        look, self.first_look = self.first_look or leases.look(self.mine.lease), None
        if not look.held:
            raise errors.LeaseLost
        self.saved = look.saved
        return look

    def _head(self) -> Head | None:
        """Where the run stands; None if this worker cannot read it."""
        if self.agent is None or self._fit() is not moves.Fit.FITS:
            return None
        lost = self.taken.lost_fence
        if lost is not None and history.unseen(self.run_id) >= settings.RUNS_CRASH_LIMIT:
            return None
        # Every checkpoint notes its progress on the lease; without any there is nothing to read.
        head = self._read(self.agent) if self.saved else heads.ABSENT
        if head is not None and lost is not None:
            history.note_lost(self.run_id, lost, head.mark)
            self.taken = replace(self.taken, lost_fence=None)
        return head

    def _read(self, agent: graphs.Agent) -> Head | None:
        reader = savers.Reader(checkpoints.pool())
        graph = agent.saving(reader)
        killpoints.reach("driver.before_read", self.run_id)
        try:
            return heads.read(graph, self._config())
        except Exception as exc:
            failure = failures.classify(exc, agent.declared)
            if failure.transient:
                raise
            logger.exception("run %s: its saved state cannot be read", self.run_id)
            why = f"{failure.error_class}: {failure.error}"
            self.unreadable = f"the saved state cannot be read: {why}"
            return None

    def _facts(self, look: leases.Look, head: Head | None) -> moves.Facts:
        answers = ports.Answers()
        if head is not None and look.asked:
            answers = ports.approvals().read(self.run_id, head)
        if head is not None and answers.under_way:
            ports.approvals().note_delivered(self.mine.lease, head)
        past = history.EMPTY
        if head is not None and self.agent and self.taken.lease.fence > 1:
            past = history.at(self.run_id, head.mark, declared=self.agent.declared)
        fit = self._fit()
        hindrances = ports.ledger().hindrances(self.run_id, self.taken.agent)
        return moves.Facts(
            head=head,
            answers=answers,
            cancel_asked=look.cancel_asked,
            ask_again=look.ask_again,
            saved_before=look.saved,
            in_doubt=hindrances.in_doubt,
            stopped=hindrances.stopped,
            drifted=hindrances.drifted,
            fit=fit,
            right_worker="" if fit is moves.Fit.FITS else self._right_worker(),
            failure=self._failure(past),
            retrying=past.retrying,
            crash_loop=past.lost >= settings.RUNS_CRASH_LIMIT,
            why_unfit=self.unfit or self.unreadable,
        )

    def _right_worker(self) -> str:
        """Who can drive the run instead; nobody, if those who should could not either."""
        if self.unreadable:
            return ""
        if history.handed_on(self.run_id) >= HAND_ONS:
            self.unfit = self.unfit or f"{HAND_ONS} workers in a row could not drive this run"
            return ""
        return workers.offering(self.taken.agent, self.taken.version)

    def _fit(self) -> moves.Fit:
        if self.agent is None:
            return moves.Fit.UNKNOWN
        fits = self.agent.declared.fits(self.taken.version) and not self.unreadable
        return moves.Fit.FITS if fits else moves.Fit.OTHER

    def _failure(self, past: history.History) -> moves.Failure | None:
        """The error of this drive's last call, or the one that an earlier attempt left behind."""
        if self.failure is None or self.agent is None:
            return past.failure
        tried = past.errors + (not self.failure.free)
        return replace(self.failure, tries_left=tried < history.tries(self.agent.declared))

    # --- calling the graph ------------------------------------------------------------------------

    def _config(self) -> RunnableConfig:
        limit = self.agent and self.agent.declared.recursion_limit
        return {
            "configurable": {"thread_id": str(self.run_id), STRICT: True},
            "metadata": {"run_id": str(self.run_id), "fence": self.mine.lease.fence},
            "recursion_limit": limit or settings.RUNS_RECURSION_LIMIT,
        }

    def _call(self, move: moves.Move, head: Head | None) -> None:
        """Invoke the graph once; an error becomes `self.failure`."""
        given = self._given(move)
        killpoints.reach("driver.before_call", self.run_id)
        self.failure = None
        try:
            with authority.using(self.mine):
                self._invoke(given, self._options(move))
        except GraphDrained:
            return
        except UnknownInterruptError as exc:
            logger.info("run %s: the question has changed meanwhile: %s", self.run_id, exc)
        except (Exception, SystemExit) as exc:  # an agent's exit is its run's, not the worker's
            self._note_failure(exc, head)
            return
        if not self._progresses(head):
            self.failure = moves.Failure(
                error_class=stop.NO_PROGRESS,
                error="The graph returns without doing anything at this step.",
                transient=False,
                tries_left=False,
            )

    def _given(self, move: moves.Move) -> Any:
        match move:
            case moves.Start():
                return self.taken.input
            case moves.Resume(answers):
                ports.approvals().hand_over(self.mine.lease, answers)
                killpoints.reach("driver.handed_over", self.run_id)
                return Command(resume={a.interrupt_id: a.value for a in answers})
            case _:
                return None

    def _options(self, move: moves.Move) -> dict[str, Any]:
        options: dict[str, Any] = {"durability": "sync", "control": self.control}
        if isinstance(move, moves.Start) and self.agent and self.agent.begins_at_once:
            # LangGraph would run the first step while its checkpoint is still being saved. Were it
            # lost, the step would run again as another task, with other keys for its effects. So
            # this call saves the checkpoint and runs nothing; the next one continues.
            options["interrupt_before"] = "*"
        return options

    def _invoke(self, given: Any, options: dict[str, Any]) -> None:
        if self.agent is None:
            raise errors.UnknownAgent
        if self.agent.is_async:
            work = self._ainvoke(given, options)
            asyncio.run_coroutine_threadsafe(work, checkpoints.loop()).result()
            return
        saver = savers.FencedSaver(checkpoints.pool(), self.mine.lease)
        self.agent.saving(saver).invoke(given, self._config(), **options)

    async def _ainvoke(self, given: Any, options: dict[str, Any]) -> None:
        if self.agent is None:
            raise errors.UnknownAgent
        saver = savers.AsyncFencedSaver(await checkpoints.async_pool(), self.mine.lease)
        await self.agent.saving(saver).ainvoke(given, self._config(), **options)

    def _note_failure(self, exc: BaseException, before: Head | None) -> None:
        if self.agent is None:
            raise exc
        failure = failures.classify(exc, self.agent.declared)
        level = logging.INFO if failure.park or failure.free else logging.WARNING
        logger.log(level, "run %s: %s: %s", self.run_id, failure.error_class, failure.error)
        waits = failure.park in (status.Park.EFFECT_IN_DOUBT, status.Park.DRIFT)
        # What it waits for is a fact of the ledger's, read there anew: it may be settled by now.
        if not (waits and self._progresses(before)):
            self.failure = failure

    def _progresses(self, before: Head | None) -> bool:
        """Whether the calls of the graph still change something; `before`: the head of this one."""
        signature = _signature(before) if before else ()
        self.unchanged = self.unchanged + 1 if signature == self.signature else 0
        self.signature = signature
        return self.unchanged < NO_PROGRESS

    def _ask_again(self) -> None:
        """Cut the answers that LangGraph holds, then give up the decisions they came from.

        In this order: if the process dies in between, the run is still marked and this is repeated.
        """
        saver = savers.FencedSaver(checkpoints.pool(), self.mine.lease)
        heads.forget(saver, str(self.run_id), ports.approvals().held(self.run_id))
        with transaction.atomic():
            leases.lock(self.mine.lease)
            run = Run.objects.get(pk=self.run_id)
            ports.approvals().forget(run)
            Run.objects.filter(pk=self.run_id).update(ask_again=False, updated_at=Now())
        self.failure = None

    def _ask_anew(self) -> None:
        """Cut the answers that nodes did not want, and their questions: those nodes run again.

        In this order: if the process dies in between, it is cut once more.
        """
        saver = savers.FencedSaver(checkpoints.pool(), self.mine.lease)
        asked = ports.approvals().outdated(self.run_id)
        heads.forget(saver, str(self.run_id), asked, questions=True)
        with transaction.atomic():
            leases.lock(self.mine.lease)
            ports.approvals().note_cut(self.run_id)
        self.failure = None

    # --- ending the drive -------------------------------------------------------------------------

    def _end(self, look: leases.Look, head: Head | None, move: moves.Move) -> status.Outcome | None:
        """Give the lease back with what `move` says; None if the run was woken meanwhile."""
        with transaction.atomic():
            wakes = leases.lock(self.mine.lease)
            if wakes != look.wakes:
                return None
            return resting.Rest(
                lease=self.mine.lease,
                look=look,
                head=head,
                declared=self.agent.declared if self.agent else None,
                failure=self.failure,
                due_at=self.taken.due_at,
                drained=self.control.drain_reason or "",
            ).act(move)


def _signature(head: Head) -> tuple[object, ...]:
    return (head.mark, tuple(sorted(head.pending)), tuple(sorted(head.held.items())), head.idle)
