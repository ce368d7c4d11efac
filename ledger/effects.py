"""Performing an effect: reserve, check, mark as started, call, settle.

    perform(intent) = loop { reserve under the fence → told? return : rest, ask, attend, or call }

1. A call leaves this process only after its attempt is committed as started, while this process
   may still believe that it holds the lease, and within the time limit that runs from that mark. It
   need not end within the lease: whoever takes over counts with a call under way (`ledger.rules`).
2. What the node gets is what is stored: the first time, after a crash, and years later.
3. Short waits are spent here. For long ones the run is given back (`LookAgainLater`).
4. Before anything new starts, calls of the same run whose end nobody knows, and nobody waits for,
   are resolved: user code may have swallowed what the ledger raised about them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from django.db import InterfaceError, OperationalError

from audit import canonical
from audit.canonical import Json
from ledger import (
    branches,
    calls,
    errors,
    facts,
    looks,
    outcomes,
    redaction,
    refusals,
    reserve,
    rows,
    secrets,
    status,
)
from ledger.calls import Call, End, NotStarted, Pause, Steps
from ledger.facts import Standing
from ledger.keys import Intent
from ledger.models import Idempotency
from ledger.outcomes import Found, Outcome
from ledger.seen import Ask
from runs import killpoints

logger = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that a node waits in place; what takes longer gives the run back."""
SLICE = 0.25
"""Seconds after which a wait looks whether it still makes sense."""
ATTEND = 1.0
"""Seconds after which a branch looks again at a call that another one has made."""
IN_PROGRESS = 0.5
"""Seconds before a provider that works on the same key is asked again."""


def perform(intent: Intent) -> Json:
    """Make sure that the effect has happened, once, and return its stored result.

    Raises EffectFailed (refused for certain), EffectConflict, ResultNotKept; InsideTransaction,
    InsideEffect; and the StopRuns EffectInDoubt, ReadOnly, EmergencyStopped, PermitMissing,
    CancelAsked, LeaseGone and LookAgainLater.
    """
    return calls.run(_steps(intent))


async def aperform(intent: Intent) -> Json:
    """`perform` for coroutines. Cancelling it does not cancel a call under way."""
    return await calls.arun(_steps(intent))


def _steps(intent: Intent) -> Steps[Json]:
    if calls.inside():
        raise errors.InsideEffect
    return told((yield from _decide(intent)))


def told(standing: Standing) -> Json:
    """What a node learns of a decided effect: its result, or the exception that it stands for."""
    if standing.status in status.DONE:
        if standing.result_cut:
            raise errors.ResultNotKept(standing.error, reference=standing.reference)
        return standing.result
    raise errors.EffectFailed(
        f"{standing.tool} failed for certain, nothing happened outside: {standing.error}",
        tool=standing.tool,
        reason=standing.error,
        http_status=standing.http_status,
    )


def _decide(intent: Intent) -> Steps[Standing]:  # noqa: C901 (one case per answer of reserve)
    """Loop until the effect is decided; if only that is wanted, until none of its calls is open."""
    mine = intent.authority
    with branches.at(intent) as busy:
        while True:
            if not mine.may_start():
                raise refusals.LeaseGone
            news = busy.news  # before looking, so that what happens meanwhile is not missed
            match reserve.take(intent, alive=partial(branches.in_hand, intent.fence)):
                case reserve.Told(standing=standing):
                    return standing
                case reserve.Blocked(by=by):
                    yield from _decide(by)
                case reserve.Attend(seconds=seconds):
                    yield Pause(seconds=min(seconds, ATTEND), until=news)
                case reserve.Rest() as rest:
                    yield from _rest(intent, rest)
                case Ask() as ask:
                    yield from _ask(intent, ask)
                case reserve.Started() as started:
                    standing = yield from _call(intent, started)
                    busy.announce()
                    if standing.status == status.Status.IN_DOUBT:
                        raise reserve.in_doubt(standing.tool, standing.error)
                    if standing.status != status.Status.PENDING:
                        return standing


# --- calling -------------------------------------------------------------------------------------


def _call(intent: Intent, started: reserve.Started) -> Steps[Standing]:
    """Call, and record how it ended.

    Raises LeaseGone if it was too late to call, or if the database takes no facts for too long.
    """
    killpoints.reach("effect.reserved", intent.run_id)
    try:
        sent = _sent(started)
    except Exception as exc:  # whatever the source of the secrets raises
        return facts.record(started.token, _unsendable(exc))
    end = yield from _until_answered(intent, started, sent)
    if isinstance(end, NotStarted):
        facts.not_started(started.token)
        raise refusals.LeaseGone
    killpoints.reach("effect.called", intent.run_id)
    try:
        standing = facts.record(started.token, sent.outcome(end))
    except (OperationalError, InterfaceError) as exc:
        raise refusals.LeaseGone from exc
    killpoints.reach("effect.settled", intent.run_id)
    return standing


