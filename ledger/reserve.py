"""Reserving: may this call be made now, and if so, the mark that it was started.

One transaction under the run's fence, which ends in one of:

    Told      it is decided: the stored result, or the stored refusal; no call
    Started   a call was marked as started and committed; only now may it leave the process
    Attend    another branch of this driver is calling: wait for it
    Rest      too early to call or to ask again
    Ask       the provider has to be asked whether it happened
    Blocked   the end of an earlier effect's call is not known: that one first

or raises. In this order:

1. The lease is held, or LeaseGone.
2. Same key, other call: EffectConflict.
3. The latch: while any effect of the run is in doubt, EffectInDoubt, also for what is decided, and
   Drifted while the run waits for somebody to accept drift. User code can swallow our exception and
   go on; the run has to stop all the same.
4. What is decided is told, whatever else is forbidden: telling changes nothing outside.
5. A call may be started only if nobody asked to cancel, the run is not read-only, no emergency stop
   is on, and its permit is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction

from accounts import clock
from accounts.actors import Actor
from audit import trail
from audit.canonical import Json
from ledger import errors, facts, keys, ports, refusals, registry, rows, rules, status, stops
from ledger.drift import finding
from ledger.facts import Standing
from ledger.keys import Intent
from ledger.models import Effect, EffectAttempt, Incident
from ledger.registry import Tool
from ledger.seen import OPEN_ENDED, Ask, Seen
from runs import leases
from runs.errors import LeaseLost
from runs.models import Run
from runs.stop import StopRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    tool: Tool
    token: UUID
    provider_key: str
    args: dict[str, Json]
    """As stored: what is called now is what would be called again."""
    deadline: float
    """On this process's monotonic clock: the call has to be over by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attend:
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    seconds: float
    in_place: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    by: Intent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """Raised after the transaction, so that what was recorded about it stays."""

    error: Exception


Taken = Told | Started | Attend | Rest | Ask | Blocked
_Got = Taken | _Refusal
Alive = Callable[[str], bool]


