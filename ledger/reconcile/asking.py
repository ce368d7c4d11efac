"""Asking providers about effects, outside of runs: to confirm what is done, and to end doubts.

1. Only a process that has the agents' code can ask: a worker that drives. The sweeper only rings.
2. An effect is claimed by pushing its next look ahead, so that two workers do not ask at once. A
   worker that dies while it asks is followed by another one when the claim is over.
3. What was done is asked about LEDGER_CONFIRM_LOOKS times. What is in doubt is asked about without
   end, at most LEDGER_LOOK_CAP apart: time alone never ends a doubt (see `answers`).
4. Emergency stops do not keep anybody from asking. It changes nothing outside.
"""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from accounts import actors, clock
from accounts import errors as people
from accounts.actors import Actor
from audit import trail
from audit.models import ClockTimestamp
from ledger import calls, errors, outcomes, registry, rows, status
from ledger.calls import Call, End
from ledger.models import Effect, Idempotency
from ledger.outcomes import Found
from ledger.reconcile import answers
from ledger.registry import Tool
from ledger.seen import Ask
from runs import dispatch, killpoints, statements

TASK = "ledger.tasks.look"
PERMISSION = "ledger.settle_effect"
TURN = timedelta(seconds=10)
"""How long one worker asks before runs have their turn."""
SLACK = timedelta(seconds=30)
"""A claim outlives the time limit of its look by this."""


def work(turn: timedelta = TURN) -> int:
    """Ask about what is due, one after another, until nothing is or the turn is over; how often.

    Call it outside of transactions.
    """
    end = time.monotonic() + turn.total_seconds()
    asked = 0
    while time.monotonic() < end:
        key = _claim()
        if key is None:
            return asked
        _ask(key)
        asked += 1
    dispatch.call_now(TASK)
    return asked


def sweep() -> int:
    """The rule of the sweeper: ring for a worker if somebody is to be asked; whether so."""
    due = Effect.objects.filter(
        status__in=(status.Status.SENT, status.Status.IN_DOUBT), look_at__lte=ClockTimestamp()
    )
    if not due.exists():
        return 0
    dispatch.call_now(TASK)
    return 1


def ask_now(uid: UUID, *, actor: Actor) -> None:
    """Have the provider asked about an effect in doubt now, whenever the next look was due.

    Raises NotPermitted, NoSuchEffect, NotInDoubt, CannotBeAsked. A refusal is recorded.
    """
    try:
        with transaction.atomic():
            actors.require(actor, PERMISSION)
            effect = Effect.objects.select_for_update(no_key=True).filter(uid=uid).first()
            if effect is None:
                raise errors.NoSuchEffect
            if effect.status != status.Status.IN_DOUBT:
                raise errors.NotInDoubt
            if effect.idempotency == Idempotency.LEDGER:
                raise errors.CannotBeAsked
            Effect.objects.filter(pk=effect.pk).update(look_at=ClockTimestamp())
            rows.tell("effect.look_asked", effect, actor=actor)
            dispatch.call(TASK)
    except (errors.LedgerError, people.AccountsError) as refusal:
        trail.record_refused(
            "effect.look_refused", actor=actor, target=("effect", str(uid)), reason=str(refusal)
        )
        raise


def _claim() -> str | None:
    longest = max((_limit(tool) for tool in _tools()), default=timedelta(0))
    given: dict[str, Any] = {  # Any: cursors know no intervals
        "ttl": longest + SLACK,
        "tools": registry.names(),
    }
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", "claim_look"), given)
        found = cursor.fetchone()
    return found[0] if found else None


def _tools() -> list[Tool]:
    return [tool for tool in map(registry.find, registry.names()) if tool is not None]


def _limit(tool: Tool) -> timedelta:
    return tool.call_timeout


def _ask(key: str) -> None:
    effect = Effect.objects.get(pk=key)
    tool = registry.find(effect.tool)
    if tool is None or tool.lookup is None:  # its declaration has changed
        Effect.objects.filter(pk=key).update(look_at=None)
        return
    ask = _question(effect, tool)
    end = calls.in_thread(
        Call(
            function=partial(tool.lookup, ask.provider_key),
            deadline=time.monotonic() + _limit(tool).total_seconds(),
            may_start=_always,
            late=_ignore,
        )
    )
    killpoints.reach("look.answered", effect.uid)
    match end:
        case calls.Returned(None):
            answers.absent(effect, ask)
        case calls.Returned(Found() as found):
            answers.found(effect, ask, found)
        case calls.Returned(value):
            answers.silent(effect, ask, f"the look-up returned {type(value).__name__}")
        case calls.Raised(error):
            answers.silent(effect, ask, outcomes.from_exception(error).reason)
        case _:
            answers.silent(effect, ask, "no answer in time")


def _question(effect: Effect, tool: Tool) -> Ask:
    """With what a "no" to it will be worth, by the database's clock before it is put."""
    ends = effect.calls.order_by("-timeout_at").values_list("timeout_at", flat=True)
    until = (ends.first() or effect.created_at) + settings.RUNS_LEASE + tool.visibility
    return Ask(
        tool=tool,
        provider_key=effect.provider_key,
        number=effect.attempts,
        quarantine=(until - clock.now()).total_seconds(),
    )


def _always() -> bool:
    return True


def _ignore(_: End) -> None:
    return
