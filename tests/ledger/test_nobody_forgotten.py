"""No row is left in the middle: each has somebody who goes on with it, or is at an end to be seen.

Every combination of how an effect stands, how its last call ended, who guards it, and what its run
and lease are like is written at once, swept, and asked whose it is now.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product
from uuid import uuid4

from accounts import clock
from ledger import sweep
from ledger.models import Effect, EffectAttempt, Idempotency
from ledger.status import Outcome, Status
from runs.models import Lease, Run
from tests.ledger.conftest import make_run

MINUTE = timedelta(minutes=1)
LASTS = (None, *Outcome)
ENDS = ("decided", "a person settles it", "shown as not performed")
KEEPERS = ("its live driver", "the next driver of its run", "the sweeper")


def possible(standing: str, last: str | None, allowed: bool) -> bool:
    """What the ledger can have written."""
    if allowed and (standing != Status.PENDING or last != Outcome.ABSENT):
        return False
    if standing == Status.PENDING:
        return last not in (Outcome.SUCCEEDED, Outcome.REFUSED)
    return last is not None


def written() -> list[Effect]:
    """One effect for every combination."""
    now = clock.now()
    effects: list[Effect] = []
    calls: list[EffectAttempt] = []
    for ended, driven in product((False, True), repeat=2):
        run = make_run()
        Lease.objects.filter(pk=run.pk).update(
            fence=1, holder="w1", expires_at=now + 60 * MINUTE if driven else now - MINUTE
        )
        if ended:
            Run.objects.filter(pk=run.pk).update(status="cancelled", ended_at=now)
            run.refresh_from_db()
        combinations = product(Idempotency, Status, LASTS, (False, True), (False, True))
        for guard, standing, last, overdue, allowed in combinations:
            if possible(standing, last, allowed):
                effects.append(_row(run, guard, standing, allowed))
                if last is not None:
                    calls.append(_call(effects[-1], last, now, overdue=overdue))
    Effect.objects.bulk_create(effects)
    EffectAttempt.objects.bulk_create(calls)
    return effects


def _row(run: Run, guard: str, standing: str, allowed: bool) -> Effect:
    key = f"{run.pk}:{uuid4()}"
    return Effect(
        idempotency_key=key,
        run=run,
        step="node@task",
        tool="t.any",
        idempotency=guard,
        args={},
        args_hash="0" * 64,
        status=standing,
        attempts=1,
        provider_key=key,
        retry_allowed=allowed,
        fence=1,
    )


def _call(effect: Effect, outcome: str, now: datetime, *, overdue: bool) -> EffectAttempt:
    return EffectAttempt(
        effect=effect,
        number=1,
        provider_key=effect.provider_key,
        fence=1,
        holder="w1",
        started_at=now - 2 * MINUTE,
        timeout_at=now - MINUTE if overdue else now + 60 * MINUTE,
        ended_at=None if outcome == Outcome.OPEN else now,
        outcome=outcome,
    )


def whose(effect: Effect, driven: set[object], now: datetime) -> str:
    """The one who goes on with it, or the end at which it is."""
    last = next(iter(effect.calls.all()), None)
    is_open = last is not None and last.outcome == Outcome.OPEN
    if last is not None and is_open and (effect.run_id in driven or last.timeout_at > now):
        return "its live driver"
    if is_open and effect.status != Status.PENDING:
        return "the sweeper"
    if effect.status == Status.IN_DOUBT:
        return "a person settles it"
    if effect.status != Status.PENDING:
        return "decided"
    if effect.run.ended:
        unheard = last is not None and last.outcome in (Outcome.OPEN, Outcome.UNKNOWN)
        return "the sweeper" if unheard else "shown as not performed"
    alone = effect.idempotency == Idempotency.LEDGER
    return "the sweeper" if is_open and alone else "the next driver of its run"


def keepers() -> dict[str, str]:
    """Whose each effect is, by its key."""
    now = clock.now()
    driven = set(Lease.objects.filter(expires_at__gt=now).values_list("pk", flat=True))
    every = Effect.objects.select_related("run").prefetch_related("calls")
    return {effect.pk: whose(effect, driven, now) for effect in every}


def test_every_row_has_exactly_one_who_goes_on_with_it_or_is_at_an_end() -> None:
    written()
    before = keepers()
    assert set(before.values()) == {*ENDS, *KEEPERS}
    mine = {pk for pk, keeper in before.items() if keeper == "the sweeper"}

    swept = 0
    while changed := sweep.sweep():
        swept += changed

    after = keepers()
    assert swept == len(mine)
    assert "the sweeper" not in after.values()
    assert {pk for pk, keeper in after.items() if keeper != before[pk]} == mine
    assert {after[pk] for pk in mine} == {"a person settles it", "decided"}
