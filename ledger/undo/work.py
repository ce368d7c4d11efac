"""Carrying out an order to take effects back, in a worker that has the agents' code.

1. Under the lease of the ended run (`runs.afterwards`): one worker at a time, and a zombie is
   refused by the fence. Another worker goes on where a killed one stopped.
2. The undo's row is written before anything is called: what is called again after a crash are the
   stored arguments, under the key that is made from the original's.
3. What its provider tells was taken back is left out: it would be taken back twice.
4. A call that nobody heard may put the undo in doubt, and the plan rests until it is settled. A
   refusal for certain stops the plan. An emergency stop holds it up.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from datetime import timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_noop as noop

from accounts.actors import Actor
from audit import trail
from audit.models import ClockTimestamp
from ledger import effects, errors, keys, outcomes, refusals, registry, rows, status, stops
from ledger.keys import Intent
from ledger.models import Effect, UndoPlan
from ledger.registry import Done, Tool
from ledger.status import UndoStatus
from ledger.undo import ordering, plan
from runs import afterwards, authority, dispatch, killpoints, leases, workers
from runs.authority import Authority
from runs.errors import LeaseLost
from runs.models import Lease

logger = logging.getLogger(__name__)

TURN = timedelta(seconds=10)
"""How long one worker takes up plans before runs have their turn."""
STOPPED = timedelta(seconds=15)
"""Until a plan that an emergency stop holds up is looked at again."""
SHORTEST = timedelta(seconds=1)
MOST = 20
"""Plans that are looked through for one that this process can carry out."""
SUFFIX = "undo"


def work(turn: timedelta = TURN) -> int:
    """Carry out what is due; how many plans were taken up. Call it outside of transactions."""
    end = time.monotonic() + turn.total_seconds()
    taken = 0
    for found in _due().select_related("run").order_by("due_at", "pk")[:MOST]:
        if time.monotonic() > end:
            dispatch.call_now(ordering.TASK)
            break
        if not _can(found) or _held_up(found):
            continue
        with afterwards.holding(found.run_id, holder=workers.holder(), cause=noop("undo")) as mine:
            if mine is not None:
                taken += 1
                with authority.using(mine):
                    _carried_out(found, mine)
    return taken


def sweep() -> int:
    """The rule of the sweeper: ring for a worker if a plan is due; whether one is."""
    if not _due().exists():
        return 0
    dispatch.call_now(ordering.TASK)
    return 1


def _due() -> QuerySet[UndoPlan]:
    """Plans that somebody could go on with: their run has ended, is free, and has no doubt."""
    doubt = Effect.objects.filter(run=OuterRef("run"), status=status.Status.IN_DOUBT)
    held = Lease.objects.filter(run=OuterRef("run"), expires_at__gt=ClockTimestamp())
    return UndoPlan.objects.filter(
        ~Exists(doubt),
        ~Exists(held),
        status=UndoStatus.WORKING,
        due_at__lte=ClockTimestamp(),
        run__ended_at__isnull=False,
    )


def _can(found: UndoPlan) -> bool:
    """Whether this process knows the tools of the next step."""
    effect = _next(found)
    if effect is None:
        return True
    return registry.find(effect.tool) is not None and registry.find(effect.undo) is not None


def _held_up(found: UndoPlan) -> bool:
    """Whether an emergency stop is on for the next step; it is looked at again a little later."""
    effect = _next(found)
    stop = effect and stops.applies(effect.undo, found.run.agent)
    if stop:
        why = f"An emergency stop is on, set by {stop.set_by}: {stop.reason}"
        _mine(found).update(due_at=ClockTimestamp() + STOPPED, error=rows.text(why))
    return bool(stop)


def _next(found: UndoPlan) -> Effect | None:
    """The next effect of the plan that is not taken back yet."""
    meant = Effect.objects.filter(uid__in=found.effects).select_related("undone_by")
    by_uid = {str(effect.uid): effect for effect in meant.prefetch_related("incidents")}
    return next((by_uid[uid] for uid in found.effects if _stands(by_uid[uid])), None)


def _stands(effect: Effect) -> bool:
    by = plan.undo_of(effect)
    return by.status not in status.DONE if by is not None else not plan.gone(effect)


def _carried_out(found: UndoPlan, mine: Authority) -> None:
    try:
        _carry_out(found, mine)
    except LeaseLost:
        logger.warning("undo of run %s: fence %s was taken over", found.run_id, mine.lease.fence)


def _carry_out(found: UndoPlan, mine: Authority) -> None:
    while (effect := _next(found)) is not None:
        if mine.draining.is_set():
            return
        try:
            effects.perform(_intent(effect, mine))
        except (errors.ResultNotKept, _Gone):
            continue  # it happened, or need not any more
        except refusals.LookAgainLater as later:
            _rest(found, mine, timedelta(seconds=later.retry_after), str(later))
            return
        except refusals.EmergencyStopped as stop:
            _rest(found, mine, STOPPED, str(stop))
            return
        except refusals.EffectInDoubt as doubt:
            _rest(found, mine, SHORTEST, str(doubt))
            return
        except refusals.LeaseGone:
            return
        except (OperationalError, InterfaceError):
            raise  # another worker goes on when the lease has run out
        except Exception as exc:
            logger.warning("undoing %s stopped: %s", effect.uid, rows.where(exc))
            _end(found, mine, UndoStatus.STOPPED, _why(effect, exc))
            return
        killpoints.reach("undo.step", effect.run_id)
    _end(found, mine, UndoStatus.DONE, "")


def _why(effect: Effect, exc: Exception) -> str:
    said = str(exc) if isinstance(exc, errors.LedgerError) else outcomes.as_text(exc)
    return f"{effect.tool} {effect.provider_ref}: {said}"


# --- the undo as an effect ------------------------------------------------------------------------


class _Gone(Exception):
    """Its provider has told meanwhile that it was taken back."""


def _intent(effect: Effect, mine: Authority) -> Intent:
    """The undo of this effect, as it is stored or, the first time, as it is stored now."""
    row = plan.undo_of(effect) or _stored(effect, mine)
    return Intent(
        key=row.idempotency_key,
        step=row.step,
        tool_name=row.tool,
        tool=registry.find(row.tool),
        args=row.args,
        args_hash=row.args_hash,
        authority=mine,
        ordered=True,
    )


def _stored(effect: Effect, mine: Authority) -> Effect:
    tool = registry.find(effect.undo)
    original = registry.find(effect.tool)
    if tool is None or original is None:
        raise AssertionError("a plan is taken up only where its tools are known")
    args, args_hash = keys.kept(tool.name, _arguments(effect, original, tool), redact=tool.redact)
    key = f"{effect.idempotency_key}:{SUFFIX}"
    with transaction.atomic(durable=True):
        leases.lock(mine.lease)  # and the run: what its provider tells is heard before or after
        if plan.gone(Effect.objects.get(pk=effect.pk)):
            raise _Gone
        row, _ = Effect.objects.get_or_create(
            idempotency_key=key,
            defaults={
                "run_id": effect.run_id,
                "step": f"{effect.step}/{SUFFIX}",
                "tool": tool.name,
                "idempotency": tool.idempotency,
                "args": args,
                "args_hash": args_hash,
                "redact": sorted(tool.redact),
                "provider_key": keys.for_provider(key, run_id=effect.run_id),
                "fence": mine.lease.fence,
                "look_at": rows.first_look(tool),
                "undoes": effect,
            },
        )
    row.refresh_from_db()
    return row


def _arguments(effect: Effect, original: Tool, tool: Tool) -> Mapping[str, object]:
    """The undo's arguments by name, defaults filled in."""
    done = Done(args=effect.args, result=effect.result, reference=effect.provider_ref)
    if original.undo_args is not None:
        given = original.undo_args(done)
    else:
        known = {**effect.args, "reference": effect.provider_ref}
        given = {name: known[name] for name in tool.signature.parameters if name in known}
    bound = tool.signature.bind(**given)
    bound.apply_defaults()
    return dict(bound.arguments)


# --- how far it has come --------------------------------------------------------------------------


def _rest(found: UndoPlan, mine: Authority, wait: timedelta, why: str) -> None:
    with transaction.atomic():
        leases.lock(mine.lease)
        _mine(found).update(due_at=ClockTimestamp() + max(wait, SHORTEST), error=rows.text(why))


def _end(found: UndoPlan, mine: Authority, how: UndoStatus, why: str) -> None:
    with transaction.atomic():
        leases.lock(mine.lease)
        _mine(found).update(status=how, error=rows.text(why), ended_at=ClockTimestamp())
        trail.record(
            "undo.done" if how is UndoStatus.DONE else "undo.stopped",
            actor=Actor.system(mine.lease.holder),
            target=("run", str(found.run_id)),
            run_id=found.run_id,
            reason=rows.text(why),
            data={"plan": str(found.uid), "ordered_by": found.asked_by},
        )


def _mine(found: UndoPlan) -> QuerySet[UndoPlan]:
    return UndoPlan.objects.filter(pk=found.pk, status=UndoStatus.WORKING)
