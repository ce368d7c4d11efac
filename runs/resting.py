"""How a drive ends: the run comes to rest, the lease is given back, the attempt is closed.

One transaction, with run and lease locked and the fence checked by the caller (`leases.lock`), and
with `wakes` compared: nothing that happened meanwhile is overlooked.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models.functions import Now

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
        self._withdraw("the run was cancelled")
        self._record("run.cancelled")
        self._rest(status=status.Status.CANCELLED, ended_at=Now())
        return self._give_back(status.Outcome.CANCELLED)

    def _finish(self) -> status.Outcome:
        self._withdraw("the run has ended")
        self._record("run.finished")
        output = canonical.visible(self.head.values) if self.head else None
        self._rest(status=status.Status.SUCCEEDED, ended_at=Now(), output=output)
        return self._give_back(status.Outcome.FINISHED)

    def _wait(self) -> status.Outcome:
        if self.head is None:
            raise AssertionError("only a head can ask")
        deadline = ports.approvals().open(self._run(), self.head)
        self._record("run.waiting")
        self._rest(status=status.Status.WAITING, wait_until=deadline, asked=True)
        return self._give_back(status.Outcome.WAITED)

    def _park(self, reason: status.Park, detail: str) -> status.Outcome:
        if reason is status.Park.PAYLOAD_UNSTABLE and self.head is not None:
            ports.approvals().open(self._run(), self.head)  # closes what nobody should decide now
        self._record("run.parked", reason=detail, data={"park": reason.value})
        self._rest(status=status.Status.PARKED, park_reason=reason, park_detail=detail)
        return self._give_back(status.Outcome.PARKED, detail=reason.label)

    def _release(self, to: str) -> status.Outcome:
        self._rest(status=status.Status.QUEUED)
        dispatch.ring(self.lease.run_id, cause="handed on", to=to)
        if to:
            return self._give_back(status.Outcome.RELEASED, detail=f"handed on to {to}")
        return self._give_back(status.Outcome.DRAINED, detail=self.drained)

    def _retry_later(self, failure: Failure) -> status.Outcome:
        past = history.EMPTY
        if self.declared is not None:
            past = history.at(self.lease.run_id, self._mark, declared=self.declared)
        delay = failure.retry_after if failure.retry_after is not None else backoff(past.errors)
        due = Now() + timedelta(seconds=delay)
        if self.failure is None:
            # The error is an earlier attempt's: something woke the run before its retry is due.
            self._rest(status=status.Status.QUEUED, due_at=self.due_at or due)
            return self._give_back(status.Outcome.RELEASED, detail="its retry is not due yet")
        self._rest(status=status.Status.QUEUED, due_at=due)
        return self._give_back(status.Outcome.RAISED, failure=failure)

    def _fail(self, failure: Failure) -> status.Outcome:
        self._withdraw("the run has failed")
        self._record("run.failed", reason=f"{failure.error_class}: {failure.error}")
        self._rest(
            status=status.Status.FAILED,
            ended_at=Now(),
            error_class=failure.error_class[:200],
            error=failure.error,
        )
        return self._give_back(status.Outcome.RAISED, failure=failure)

    def _withdraw(self, reason: str) -> None:
        if self.look.asked:
            ports.approvals().withdraw(self._run(), reason)

    @property
    def _mark(self) -> str:
        return self.head.mark if self.head else ""

    def _run(self) -> Run:
        return Run.objects.get(pk=self.lease.run_id)

    def _rest(self, **changes: object) -> None:
        Run.objects.filter(pk=self.lease.run_id).update(
            seen_wakes=self.look.wakes, updated_at=Now(), **changes
        )

    def _give_back(
        self,
        outcome: status.Outcome,
        *,
        detail: str = "",
        failure: Failure | None = None,
    ) -> status.Outcome:
        leases.give_back(
            self.lease,
            leases.Ending(
                outcome=outcome,
                head=self._mark,
                detail=detail,
                failure=failure or self.failure,
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
