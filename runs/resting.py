"""How a drive ends: the run comes to rest, the lease is given back, the attempt is closed.

One transaction, with run and lease locked and the fence checked by the caller (`leases.lock`), and
with `wakes` compared: nothing that happened meanwhile is overlooked.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop as noop

from accounts import speech
from accounts.actors import Actor
from audit import canonical, trail
from runs import dispatch, history, leases, moves, ports, status
from runs.authority import Lease
from runs.heads import Head
from runs.models import Run
from runs.moves import Failure
from runs.registry import Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The last transaction of one drive."""

    lease: Lease
    look: leases.Look
    head: Head | None
    declared: Declaration | None
    """Of the agent; None: this worker does not know it."""
    failure: Failure | None
    """How the last call of the graph raised."""
    due_at: datetime | None
    """When an earlier error's retry is due, if something woke the run before."""
    drained: str
    """Why the graph was asked to stop, if it was."""

    def act(self, move: moves.Move) -> status.Outcome:
        match move:
            case moves.Cancel():
                return self._cancel()
            case moves.Finish():
                return self._finish()
            case moves.Wait():
                return self._wait()
            case moves.Park(reason, detail):
                return self._park(reason, detail)
            case moves.Release(to):
                return self._release(to)
            case moves.RetryLater(failure):
                return self._retry_later(failure)
            case moves.Fail(failure):
                return self._fail(failure)
            case _:
                raise AssertionError(f"{move} does not end a drive")

    def _cancel(self) -> status.Outcome:
        self._withdraw(noop("the run was cancelled"))
        self._record("run.cancelled")
        return self._rest(status.Outcome.CANCELLED, status.Status.CANCELLED)

    def _finish(self) -> status.Outcome:
        self._withdraw(noop("the run has ended"))
        self._record("run.finished")
        output = canonical.visible(self.head.values) if self.head else None
        return self._rest(status.Outcome.FINISHED, status.Status.SUCCEEDED, output=output)

    def _wait(self) -> status.Outcome:
        if self.head is None:
            raise AssertionError("only a head can ask")
        deadline = ports.approvals().open(self._run(), self.head)
        self._record("run.waiting")
        return self._rest(status.Outcome.WAITED, status.Status.WAITING, wait_until=deadline)

    def _park(self, reason: status.Park, detail: str) -> status.Outcome:
        if reason is status.Park.PAYLOAD_UNSTABLE and self.head is not None:
            ports.approvals().open(self._run(), self.head)  # closes what nobody should decide now
        self._record("run.parked", reason=detail, data={"park": reason.value})
        return self._rest(
            status.Outcome.PARKED,
            status.Status.PARKED,
            detail=speech.kept(reason.label),
            park=reason,
            park_detail=detail,
        )

    def _release(self, to: str) -> status.Outcome:
        dispatch.ring(self.lease.run_id, cause=noop("handed on"), to=to)
        if to:
            detail = f"{history.HANDED_ON} {to}"
            return self._rest(status.Outcome.RELEASED, status.Status.QUEUED, detail=detail)
        return self._rest(status.Outcome.DRAINED, status.Status.QUEUED, detail=self.drained)

    def _retry_later(self, failure: Failure) -> status.Outcome:
        past = history.EMPTY
        if self.declared is not None:
            past = history.at(self.lease.run_id, self._mark, declared=self.declared)
        delay = failure.retry_after if failure.retry_after is not None else backoff(past.errors)
        due_in = timedelta(seconds=delay)
        if self.failure is not None:
            return self._rest(
                status.Outcome.RAISED, status.Status.QUEUED, failure=failure, due_in=due_in
            )
        # The error is an earlier attempt's: something woke the run before its retry is due.
        return self._rest(
            status.Outcome.RELEASED,
            status.Status.QUEUED,
            detail=noop("its retry is not due yet"),
            due_at=self.due_at,
            due_in=due_in,
        )

    def _fail(self, failure: Failure) -> status.Outcome:
        self._withdraw(noop("the run has failed"))
        self._record("run.failed", reason=f"{failure.error_class}: {failure.error}")
        return self._rest(status.Outcome.RAISED, status.Status.FAILED, failure=failure)

    def _withdraw(self, reason: str) -> None:
        if self.look.asked:
            ports.approvals().withdraw(self._run(), reason)

    @property
    def _mark(self) -> str:
        return self.head.mark if self.head else ""

    def _run(self) -> Run:
        return Run.objects.get(pk=self.lease.run_id)

    def _rest(
        self,
        outcome: status.Outcome,
        rests_as: status.Status,
        *,
        failure: Failure | None = None,
        **more: Any,  # Any: fields of Ending
    ) -> status.Outcome:
        leases.give_back(
            self.lease,
            leases.Ending(
                outcome=outcome,
                rests_as=rests_as,
                seen_wakes=self.look.wakes,
                head=self._mark,
                failure=failure or self.failure,
                **more,
            ),
        )
        return outcome

    def _record(self, verb: str, *, reason: str = "", data: object = None) -> None:
        trail.record(
            verb,
            actor=Actor.system(self.lease.holder),
            target=("run", str(self.lease.run_id)),
            run_id=self.lease.run_id,
            reason=reason,
            data=data,
        )


def backoff(errors_before: int) -> float:
    """Seconds to wait after an error: doubled each time, capped, and spread by half."""
    base: float = settings.RUNS_BACKOFF.total_seconds() * 2 ** min(errors_before, 20)
    capped = min(base, settings.RUNS_BACKOFF_CAP.total_seconds())
    return capped * random.uniform(0.5, 1.0)  # noqa: S311 (spreads load, guards nothing)