def _until_answered(intent: Intent, started: reserve.Started, sent: _Sent) -> Steps[End]:
    """Call; while the provider works on an earlier call with the key, ask again in its time."""
    tool, may_start = started.tool, intent.authority.may_start
    heard: End = NotStarted()
    while True:
        end = yield Call(
            function=tool.function,
            kwargs={**sent.args, **_passed(started)},
            deadline=started.deadline,
            may_start=may_start,
            late=partial(_late, started, sent, heard),
        )
        if end is None or isinstance(end, NotStarted):
            return heard  # not that of the attempt, if an earlier call of it was made
        heard = end
        outcome = sent.outcome(end)
        if not outcome.in_progress or tool.idempotency is not Idempotency.PROVIDER:
            return heard
        pause = max(outcome.retry_after or 0.0, IN_PROGRESS)
        if time.monotonic() + pause >= started.deadline:
            return heard
        yield Pause(seconds=pause)


def _passed(started: reserve.Started) -> dict[str, object]:
    ours: dict[str, object] = {
        "idempotency_key": started.provider_key,
        "timeout": max(started.deadline - time.monotonic(), 0.0),
    }
    return {name: value for name, value in ours.items() if name in started.tool.passes}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """The arguments as they leave this process, and the secrets among them."""

    args: Mapping[str, object]
    secrets: frozenset[str]

    def outcome(self, end: End) -> Outcome:
        """How the call ended, without the secrets: what a provider answers may repeat them."""
        outcome = _outcome(end)
        if not self.secrets:
            return outcome
        return replace(
            outcome,
            reference=redaction.without(outcome.reference, self.secrets),
            reason=redaction.without(outcome.reason, self.secrets),
            result=redaction.everywhere(canonical.visible(outcome.result), self.secrets),
        )


def _sent(started: reserve.Started) -> _Sent:
    args, found = secrets.resolve(started.tool.name, started.args, started.tool.redact)
    return _Sent(args=args, secrets=found)


def _unsendable(exc: Exception) -> Outcome:
    reason = f"nothing was sent, a secret cannot be had ({outcomes.as_text(exc)})"
    return Outcome.refused(reason, retryable=True)


def _outcome(end: End) -> Outcome:
    match end:
        case calls.Returned(value):
            return outcomes.of_returned(value)
        case calls.Raised(error):
            return outcomes.from_exception(error)
        case calls.NoAnswer(seconds=seconds):
            return Outcome.unknown(f"no answer within {seconds:.1f} s")
        case NotStarted():
            raise AssertionError("what was not called has no outcome")


def _late(started: reserve.Started, sent: _Sent, before: End, end: End) -> None:
    """The end of a call that nobody waits for; `before` it, the attempt's last call ended so."""
    try:
        if not isinstance(end, NotStarted):
            facts.record(started.token, sent.outcome(end))
        elif isinstance(before, NotStarted):
            facts.not_started(started.token)
    except Exception as exc:
        logger.error(
            "the late end of a call of %s was not recorded: %s, attempt %s, %s",
            started.tool.name,
            type(end).__name__,
            started.token,
            rows.where(exc),
        )


# --- waiting and asking --------------------------------------------------------------------------


def _rest(intent: Intent, rest: reserve.Rest) -> Steps[None]:
    """Wait here if it is short, else give the run back. Raises LookAgainLater, LeaseGone."""
    mine, until = intent.authority, time.monotonic() + rest.seconds
    if not rest.in_place or rest.seconds > PATIENCE:
        raise _later(intent, rest, rest.seconds)
    while (left := until - time.monotonic()) > 0:
        if not mine.may_start():
            raise refusals.LeaseGone
        if mine.cancelled.is_set() or mine.draining.is_set():
            raise _later(intent, rest, left)
        yield Pause(seconds=min(left, SLICE))


def _later(intent: Intent, rest: reserve.Rest, seconds: float) -> refusals.LookAgainLater:
    return refusals.LookAgainLater(
        f"{intent.tool_name}: looked at again in {seconds:.0f} s. {rest.why}".rstrip(),
        retry_after=max(seconds, 0.0),
    )


def _ask(intent: Intent, ask: Ask) -> Steps[None]:
    """Ask the provider whether it happened, and record what it says."""
    if ask.tool.lookup is None:
        raise AssertionError("only a tool with a look-up is asked")
    end = yield Call(
        function=partial(ask.tool.lookup, ask.provider_key),
        deadline=time.monotonic() + ask.tool.call_timeout.total_seconds(),
        may_start=_always,
        late=_ignore,
    )
    match end:
        case calls.Returned(None):
            looks.heard(intent, ask, None)
        case calls.Returned(Found() as found):
            looks.heard(intent, ask, found)
        case calls.Returned(value):
            looks.silent(intent, ask, f"the look-up returned {type(value).__name__}")
        case calls.Raised(error):
            looks.silent(intent, ask, outcomes.from_exception(error).reason)
        case _:
            looks.silent(intent, ask, "no answer in time")


def _always() -> bool:
    return True


def _ignore(_: End) -> None:
    return