def take(intent: Intent, alive: Alive) -> Taken:
    """Look at the effect under the fence and do what its state allows; see the module.

    `alive(key)`: whether a thread of this process is busy with that effect under this fence.
    """
    if connection.in_atomic_block or not connection.get_autocommit():
        raise errors.InsideTransaction
    needs_permit = (
        intent.tool is not None and not intent.ordered and intent.tool.needs_permit(intent.args)
    )
    try:
        with transaction.atomic(durable=True):
            got = _Reservation(intent=intent, needs_permit=needs_permit).take(alive)
    except LeaseLost as exc:
        raise refusals.LeaseGone from exc
    except (OperationalError, InterfaceError):
        connection.close()  # a broken connection does not recover by itself
        raise
    except IntegrityError as exc:
        if "permit" not in str(exc):
            raise
        raise refusals.PermitMissing from exc
    if isinstance(got, _Refusal):
        raise got.error
    return got


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reservation:
    """One such transaction."""

    intent: Intent
    needs_permit: bool

    def take(self, alive: Alive) -> _Got:
        intent = self.intent
        leases.lock(intent.authority.lease)
        effect = Effect.objects.select_for_update(no_key=True).filter(pk=intent.key).first()
        if effect is not None and not self._same_call(effect):
            return self._conflict(effect)
        if effect is not None:
            finding.reached(effect, intent)
        doubtful = Effect.objects.filter(
            run_id=intent.run_id, status=status.Status.IN_DOUBT
        ).first()
        if doubtful is not None:
            return self._latched(doubtful, effect)
        drifted = finding.stopped(intent)
        if drifted is not None:
            return _Refusal(error=drifted)
        if effect is not None and effect.status != status.Status.PENDING:
            return Told(standing=facts.standing(effect))
        if effect is None:
            return self._blocked(alive) or self._new()
        return self._found(effect, alive)

    # --- what was found ---------------------------------------------------------------------------

    def _same_call(self, effect: Effect) -> bool:
        intent = self.intent
        return (effect.run_id, effect.tool, effect.args_hash) == (
            intent.run_id,
            intent.tool_name,
            intent.args_hash,
        )

    def _new(self) -> _Got:
        intent, tool = self.intent, self.intent.tool
        if tool is None:
            raise AssertionError("only a declared tool is asked for")
        drifted = finding.notice(intent, tool)
        if drifted is not None:
            return self._refuse(drifted, None)
        permit, refusal = self._may_start(None)
        if refusal is not None:
            return refusal
        effect = Effect.objects.create(
            idempotency_key=intent.key,
            run_id=intent.run_id,
            step=intent.step,
            tool=tool.name,
            idempotency=tool.idempotency,
            args=intent.args,
            args_hash=intent.args_hash,
            redact=sorted(tool.redact),
            provider_key="",
            permit=permit,
            fence=intent.fence,
            reached_fence=intent.fence,
            look_at=rows.first_look(tool),
            undo=tool.undo,
        )
        effect.refresh_from_db()  # the arguments as they will be read after a crash
        return self._mark(effect, tool, keys.for_provider(intent.key, run_id=intent.run_id))

    def _found(self, effect: Effect, alive: Alive) -> _Got:
        now = clock.now()
        calls = list(effect.calls.order_by("number"))
        seen = Seen(effect=effect, calls=calls, tool=self.intent.tool, now=now)
        if self.intent.resolving and not seen.open_ended:
            return Told(standing=facts.standing(effect))
        step = rules.next_step(seen.found(self.intent.fence))
        last = calls[-1] if calls else None
        if last and last.outcome == status.Outcome.OPEN and not isinstance(step, rules.Attend):
            facts.give_up_on(last, "its worker was lost, or it took longer than it may")
        match step:
            case rules.Attend():
                return Attend(seconds=seen.left)
            case rules.Rest(seconds=seconds, in_place=in_place):
                return Rest(seconds=seconds, in_place=in_place, why=effect.error)
            case rules.Doubt(reason=reason):
                facts.doubt(effect, reason, actor=self._actor)
                return _Refusal(error=in_doubt(effect.tool, effect.error))
            case rules.Ask():
                return seen.ask()
            case rules.Call(new_key=True):
                return self._blocked(alive) or self._again(effect, new_key=True)
            case rules.Call():
                return self._again(effect, new_key=False)

    def _again(self, effect: Effect, *, new_key: bool) -> _Got:
        tool = self.intent.tool
        if tool is None:
            raise AssertionError("an unknown tool guards nothing, so its effect was put in doubt")
        permit, refusal = self._may_start(effect)
        if refusal is not None:
            return refusal
        if permit is not None:
            rows.change(effect, permit=permit)
        if not new_key:
            return self._mark(effect, tool, effect.provider_key)
        number = keys.number_of(effect.provider_key) + 1
        fresh = keys.for_provider(effect.idempotency_key, run_id=self.intent.run_id, number=number)
        rows.change(effect, idempotency=tool.idempotency)
        return self._mark(effect, tool, fresh)

    def _mark(self, effect: Effect, tool: Tool, provider_key: str) -> Started:
        """Write that a call is started. Its time runs from before this."""
        lease = self.intent.authority.lease
        began, now = time.monotonic(), clock.now()
        attempt = EffectAttempt.objects.create(
            effect=effect,
            number=effect.attempts + 1,
            provider_key=provider_key,
            fence=lease.fence,
            holder=lease.holder,
            started_at=now,
            timeout_at=now + tool.call_timeout,
        )
        same = provider_key == effect.provider_key and effect.first_started_at is not None
        rows.change(
            effect,
            attempts=attempt.number,
            provider_key=provider_key,
            fence=lease.fence,
            retry_allowed=False,
            retry_at=None,
            first_started_at=effect.first_started_at if same else now,
        )
        return Started(
            tool=tool,
            token=attempt.token,
            provider_key=provider_key,
            args=dict(effect.args),
            deadline=began + tool.call_timeout.total_seconds(),
        )

    def _blocked(self, alive: Alive) -> Blocked | None:
        """Before something new: is there a call whose end nobody knows and nobody waits for?"""
        others = Effect.objects.filter(run_id=self.intent.run_id, status=status.Status.PENDING)
        for effect in others.exclude(pk=self.intent.key).order_by("created_at", "uid"):
            if alive(effect.idempotency_key):
                continue
            open_ended = effect.calls.filter(outcome__in=OPEN_ENDED).order_by("-number")
            last = open_ended.first()
            if last is not None and not self._called_now(last):
                return Blocked(by=self.intent.resolve(effect, registry.find(effect.tool)))
        return None

    def _called_now(self, attempt: EffectAttempt) -> bool:
        return (
            attempt.outcome == status.Outcome.OPEN
            and attempt.fence == self.intent.fence
            and attempt.timeout_at > clock.now()
        )

    # --- refusing ---------------------------------------------------------------------------------

    def _may_start(self, effect: Effect | None) -> tuple[UUID | None, _Refusal | None]:
        """The permit to use, if one is needed and not there yet, and what forbids the call."""
        run = Run.objects.only("read_only", "cancel_asked_at").get(pk=self.intent.run_id)
        if run.cancel_asked_at is not None and not self.intent.ordered:
            return None, _Refusal(error=refusals.CancelAsked())
        if run.read_only and not self.intent.ordered:
            return None, self._refuse(refusals.ReadOnly(), effect)
        stop = stops.applies(self.intent.tool_name, self.intent.authority.agent)
        if stop is not None:
            said = f"{stop.get_scope_display()}: {stop.name}" if stop.name else "Everything"
            error = refusals.EmergencyStopped(
                f"Stopped by {stop.set_by} ({said}): {stop.reason} The run goes on when the stop"
                " is lifted."
            )
            return None, self._refuse(error, effect)
        if not self.needs_permit or (effect is not None and effect.permit is not None):
            return None, None
        permit = self._unused_permit()
        if permit is None:
            return None, self._refuse(refusals.PermitMissing(), effect)
        return permit, None

    def _unused_permit(self) -> UUID | None:
        intent = self.intent
        found = ports.permits().find(intent.run_id, intent.tool_name, intent.args_hash)
        if found is None or Effect.objects.filter(permit=found).exists():
            return None
        return found

    def _latched(self, doubtful: Effect, effect: Effect | None) -> _Refusal:
        error = in_doubt(doubtful.tool, doubtful.error)
        if doubtful.idempotency_key == self.intent.key:
            return _Refusal(error=error)
        return self._refuse(error, effect)

    def _conflict(self, effect: Effect) -> _Refusal:
        """Same key, another call. Told once per pair, however often the agent tries."""
        intent = self.intent
        error = errors.EffectConflict(
            f"The key {intent.key!r} already stands for {effect.tool} with other arguments or in"
            f" another run, and came back as {intent.tool_name}. Nothing was sent. Correct the"
            " agent: one key stands for one effect."
        )
        pair = {"tool": intent.tool_name, "args_hash": intent.args_hash, "run": str(intent.run_id)}
        known = Incident.objects.filter(
            effect=effect, kind=Incident.Kind.CONFLICT, facts__contains=pair
        )
        if not known.exists():
            told: dict[str, object] = {
                **pair,
                "step": intent.step,
                "stored_hash": effect.args_hash,
            }
            Incident.objects.create(
                kind=Incident.Kind.CONFLICT,
                run_id=intent.run_id,
                effect=effect,
                facts={**told, "args": intent.args, "stored": effect.args},
            )
            # Without the arguments: nobody could take them out of the audit log again.
            self._record("effect.conflict", effect, str(error), told)
        return _Refusal(error=error)

    def _refuse(self, error: StopRun, effect: Effect | None) -> _Refusal:
        data = {
            "args_hash": self.intent.args_hash,
            "step": self.intent.step,
            "fence": self.intent.fence,
            "why": type(error).__name__,
        }
        self._record("effect.refused", effect, str(error), data)
        return _Refusal(error=error)

    def _record(
        self, verb: str, effect: Effect | None, reason: str, data: dict[str, object]
    ) -> None:
        tool, key = self.intent.tool_name, self.intent.key
        trail.record(
            verb,
            actor=self._actor,
            target=("effect", str(effect.uid)) if effect else ("tool", tool),
            run_id=self.intent.run_id,
            allowed=False,
            reason=reason,
            data={"key": key, "tool": tool, **data},
        )

    @property
    def _actor(self) -> Actor:
        return Actor.system(self.intent.authority.lease.holder)


def in_doubt(tool: str, why: str) -> refusals.EffectInDoubt:
    return refusals.EffectInDoubt(f"{tool}: {why} Settle the effect; the run then goes on.")
